"""Who knows the figures of one server, in one place: what the parts fill, and whom a scrape asks."""

from __future__ import annotations

from dataclasses import dataclass, field

from tailrace.api.server_limits import DEFAULT_LIMITS
from tailrace.api.tallies import OpenLimits
from tailrace.app.observability.counters.loop_lag import LoopLag
from tailrace.app.observability.counters.requests import RequestFigures
from tailrace.app.protocols.connections import Connections
from tailrace.app.store.service import EngineStore
from tailrace.app.store.storage import Storage
from tailrace.app.tokens.keeper import TokenKeeper


@dataclass
class Sources:
    """`storage` None: all is in memory. `connections`: all of them; `open_limits`: those that stay open.
    `tokens` None: nobody asks for tokens."""

    store: EngineStore
    storage: Storage | None = None
    connections: Connections = field(default_factory=lambda: Connections(DEFAULT_LIMITS))
    requests: RequestFigures = field(default_factory=RequestFigures)
    loop_lag: LoopLag = field(default_factory=LoopLag)
    open_limits: OpenLimits = field(default_factory=lambda: OpenLimits(DEFAULT_LIMITS))
    tokens: TokenKeeper | None = None
