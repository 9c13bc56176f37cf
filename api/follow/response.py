"""The response that sends a tail: counted while it is open, and ended by the tail, the client or the token.

It owns the output of the response. It never says which events a tail has.
"""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tailrace.api.access.guard import Guard
from tailrace.api.access.token_end import end_with_token
from tailrace.api.follow import sse
from tailrace.api.follow.tails import Output, Tail
from tailrace.api.http.disconnect import leave, while_connected
from tailrace.api.server_limits import OpenLimit
from tailrace.api.wire.stream_replies import incarnation_headers

OpenOutput = Callable[[Scope, float], Output]
"""Returns the output of a response without a length, after its head was sent. Gets the scope, and for how
many seconds the client may read nothing."""


class TailResponse(Response):
    """A response with the events of `tail`. It is counted in `open_limit`, and ends when the token of `guard`
    ends. `incarnation`: that of the stream, if known."""

    def __init__(
        self,
        tail: Tail,
        guard: Guard,
        open_limit: OpenLimit,
        *,
        incarnation: str | None = None,
        stall_s: float = sse.STALL_S,
    ) -> None:
        self.status_code = 200
        self.media_type = sse.EVENT_STREAM
        self.background = None
        self.init_headers({**sse.HEADERS, **incarnation_headers(incarnation)})
        self._tail = tail
        self._guard = guard
        self._open_limit = open_limit
        self._stall_s = stall_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the tail ends or the client disconnects. Raises the defect that ended the tail,
        so that it is logged."""
        try:
            with self._open_limit, end_with_token(self._guard, scope):
                await while_connected(scope, receive, self._serve(scope, send))
        except ClientDisconnect:
            await leave(scope, receive)

    async def _serve(self, scope: Scope, send: Send) -> None:
        tail = self._tail
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        open_output: OpenOutput = scope["extensions"][sse.OUTPUT_EXTENSION]
        output = open_output(scope, self._stall_s)
        forget = self._guard.watch(tail.end)
        try:
            tail.begin(output)
            defect = await tail.ended
        finally:
            forget()
            tail.close()
            output.on_relief = _nothing
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        if defect is not None:
            raise defect


def _nothing() -> None:
    """Send nothing more."""
