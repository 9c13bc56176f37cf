"""Routing on the path as it was sent: `a%2Fb` is one segment, `%FF` is one byte.

It owns the scope's `path` and nothing else. Names are decoded later, by `api.wire.names`, byte for byte.
"""

from __future__ import annotations

from urllib.parse import quote

from starlette.types import ASGIApp, Receive, Scope, Send


class RawPath:
    """Pure ASGI: routes below see the undecoded path."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Replace the decoded path and go on."""
        if scope["type"] in {"http", "websocket"}:
            scope["path"] = raw_path_of(scope)
        await self._app(scope, receive, send)


def raw_path_of(scope: Scope) -> str:
    """The path as sent, a character a byte; quoted anew where the server does not give it."""
    raw: bytes | None = scope.get("raw_path")
    if raw is None:
        return quote(scope["path"], safe="/:")
    return raw.partition(b"?")[0].decode("latin-1")
