"""Ends a streamed response when its token ends.

A response that has started can no longer become a 401, so the server drops its connection: the client notices
that the response is incomplete. A tail first gets half a second for a last event with the reason. This module
never checks a token.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from tailrace.api.access.guard import Guard
from tailrace.api.principals import Unauthenticated

ABORT_EXTENSION: Final = "tailrace.abort"
"""An ASGI extension of the server: a function without arguments that drops the connection and its buffered
data. Without the extension, the server closes the connection in its own way, which may wait for the
client."""

FINAL_EVENT_S: Final = 0.5
"""How long a tail may take to send its last event: a revocation takes effect within a second."""


def abort_of(scope: Scope) -> Callable[[], None] | None:
    """Return the function that drops this request's connection, None if the server has none."""
    found: Callable[[], None] | None = scope.get("extensions", {}).get(ABORT_EXTENSION)
    return found


@contextmanager
def end_with_token(guard: Guard, scope: Scope, grace_s: float = FINAL_EVENT_S) -> Iterator[None]:
    """Within the context, drop the connection `grace_s` after the token ends."""
    abort = abort_of(scope)
    timers: list[asyncio.TimerHandle] = []

    def ended(_: Unauthenticated) -> None:
        if abort is not None:
            timers.append(asyncio.get_running_loop().call_later(grace_s, abort))

    forget = guard.watch(ended)
    try:
        yield
    finally:
        forget()
        for timer in timers:
            timer.cancel()


class GuardedStreamingResponse(StreamingResponse):
    """A streamed response whose `content` reads from a guarded store. The server drops the connection when
    the token ends."""

    def __init__(
        self,
        guard: Guard,
        content: AsyncIterator[bytes],
        media_type: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(self._until_ended(content), headers=headers, media_type=media_type)
        self._guard = guard
        self._can_be_cut = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the whole response, or drop the connection so that the client notices."""
        self._can_be_cut = abort_of(scope) is not None
        with end_with_token(self._guard, scope, grace_s=0):
            await super().__call__(scope, receive, send)

    async def _until_ended(self, content: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        try:
            async for part in content:
                yield part
        except Unauthenticated:
            if not self._can_be_cut:
                raise
            await asyncio.Event().wait()  # for the cut, which cancels this
