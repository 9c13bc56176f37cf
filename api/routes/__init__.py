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
    entries,
    groups,
    pending,
    ranges,
    reads,
    server,
    streams,
    tail,
)

ROUTERS: Final[tuple[APIRouter, ...]] = (
    appends.router,
    ranges.router,
    entries.router,
    reads.router,
    pending.router,
    groups.router,
    consumers.router,
    streams.router,
    tail.router,
    command.router,
    access.router,
    server.router,
)
"""The routers in the order in which routes are tried: the busiest ones first."""
