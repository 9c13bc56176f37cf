"""Sends one tail on one connection: runs the commands of the tail, and sends its events until it ends.

It owns the loop, its pauses, and the limit on memory for a slow client: it reads again only after the client
has read the last event, and disconnects a client that reads nothing. `api.tails.tail` decides what to read
and send.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from itertools import chain
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tailrace.api.access.guarded_store import GuardedStore
from tailrace.api.access.token_end import abort_of, end_with_token
from tailrace.api.http.disconnect import disconnected, leave, while_connected
from tailrace.api.ports import StoreUnavailable
from tailrace.api.principals import Unauthenticated
from tailrace.api.problems.table import (
    DEFECT,
    HttpCode,
    problem,
    problem_of,
)
from tailrace.api.server_limits import OpenLimit
from tailrace.api.tails import sse
from tailrace.api.tails.tail import Tail
from tailrace.api.wire.filtering import ScanTurns
from tailrace.api.wire.stream_replies import incarnation_headers
from tailrace.core.commands import Command
from tailrace.core.errors import StreamError
from tailrace.core.replies import ReadReply

PAUSE_MS_MIN: Final = 10
PAUSE_MS_MAX: Final = 320
"""The pauses, in milliseconds, after which a full window is checked again: from the first, doubling up to the
second. The store does not notify tails of acknowledgments."""


class ClientStalled(Exception):
    """The client has read nothing for too long."""


class TailResponse(Response):
    """A response with the events of `tail`. It is counted in `open_limit`, and ends when the token ends.

    `incarnation`: that of the stream, if known. `turns`: those of filters, if the tail has one. For
    `heartbeat_ms` and `stall_s`, see `api.tails.sse`.
    """

    def __init__(
        self,
        store: GuardedStore,
        tail: Tail,
        *,
        request_id: str | None,
        open_limit: OpenLimit,
        turns: ScanTurns | None = None,
        incarnation: str | None = None,
        heartbeat_ms: int = sse.HEARTBEAT_MS,
        stall_s: float = sse.STALL_S,
    ) -> None:
        self.status_code = 200
        self.media_type = sse.EVENT_STREAM
        self.background = None
        self.init_headers({**sse.HEADERS, **incarnation_headers(incarnation)})
        self._store = store
        self._tail = tail
        self._request_id = request_id
        self._open_limit = open_limit
        self._turns = turns
        self._heartbeat_ms = heartbeat_ms
        self._silence = Silence(heartbeat_ms)
        self._stall_s = stall_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the tail ends or the client disconnects."""
        try:
            with self._open_limit, end_with_token(self._store.guard, scope):
                await while_connected(scope, receive, self._serve(send))
        except ClientDisconnect:
            await leave(scope, receive)
        except ClientStalled:
            abort = abort_of(scope)
            if abort is not None:
                abort()
                await disconnected(receive)

    async def _serve(self, send: Send) -> None:
        start = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        await send(start)
        async for event in self._events():
            await self._send(send, event)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send(self, send: Send, event: bytes) -> None:
        """Send an event in chunks. Raises `ClientStalled` if the client does not read a chunk in time."""
        for begin in range(0, len(event), sse.CHUNK_BYTES):
            chunk = event[begin : begin + sse.CHUNK_BYTES]
            try:
                async with asyncio.timeout(self._stall_s):
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
            except TimeoutError:
                raise ClientStalled from None

    async def _events(self) -> AsyncIterator[bytes]:
        """Yield all events; the last one is `end` or `problem`. An unexpected error is sent and also raised,
        so that it is logged."""
        yield self._tail.opening()
        pauses = _Pauses(self._heartbeat_ms)
        try:
            while True:
                for event in await self._step(pauses) or self._overdue():
                    self._silence.end()
                    yield event
                # While stored entries remain, no call here has to wait, so let other requests run.
                await asyncio.sleep(0)
        except (StreamError, Unauthenticated, StoreUnavailable) as error:
            yield sse.failure("end", problem_of(error, self._request_id))
        except Exception:
            yield sse.failure("problem", problem(HttpCode.INTERNAL, DEFECT, self._request_id))
            raise

    async def _step(self, pauses: _Pauses) -> list[bytes]:
        tail = self._tail
        if (questions := tail.questions()) and (events := await self._answers(questions)):
            return events
        if tail.is_full:
            return await pauses.next()
        pauses.reset()
        try:
            reply = await self._store.execute(tail.read(self._silence.left_ms))
        except StreamError as error:
            tail.refused(error)
            return []
        assert isinstance(reply, ReadReply)
        if self._turns is not None:
            await self._turns.take(sum(len(read.entries) for read in reply.streams))
        return tail.taken(reply)

    def _overdue(self) -> list[bytes]:
        """Return a sign of life if entries arrived that made no event, for the whole heartbeat interval."""
        return [self._tail.sign_of_life()] if self._silence.is_over else []

    async def _answers(self, questions: Sequence[Command]) -> list[bytes]:
        """Yield the events for the answers. Each question is a separate request to the store, so that they
        never exceed the work limit of one transaction."""
        answers = await asyncio.gather(*[self._store.execute_all([question]) for question in questions])
        return self._tail.answered(list(chain.from_iterable(answers)))


class Silence:
    """The time since the last event, up to `heartbeat_ms`."""

    def __init__(self, heartbeat_ms: int) -> None:
        self._heartbeat_ms = heartbeat_ms
        self.end()

    def end(self) -> None:
        """Start again: an event is sent."""
        self._end_s = time.monotonic() + self._heartbeat_ms / 1000

    @property
    def left_ms(self) -> int:
        """Milliseconds until a sign of life is due; at least 1."""
        return max(int((self._end_s - time.monotonic()) * 1000), 1)

    @property
    def is_over(self) -> bool:
        """Whether a sign of life is due."""
        return time.monotonic() >= self._end_s


class _Pauses:
    """Growing pauses, with a comment whenever their sum reaches the heartbeat interval."""

    def __init__(self, heartbeat_ms: int) -> None:
        self._heartbeat_ms = heartbeat_ms
        self.reset()

    def reset(self) -> None:
        self._pause_ms = PAUSE_MS_MIN
        self._silent_ms = 0

    async def next(self) -> list[bytes]:
        """Sleep for the next pause. Return the events to send after it."""
        await asyncio.sleep(self._pause_ms / 1000)
        self._silent_ms += self._pause_ms
        self._pause_ms = min(2 * self._pause_ms, PAUSE_MS_MAX)
        if self._silent_ms < self._heartbeat_ms:
            return []
        self._silent_ms = 0
        return [sse.COMMENT]
