"""Error lines of the engine as errors of Tailrace.

A line that only the engine's operator can act on (its memory, its rights, its disk) makes the server refuse
the request as not accepting; a line about the command is the error that the embedded store would raise, with
the same line, code and names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tailrace.api.ports import StoreFailed, StoreUnavailable
from tailrace.api.problems.table import DEFECT
from tailrace.app.remote.functions.library import has_failed
from tailrace.app.remote.link.port import EngineError, LinkDown
from tailrace.core.command_table import spelled
from tailrace.core.commands import Command, Read, ReadGroup
from tailrace.core.errors import ErrorCode, StreamError, engine_lacks, printable

_BY_WORD: Final[Mapping[str, ErrorCode]] = {
    "NOGROUP": ErrorCode.NOGROUP,
    "BUSYGROUP": ErrorCode.BUSYGROUP,
    "WRONGTYPE": ErrorCode.WRONGTYPE,
    "CROSSSLOT": ErrorCode.CROSSSLOT,
    "OOM": ErrorCode.MEMORY_LIMIT,
}

_BY_TEXT: Final[tuple[tuple[str, ErrorCode], ...]] = (
    ("ERR The ID specified in XADD", ErrorCode.ID_NOT_GREATER),
    ("ERR The stream has exhausted", ErrorCode.ID_EXHAUSTED),
    ("ERR no such key", ErrorCode.NO_SUCH_STREAM),
    ("ERR The XGROUP subcommand requires the key to exist", ErrorCode.NO_SUCH_STREAM),
    ("ERR The ID specified in XSETID", ErrorCode.INVALID_ARGUMENT),
    ("ERR The entries_added specified in XSETID", ErrorCode.INVALID_ARGUMENT),
    ("ERR Invalid stream ID", ErrorCode.INVALID_ID),
    ("ERR value is not an integer", ErrorCode.NOT_AN_INTEGER),
    ("ERR unknown command", ErrorCode.ENGINE_LACKS_FEATURE),
    ("ERR unknown subcommand", ErrorCode.ENGINE_LACKS_FEATURE),
    ("ERR Unknown option or number of arguments for CONFIG SET", ErrorCode.ENGINE_LACKS_FEATURE),
    ("ERR syntax error", ErrorCode.ENGINE_LACKS_FEATURE),
    ("ERR Unrecognized XREADGROUP option", ErrorCode.ENGINE_LACKS_FEATURE),
    ("ERR Insufficient memory", ErrorCode.LIMIT_EXCEEDED),
)
"""The grammar of Tailrace has checked each command, so a syntax error means that the engine is too old for an
option."""

_OPERATOR_WORDS: Final = frozenset(
    {"NOAUTH", "WRONGPASS", "NOPERM", "READONLY", "MISCONF", "LOADING", "BUSY", "MASTERDOWN", "NOREPLICAS"}
)
"""First words of lines about the state of the engine."""

RETRY_AFTER_S: Final = 1

_OF_A_READ: Final = " in XREADGROUP with GROUP option"
"""How the line of XREADGROUP for a missing group ends. The gateway may have found out by XPENDING, whose line
lacks this."""

NO_SUCH_KEY: Final = "ERR no such key"

_NAMED: Final = frozenset(
    {ErrorCode.NOGROUP, ErrorCode.BUSYGROUP, ErrorCode.NO_SUCH_STREAM, ErrorCode.WRONGTYPE}
)
"""Codes of errors that name the key, and the group if the command has one."""


def refusal_of(error: EngineError, command: Command) -> StreamError | StoreUnavailable:
    """Return what a client gets for this error of the engine. `app.remote.answers` adds details that the
    line does not show."""
    if has_failed(error):
        return StoreFailed(DEFECT)
    line = error.line.decode("utf-8", "backslashreplace")
    word = line.partition(" ")[0]
    if word in _OPERATOR_WORDS:
        return StoreUnavailable(f"the engine refused the command: {line}", retry_after_s=RETRY_AFTER_S)
    code = _BY_WORD.get(word) or next((code for text, code in _BY_TEXT if line.startswith(text)), None)
    if code is None:
        return StreamError(ErrorCode.INVALID_ARGUMENT, line)
    if code is ErrorCode.ENGINE_LACKS_FEATURE:
        return engine_lacks(f"{spelled(type(command))} with these arguments", "a newer engine")
    if code is ErrorCode.NOGROUP and isinstance(command, ReadGroup):
        line = line.removesuffix(_OF_A_READ) + _OF_A_READ
    return StreamError(code, line, _names_of(command, code, line))


def with_names(error: StreamError, command: Command) -> StreamError:
    """Return an error of the function library with the names that the error is about."""
    if error.names or error.code not in _NAMED:
        return error
    return StreamError(error.code, error.line, _names_of(command, error.code, error.line), **error.details)


def unavailable(error: LinkDown) -> StoreUnavailable:
    """Return the error for a node that gave no answer."""
    return StoreUnavailable(
        error.reason, retry_after_s=error.retry_after_s, is_outcome_unknown=error.outcome_unknown
    )


def _names_of(command: Any, code: ErrorCode, line: str) -> dict[str, bytes]:
    """Return the names that the error is about, as the embedded engine does."""
    key = _key_of(command, line)
    if key is None or code not in _NAMED:
        return {}
    group = getattr(command, "group", None)
    if group is None or code is ErrorCode.WRONGTYPE or line == NO_SUCH_KEY:
        return {"key": key}
    return {"key": key, "group": group}


def _key_of(command: Any, line: str) -> bytes | None:
    """Return the key of the error; a read of several streams names the one that the line quotes."""
    if isinstance(command, Read | ReadGroup):
        keys = [source.key for source in command.streams]
        return next((key for key in keys if f"'{printable(key)}'" in line), keys[0])
    if getattr(command, "keys", None):
        first: bytes = command.keys[0]
        return first
    key: bytes | None = getattr(command, "key", None)
    return key
