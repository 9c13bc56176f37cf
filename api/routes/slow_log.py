"""Routes that show and clear the slow log. They record nothing themselves."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.access.guard import guard_of
from tailrace.api.access.security import Security, principal_of
from tailrace.api.document.operations import operation
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.api.ports import SlowLog
from tailrace.api.principals import Act
from tailrace.api.problems.table import request_id_of
from tailrace.api.schemas.slow_log import SlowLogPage
from tailrace.api.wire.replies import json_response, no_content
from tailrace.core.limits import LIST_PAGE_DEFAULT, LIST_PAGE_MAX

router = APIRouter(tags=["service"], route_class=DeferredRoute)


@router.get(
    "/v1/slow-log",
    **operation("slow_log", "Show slow operations", reply=SlowLogPage, asks_store=False),
)
async def slow_log(
    request: Request,
    *,
    limit: Annotated[
        int,
        Query(ge=1, le=LIST_PAGE_MAX, description="How many operations to return at most.", examples=[10]),
    ] = LIST_PAGE_DEFAULT,
) -> Response:
    """Return the most recent slow operations, like SLOWLOG GET of Redis: their commands, sizes and times.

    The times are those of the engine, the disk, and the rest. Waiting for new entries or for the body of the
    request does not count. The log names streams of all tokens, so the token's patterns must match every key.
    O(limit).
    """
    log = _log_for_admin(request)
    operations = log.latest(limit)
    content = {"threshold_ms": log.threshold_ms, "capacity": log.capacity, "operations": operations}
    return json_response(content)


@router.delete(
    "/v1/slow-log",
    **operation("clear_slow_log", "Clear the slow log", status=204, asks_store=False),
)
async def clear_slow_log(request: Request) -> Response:
    """Remove all operations from the slow log, like SLOWLOG RESET of Redis. Their numbers continue."""
    _log_for_admin(request).clear()
    security: Security = request.app.state.security
    request_id = request_id_of(request.scope)
    security.audit(Act(principal_of(request.scope), "clear_slow_log", (), "done", request_id))
    return no_content()


def _log_for_admin(request: Request) -> SlowLog:
    """Return the log. Raises `StreamError` NOPERM if the token may not see it."""
    guard_of(request).require("admin", everywhere=True)
    log: SlowLog = request.app.state.slow_log
    return log
