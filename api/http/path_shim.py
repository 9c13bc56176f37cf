"""Makes routing use the path as it was sent: `a%2Fb` is one segment, `%FF` is one byte.

It changes only the scope's `path`. `api.wire.names` decodes names later.
"""

from __future__ import annotations

from urllib.parse import quote

from starlette.types import ASGIApp, Receive, Scope, Send


class RawPath:
    """ASGI middleware that gives routes the undecoded path."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Replace the decoded path in the scope."""
        if scope["type"] in {"http", "websocket"}:
            scope["path"] = raw_path_of(scope)
        await self._app(scope, receive, send)


def raw_path_of(scope: Scope) -> str:
    """Return the path as it was sent, one character for each byte. If the server does not provide it, the
    decoded path is quoted again."""
    raw: bytes | None = scope.get("raw_path")
    if raw is None:
        return quote(scope["path"], safe="/:")
    return raw.partition(b"?")[0].decode("latin-1")
