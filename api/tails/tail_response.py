"""One tail on one connection: asks the store what the tail asks, sends what the tail sends, until the end.

It owns the loop, its pauses, and the bound on what waits for a slow client: the next read is made only
when the last event was taken, and a client that takes nothing is cut off. It decides nothing about
streams: that is `api.tails.tail`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tailrace.api.access.guarded_store import GuardedStore
from tailrace.api.access.token_end import abort_of, end_with_token
from tailrace.api.http.disconnect import disconnected, while_connected
from tailrace.api.ports import StoreUnavailable, Unauthenticated
from tailrace.api.problems.table import DEFECT, HttpCode, problem, problem_of, unauthenticated_problem
from tailrace.api.tails import sse
from tailrace.api.tails.tail import Tail
from tailrace.api.tallies import OpenLimit
from tailrace.core.commands import Command
from tailrace.core.errors import StreamError
from tailrace.core.replies import ReadReply

PAUSE_MS_MIN: Final = 10
PAUSE_MS_MAX: Final = 320
"""How often a full window is looked at: after the first of these, doubling up to the second. The store
tells nobody of acknowledgments, so this is the one place that asks again."""


class ClientStalled(Exception):
    """The client has taken nothing for too long."""


class TailResponse(Response):
    """Answers with the events of `tail`, counted in `open_limit` while it lasts, and ended with the token.

    `heartbeat_ms` and `stall_s`: see `api.tails.sse`.
    """

    def __init__(
        self,
        store: GuardedStore,
        tail: Tail,
        *,
        request_id: str | None,
        open_limit: OpenLimit,
        heartbeat_ms: int = sse.HEARTBEAT_MS,
        stall_s: float = sse.STALL_S,
    ) -> None:
        self.status_code = 200
        self.media_type = sse.EVENT_STREAM
        self.background = None
        self.init_headers(sse.HEADERS)
        self._store = store
        self._tail = tail
        self._request_id = request_id
        self._open_limit = open_limit
        self._heartbeat_ms = heartbeat_ms
        self._stall_s = stall_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve until the tail ends or the client goes."""
        try:
            with self._open_limit, end_with_token(self._store.guard, scope), suppress(ClientDisconnect):
                await while_connected(receive, self._serve(send))
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
        """Hand the event over in chunks, each of which the client must make room for in time."""
        for begin in range(0, len(event), sse.CHUNK_BYTES):
            chunk = event[begin : begin + sse.CHUNK_BYTES]
            try:
                async with asyncio.timeout(self._stall_s):
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
            except TimeoutError:
                raise ClientStalled from None

    async def _events(self) -> AsyncIterator[bytes]:
        """All events, `end` or `error` last. A defect is told to the client and raised, to be logged."""
        yield self._tail.opening()
        pauses = _Pauses(self._heartbeat_ms)
        try:
            while True:
                for event in await self._step(pauses):
                    yield event
                # Through a backlog neither store nor client may ever wait: others get their turn here.
                await asyncio.sleep(0)
        except StreamError as error:
            yield sse.failure("end", problem_of(error, self._request_id))
        except Unauthenticated as error:
            yield sse.failure("end", unauthenticated_problem(error, self._request_id))
        except StoreUnavailable as error:
            content = problem(HttpCode.NOT_ACCEPTING, error.reason, self._request_id)
            yield sse.failure("end", {**content, "retryable": error.retry_after_s is not None})
        except Exception:
            yield sse.failure("error", problem(HttpCode.INTERNAL, DEFECT, self._request_id))
            raise

    async def _step(self, pauses: _Pauses) -> list[bytes]:
        tail = self._tail
        if (questions := tail.questions()) and (events := await self._answers(questions)):
            return events
        if tail.is_full:
            return await pauses.next()
        pauses.reset()
        try:
            reply = await self._store.execute(tail.read(self._heartbeat_ms))
        except StreamError as error:
            tail.refused(error)
            return []
        assert isinstance(reply, ReadReply)
        return tail.taken(reply)

    async def _answers(self, questions: Sequence[Command]) -> list[bytes]:
        """The events of the answers. The questions are asked one by one, so that they are never too much work
        for one transaction."""
        answers = await asyncio.gather(*[self._store.execute_all([question]) for question in questions])
        return self._tail.answered(list(chain.from_iterable(answers)))


class _Pauses:
    """Pauses that grow, and the comment that is due when they add up to a heartbeat."""

    def __init__(self, heartbeat_ms: int) -> None:
        self._heartbeat_ms = heartbeat_ms
        self.reset()

    def reset(self) -> None:
        self._pause_ms = PAUSE_MS_MIN
        self._silent_ms = 0

    async def next(self) -> list[bytes]:
        """Sleep for a while; what is to be sent after it."""
        await asyncio.sleep(self._pause_ms / 1000)
        self._silent_ms += self._pause_ms
        self._pause_ms = min(2 * self._pause_ms, PAUSE_MS_MAX)
        if self._silent_ms < self._heartbeat_ms:
            return []
        self._silent_ms = 0
        return [sse.COMMENT]
