"""The objects from which a scrape reads the metrics of one server. The parts of the server update them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tailrace.api.server_limits import DEFAULT_LIMITS, OpenLimits
from tailrace.app.observability.audit import AuditLog
from tailrace.app.observability.counters import LoopLag, RequestFigures
from tailrace.app.protocols.connections import Connections
from tailrace.app.store.service import EngineStore
from tailrace.app.store.storage import Storage
from tailrace.app.tokens.authenticator import FileAuthenticator

if TYPE_CHECKING:
    from tailrace.app.remote.store import RemoteStore


@dataclass
class Sources:
    """The sources of all metrics.

    `storage` None: data is in memory only, or an engine
    keeps it. `connections`: all open connections. `open_limits`: open event
    streams, WebSockets and subscriptions. `tokens` None: the server has no authenticator. `audit`: the audit
    log, with its most recent lines.
    """

    store: EngineStore | RemoteStore
    storage: Storage | None = None
    connections: Connections = field(default_factory=lambda: Connections(DEFAULT_LIMITS))
    requests: RequestFigures = field(default_factory=RequestFigures)
    loop_lag: LoopLag = field(default_factory=LoopLag)
    open_limits: OpenLimits = field(default_factory=lambda: OpenLimits(DEFAULT_LIMITS))
    tokens: FileAuthenticator | None = None
    audit: AuditLog = field(default_factory=AuditLog)
