"""The slow log: what lately took the server long, and forgetting it. It notes nothing itself."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.access.security import Security, guard_of, principal_of
from tailrace.api.document.operations import operation
from tailrace.api.ports import Act, SlowLog
from tailrace.api.problems.table import request_id_of
from tailrace.api.schemas.slow_log import SlowLogPage
from tailrace.api.wire.replies import json_response, no_content
from tailrace.core.limits import LIST_PAGE_DEFAULT, LIST_PAGE_MAX

router = APIRouter(tags=["service"])


@router.get(
    "/v1/slow-log",
    **operation("slow_log", "Show slow operations", reply=SlowLogPage, asks_store=False),
)
async def slow_log(
    request: Request,
    *,
    limit: Annotated[
        int, Query(ge=1, le=LIST_PAGE_MAX, description="The most operations to show.", examples=[10])
    ] = LIST_PAGE_DEFAULT,
) -> Response:
    """The last operations that took the server long, as Redis's SLOWLOG GET: which, how large, and where the
    time went. They name streams of all tokens, so the token's patterns must reach every key. O(limit).

    Where the time went: the engine's part, the disk's, and the rest. What a read waited for data is no part
    of it, and neither is what a client needed to send its body.
    """
    log = _log_for_admin(request)
    operations = log.latest(limit)
    content = {"threshold_ms": log.threshold_ms, "capacity": log.capacity, "operations": operations}
    return json_response(content)


@router.delete(
    "/v1/slow-log",
    **operation("clear_slow_log", "Forget slow operations", status=204, asks_store=False),
)
async def clear_slow_log(request: Request) -> Response:
    """Forget all that is kept, as Redis's SLOWLOG RESET; the numbers go on."""
    _log_for_admin(request).clear()
    security: Security = request.app.state.security
    request_id = request_id_of(request.scope)
    security.audit(Act(principal_of(request.scope), "clear_slow_log", (), "done", request_id))
    return no_content()


def _log_for_admin(request: Request) -> SlowLog:
    """The log. Raises NOPERM."""
    guard_of(request).require("admin", everywhere=True)
    log: SlowLog = request.app.state.slow_log
    return log
