"""The route that shows the state of the whole server. It measures nothing itself."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.access.guard import guard_of
from tailrace.api.document.operations import operation
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.api.schemas.limits import Limits
from tailrace.api.schemas.server import ServerState
from tailrace.api.wire.replies import json_response

router = APIRouter(tags=["service"], route_class=DeferredRoute)

LISTED_DEFAULT: Final = 10
LISTED_MAX: Final = 100
"""How many items each list of the response has at most."""


@router.get(
    "/v1/server",
    **operation("show_server", "Show the state of the server", reply=ServerState, asks_store=False),
)
async def show_server(
    request: Request,
    *,
    limit: Annotated[
        int,
        Query(
            ge=1, le=LISTED_MAX, description="How many items of each list to return at most.", examples=[10]
        ),
    ] = LISTED_DEFAULT,
) -> Response:
    """Return the server's memory, storage, connections, largest streams, limits, slow operations and audit
    lines.

    It names streams of all tokens, so the token's patterns must match every key. A server that is not ready
    answers as well. O(streams + groups), which a large server counts once in 15 seconds.
    """
    guard_of(request).require("admin", everywhere=True)
    state = request.app.state
    report = await state.server_report.report(limit)
    log = state.slow_log
    content = {
        "version": request.app.version,
        **report,
        "slow_log": {
            "threshold_ms": log.threshold_ms,
            "capacity": log.capacity,
            "operations": log.latest(limit),
        },
        "limits": Limits.of(state.limits, state.engine_features()).model_dump(),
    }
    return json_response(content)
