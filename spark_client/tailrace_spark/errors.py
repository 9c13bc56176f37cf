"""The exceptions that a program can catch, and the form in which Spark prints them.

This module owns the exception classes. The modules that raise them own the texts.

Spark prints an exception of a Python process as a traceback, with the sentence in its last line, after dozens
of lines about Spark and about requests. `sentence_first` puts the sentence into the first lines as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from inspect import isfunction
from types import GeneratorType
from typing import Any, Final, TypeVar

from tailrace_client import TailraceError

T = TypeVar("T")


class BadOption(ValueError):
    """An option is unknown or has an invalid value. The exception is raised before anything is read or
    written."""


class SinkError(RuntimeError):
    """A batch was not written completely. A replay of the batch writes each row once."""


class SourceError(RuntimeError):
    """A read failed and cannot continue without a change."""


class DataLoss(SourceError):
    """Entries left the stream before they could be read."""


class BadValue(SourceError):
    """The text of a field does not fit its column's type, in a read with the mode `failfast`."""


class BadArchive(RuntimeError):
    """The files at the path are not an archive that the job or the reader can continue from."""


EXPLAINED: Final = (BadOption, SinkError, SourceError, BadArchive)
"""The exceptions whose text says all that a user needs."""


def with_status(error: TailraceError) -> str:
    """Return the text of a failed request with its HTTP status."""
    return f"{error} ({f'HTTP {error.status}' if error.status else 'no HTTP response'})"


def sentence_first(owner: type[T]) -> type[T]:
    """Apply `headed_by_sentence` to every public method of a class whose methods Spark calls."""
    for name, method in vars(owner).items():
        if isfunction(method) and (name == "__init__" or not name.startswith("_")):
            setattr(owner, name, headed_by_sentence(method))
    return owner


def headed_by_sentence(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that raises the exceptions of this package with their sentence at the beginning of the
    traceback.

    Python prints the cause of an exception before the exception. The cause here is the same exception without
    a traceback, which takes two lines.
    """

    @wraps(method)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            result = method(*arguments, **named)
        except EXPLAINED as error:
            raise error.with_traceback(None) from _headline(error)
        return _headed_later(result) if isinstance(result, GeneratorType) else result

    return call


def _headed_later(items: Iterator[Any]) -> Iterator[Any]:
    try:
        yield from items
    except EXPLAINED as error:
        raise error.with_traceback(None) from _headline(error)


def _headline(error: Exception) -> Exception:
    return type(error)(*error.args)
