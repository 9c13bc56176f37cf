"""The protocol classes of one server, for `uvicorn.Config`.

This module owns the composition of these classes. It has no behaviour of its own.
"""

from __future__ import annotations

from tailrace.app.protocols.connections import Connections
from tailrace.app.protocols.hot_routes import HotRoutes
from tailrace.app.protocols.http import HttpProtocol
from tailrace.app.protocols.websocket import WebSocketProtocol


def http_protocol(registry: Connections, hot: HotRoutes) -> type[HttpProtocol]:
    """Return the class for `http=`; `registry` counts its connections."""
    return type("ServersHttpProtocol", (HttpProtocol,), {"registry": registry, "hot": hot})


def websocket_protocol(registry: Connections) -> type[WebSocketProtocol]:
    """Return the class for `ws=`; `registry` counts its connections."""
    return type("ServersWebSocketProtocol", (WebSocketProtocol,), {"registry": registry})
