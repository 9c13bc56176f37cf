"""The protocol classes of one server, for `uvicorn.Config`.

It owns how the parts of a class are put together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tailrace.api.access.rates import Rates
from tailrace.api.access.security import Security
from tailrace.app.metrics.sources import Sources
from tailrace.app.protocols.connections import Connections
from tailrace.app.protocols.hot_observer import HotObserver
from tailrace.app.protocols.hot_routes import HotRoutes
from tailrace.app.protocols.http import HttpProtocol
from tailrace.app.protocols.websocket import WebSocketProtocol

if TYPE_CHECKING:
    from tailrace.app.observability.spans import Tracing


def http_protocol(
    sources: Sources, tracing: Tracing | None, security: Security, rates: Rates
) -> type[HttpProtocol]:
    """The class for `http=` over the store of `sources`, whose registry counts its connections and whose
    figures its requests. `security` says who may do what, and `rates` how often."""
    hot = HotRoutes(sources.store, security, rates, HotObserver(sources, tracing))
    return type("ServersHttpProtocol", (HttpProtocol,), {"registry": sources.connections, "hot": hot})


def websocket_protocol(registry: Connections) -> type[WebSocketProtocol]:
    """The class for `ws=`; `registry` counts its connections."""
    return type("ServersWebSocketProtocol", (WebSocketProtocol,), {"registry": registry})
