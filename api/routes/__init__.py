"""The routes, by resource: each handler parses a request, asks the store once, and shapes the response.

It owns which paths exist and in which order they are matched. It never decides stream semantics.
"""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from tailrace.api.routes import (
    appends,
    command,
    consumers,
    entries,
    groups,
    pending,
    problems,
    ranges,
    reads,
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
    streams.router,
    tail.router,
    command.router,
    service.router,
    tickets.router,
    slow_log.router,
    problems.router,
)
"""The busiest first: routes are tried in this order."""
