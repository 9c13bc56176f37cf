"""Refuses request bodies above the size limit, by their declared length or while they arrive.

The limit applies to bodies as they are sent; `api.wire.compression` applies it to decompressed bodies.
Starlette's own middleware for this responds with plain text; here every error is a problem.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tailrace.api.problems.table import HttpCode, RequestRefused, problem, problem_response, request_id_of


class BodyLimit:
    """ASGI middleware that accepts bodies of at most `bytes_max` bytes."""

    def __init__(self, app: ASGIApp, bytes_max: int) -> None:
        self._app = app
        self._bytes_max = bytes_max

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 413 if the declared length is too large; otherwise count the bytes as they arrive."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if _declared_length(scope) > self._bytes_max:
            content = problem(HttpCode.BODY_TOO_LARGE, self._detail(), request_id_of(scope))
            await problem_response(content, {"Connection": "close"})(scope, receive, send)
            return
        received = 0

        async def receive_counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._bytes_max:
                raise RequestRefused(HttpCode.BODY_TOO_LARGE, self._detail())
            return message

        await self._app(scope, receive_counted, send)

    def _detail(self) -> str:
        return f"the body is too large; at most {self._bytes_max} bytes are allowed"


def _declared_length(scope: Scope) -> int:
    text = Headers(scope=scope).get("content-length", "")
    return int(text) if text.isascii() and text.isdigit() else 0
