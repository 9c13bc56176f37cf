"""Restores names in error lines: the reader of replies replaces bytes that are not UTF-8.

It owns that one repair. It never changes a line that is already exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tailrace.app.remote.link.port import EngineError, Words

_REPLACED: Final = "\ufffd".encode()
_LINE_ENDS: Final = bytes.maketrans(b"\r\n", b"  ")
"""Redis writes spaces for the line ends of a name in an error line."""


def exact(error: EngineError, commands: Sequence[Words]) -> EngineError:
    """Return the error with the names as the engine sent them: they come from the words of the commands."""
    line = error.line
    if _REPLACED not in line:
        return error
    for word in {word for words in commands for word in words}:
        sent = word.translate(_LINE_ENDS)
        shown = sent.decode("utf-8", "replace").encode()
        if shown != sent:
            line = line.replace(shown, sent)
    return EngineError(line)
