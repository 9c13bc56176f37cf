"""The route of the WebSocket: its path, and the endpoint, which is imported at the first connection.

It owns when the other modules of the package are imported. It never serves a connection.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tailrace.api.access.rates import Rates
from tailrace.api.access.security import Security
from tailrace.api.ports import TurnStore
from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.server_limits import OpenLimits

WEBSOCKET_PATH: Final = "/v1/ws"

SOCKET_EXTENSION: Final = "tailrace.socket"
"""The key of the connection's `Socket` in `extensions` of the ASGI scope."""

_NO_HANDSHAKE: Final = "this resource is a WebSocket: send an opening handshake (RFC 6455) over HTTP/1.1"


class DeferredEndpoint:
    """ASGI application that creates the `WebSocketEndpoint` at the first connection, and passes all on to it.

    The import takes 30 ms. It runs in a thread, so that it does not delay other requests.
    """

    def __init__(
        self, store: TurnStore, version: str, open_limits: OpenLimits, rates: Rates, security: Security
    ) -> None:
        self._arguments = (store, version, open_limits, rates, security)
        self._endpoint: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection until it ends."""
        endpoint = self._endpoint or await self._created()
        await endpoint(scope, receive, send)

    async def _created(self) -> ASGIApp:
        module = await asyncio.to_thread(import_module, "tailrace.api.websocket.endpoint")
        # Another connection may have created it in the meantime; all share one.
        if self._endpoint is None:
            created: ASGIApp = module.WebSocketEndpoint(*self._arguments)
            self._endpoint = created
        return self._endpoint


async def upgrade_required(_request: Request) -> Response:
    """Refuse a plain HTTP request to the path of the WebSocket (426)."""
    raise RequestRefused(HttpCode.UPGRADE_REQUIRED, _NO_HANDSHAKE, headers={"Upgrade": "websocket"})
