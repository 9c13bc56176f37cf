"""The answers of the remote store: errors of the engine and of the link become errors of the API.

It owns the counters of commands and refusals. Details that the engine's line does not show are asked from the
engine after the error: the state can have changed since, so a detail may be newer than the error. It never
changes the code of an error, and never sends a command of a client.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from tailrace.api.ports import Answer, StoreFailed, StoreUnavailable, Watch
from tailrace.app.observability.counters import CommandFigures
from tailrace.app.observability.timing import note_commands
from tailrace.app.remote.figures import outcome_of
from tailrace.app.remote.link.port import EngineError, Link, LinkDown
from tailrace.app.remote.replies.infos import stream_info
from tailrace.app.remote.replies.refusals import refusal_of, unavailable, with_names
from tailrace.core.commands import Append, AutoSeq, Command, SetStreamPosition
from tailrace.core.errors import ErrorCode, StreamError, kept
from tailrace.core.replies import Reply, ServerStats, StreamInfo
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


_logger: Final = logging.getLogger("tailrace.http")

Receive = Callable[[Answer], None]


class Answers:
    """The answers of one store. `waiting_count`: returns how many reads wait. Set `link` before the first
    answer."""

    link: Link

    def __init__(self, figures: CommandFigures, waiting_count: Callable[[], int]) -> None:
        self.figures = figures
        self._waiting_count = waiting_count

    async def failure(self, error: Exception, command: Command) -> StreamError | StoreUnavailable:
        """Return what a client gets for an error of the engine or of the link."""
        if isinstance(error, LinkDown):
            return kept(unavailable(error))
        refusal = refusal_of(error, command) if isinstance(error, EngineError) else error
        if isinstance(refusal, StreamError):
            refusal = with_names(refusal, command)
            if isinstance(error, EngineError):
                refusal = await explained(self.link, refusal, command)
            return kept(refusal)
        assert isinstance(refusal, StoreUnavailable)
        if isinstance(refusal, StoreFailed):
            _logger.error("function_library_failed", extra={"fields": {"error": str(error)}})
        return kept(refusal)

    def refused(self, command: Command, refusal: StreamError | StoreUnavailable) -> None:
        """Count a rejected command. O(1)."""
        self.figures.refused(command, refusal.code)

    def completed(self, reply: Reply) -> Reply:
        """Return `reply`. A reply to INFO gets the number of reads that wait at this gateway."""
        if isinstance(reply, ServerStats):
            return replace(reply, blocked_clients=self._waiting_count())
        return reply

    async def of(self, found: Reply | Exception, command: Command) -> Answer:
        """Return the answer to one of several commands; raise an unexpected error."""
        if isinstance(found, EngineError | LinkDown | StreamError):
            return await self.failure(found, command)
        if isinstance(found, Exception):
            raise found
        return self.completed(found)

    def note(self, commands: Sequence[Command], answers: Sequence[Answer], engine_ns: int) -> None:
        """Count commands that ran together, with the time of the engine for all of them."""
        self.figures.last_engine_ns = engine_ns
        for command, answer in zip(commands, answers, strict=True):
            if isinstance(answer, StreamError | StoreUnavailable):
                self.refused(command, answer)
            else:
                self.figures.ran(command, outcome_of(command, answer), engine_ns // len(commands))
        note_commands(commands, engine_ns)


class _Told:
    """The watch of a read that was refused."""

    def cancel(self) -> bool:
        """Return False: the answer can no longer be stopped."""
        return False


def told(receive: Receive, answer: Answer) -> Watch:
    """Pass the answer to `receive` on the next turn of the loop."""
    asyncio.get_running_loop().call_soon(receive, answer)
    return _Told()


def settle(answered: asyncio.Future[Answer], answer: Answer) -> None:
    """Set the answer, unless the reader has left."""
    if not answered.done():
        answered.set_result(answer)


def required(answer: Answer) -> Reply | StreamError:
    """Return the answer; raise it if the engine gave none."""
    if isinstance(answer, StoreUnavailable):
        raise answer
    return answer
