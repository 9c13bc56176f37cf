"""Details of errors that the engine's line does not show: it asks the engine for them, after the error.

The state can have changed since, so a detail may be newer than the error. It never changes the code of an
error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tailrace.app.remote.link.port import EngineError, Link, LinkDown
from tailrace.app.remote.replies.infos import stream_info
from tailrace.core.commands import Append, AutoSeq, Command, SetStreamPosition
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.replies import StreamInfo
from tailrace.core.stream_id import MAX_ID, format_id

_EXPLAINED: Final = frozenset(
    {ErrorCode.NOGROUP, ErrorCode.ID_NOT_GREATER, ErrorCode.ID_EXHAUSTED, ErrorCode.INVALID_ARGUMENT}
)


async def explained(link: Link, error: StreamError, command: Command) -> StreamError:
    """Return the error with the details that the embedded engine would give."""
    if error.code not in _EXPLAINED or error.details:
        return error
    details = await _details(link, error, command)
    return StreamError(error.code, error.line, error.names, **details)


async def _details(link: Link, error: StreamError, command: Command) -> dict[str, str]:
    if error.code is ErrorCode.NOGROUP and "key" in error.names:
        info = await _info(link, error.names["key"])
        return {"missing": "stream" if info is None else "group"}
    if error.code is ErrorCode.ID_EXHAUSTED:
        return {"last_id": format_id(MAX_ID)}
    if isinstance(command, Append):
        info = await _info(link, command.key)
        return {"last_id": format_id(0 if info is None else info.last_id), "given": _given(command)}
    if isinstance(command, SetStreamPosition):
        return _least(await _info(link, command.key), command)
    return {}


async def _info(link: Link, key: bytes) -> StreamInfo | None:
    try:
        return stream_info(await link.call([b"XINFO", b"STREAM", key], key=key, is_write=False))
    except (EngineError, LinkDown):
        return None


def _given(command: Append) -> str:
    ids: Sequence[object] = command.ids or ()
    first = ids[0] if ids else None
    if isinstance(first, AutoSeq):
        return f"{first.ms}-*"
    return format_id(first) if isinstance(first, int) else "*"


def _least(info: StreamInfo | None, command: SetStreamPosition) -> dict[str, str]:
    if info is None:
        return {}
    last_entry_id = info.last_entry.ids[0] if info.last_entry.ids else 0
    for least in (info.max_deleted_id, last_entry_id):
        if command.last_id < least:
            return {"last_id": format_id(info.last_id), "argument": "last_id", "least": format_id(least)}
    return {"argument": "entries_added", "least": str(info.length)}
