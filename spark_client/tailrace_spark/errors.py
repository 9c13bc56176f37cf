"""The exceptions that a program can catch, all of them in one module.

This module owns the exception classes. The modules that raise them own the texts.
"""

from __future__ import annotations

from tailrace_client import TailraceError


class BadOption(ValueError):
    """An option is unknown or has an invalid value. The exception is raised before anything is read or
    written."""


class SinkError(RuntimeError):
    """A batch was not written completely. The server knows which of its rows were written, so a replay of
    the batch adds only the others."""


class SourceError(RuntimeError):
    """A read failed and cannot continue without a change."""


class DataLoss(SourceError):
    """Entries left the stream before they could be read."""


class BadValue(SourceError):
    """The text of a field does not fit its column's type, in a read with the mode `failfast`."""


class BadArchive(RuntimeError):
    """The files at the path are not an archive that the job or the reader can continue from."""


def with_status(error: TailraceError) -> str:
    """Return the text of a failed request with its HTTP status."""
    return f"{error} ({f'HTTP {error.status}' if error.status else 'no HTTP response'})"
