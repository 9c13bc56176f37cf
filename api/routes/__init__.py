"""The routes, by resource. A handler parses the request, calls the store, and writes the response.

The package owns which paths exist, and the order in which they are matched. It never decides stream
semantics.
"""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from tailrace.api.routes import (
    access,
    appends,
    command,
    consumers,
    dead_letters,
    entries,
    groups,
    pending,
    problems,
    producers,
    ranges,
    reads,
    scheduled,
    server,
    service,
    slow_log,
    streams,
    tail,
    tickets,
)

ROUTERS: Final[tuple[APIRouter, ...]] = (
    appends.router,
    ranges.router,
    entries.router,
    reads.router,
    pending.router,
    groups.router,
    consumers.router,
    dead_letters.router,
    streams.router,
    scheduled.router,
    producers.router,
    tail.router,
    command.router,
    service.router,
    tickets.router,
    access.router,
    slow_log.router,
    server.router,
    problems.router,
)
"""The routers in the order in which routes are tried: the busiest ones first."""
