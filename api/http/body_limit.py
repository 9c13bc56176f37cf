"""No request body above the limit is ever held: refused by its declared length, or while it arrives.

It owns that bound for bodies as sent; `api.wire.ndjson` owns it for what they decompress to. Starlette has
such a middleware, which answers plain text; here every error is a problem.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tailrace.api.problems.table import HttpCode, RequestRefused, problem, problem_response, request_id_of


class BodyLimit:
    """Pure ASGI: bodies of at most `bytes_max` bytes."""

    def __init__(self, app: ASGIApp, bytes_max: int) -> None:
        self._app = app
        self._bytes_max = bytes_max

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count what arrives; go no further where the declared length is too much already."""
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
        return f"a body may take {self._bytes_max} bytes at most"


def _declared_length(scope: Scope) -> int:
    text = Headers(scope=scope).get("content-length", "")
    return int(text) if text.isascii() and text.isdigit() else 0
