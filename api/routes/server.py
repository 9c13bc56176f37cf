"""Routes of the server itself: its health, limits and state, the slow log, the page of the API, and the
pages that explain problem codes.

They show what other modules measure and record. They never measure anything.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeAlias

from fastapi import APIRouter, Path, Query
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tailrace.api.access.guard import guard_of
from tailrace.api.access.security import Security, principal_of
from tailrace.api.document.operations import operation
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.api.http.pages import HTML, html_page, page
from tailrace.api.ports import SlowLog, StoreUnavailable
from tailrace.api.principals import Act
from tailrace.api.problems.help import code_of_slug
from tailrace.api.problems.help.pages import problem_html
from tailrace.api.problems.table import PROBLEM_PAGES, HttpCode, RequestRefused, request_id_of
from tailrace.api.schemas.limits import Limits
from tailrace.api.schemas.server import Health, Readiness, ServerState, SlowLogPage
from tailrace.api.wire.parameters import Store
from tailrace.api.wire.replies import json_response, no_content
from tailrace.core.limits import LIST_PAGE_DEFAULT, LIST_PAGE_MAX

router = APIRouter(tags=["service"], route_class=DeferredRoute)


@router.get(
    "/v1/limits", **operation("get_limits", "Show the server's limits", reply=Limits, asks_store=False)
)
async def get_limits(request: Request) -> Response:
    """Return all limits of the server. The unit is the last part of a name, such as `_bytes_max`."""
    state = request.app.state
    return json_response(Limits.of(state.limits, state.engine_features()).model_dump())


@router.get(
    "/healthz", **operation("healthz", "Check that the process is running", reply=Health, asks_store=False)
)
async def healthz() -> Response:
    """Return 200 while the process is running, even if it accepts no other requests."""
    return json_response({"status": "ok"})


@router.get("/readyz", **operation("readyz", "Check whether the server accepts requests", reply=Readiness))
async def readyz(request: Request, store: Store) -> Response:
    """Return 200 if the server accepts reads and writes, otherwise 503 with the reason. A gateway also
    returns `warnings` about its engine."""
    refusal = store.not_ready
    if refusal is not None:
        raise StoreUnavailable(refusal.reason, retry_after_s=refusal.retry_after_s)
    warnings = list(request.app.state.engine_warnings())
    return json_response({"status": "ready", **({"warnings": warnings} if warnings else {})})


@router.get("/", include_in_schema=False)
async def root() -> Response:
    """Redirect to the page that documents the API."""
    return RedirectResponse("/docs")


@router.get("/docs", include_in_schema=False)
async def docs() -> Response:
    """Return the page that shows `/openapi.json`. It uses no files from other servers."""
    return page("docs.html")


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


_PAGE: Final[dict[str, Any]] = {
    "responses": {
        "200": {
            "description": "An HTML page that explains the code.",
            "content": {HTML: {"schema": {"type": "string"}, "example": "<!doctype html>\n"}},
        }
    }
}

ProblemPath: TypeAlias = Annotated[
    str,
    Path(
        description="The code as in `type`: lower case with dashes. The code itself works too.",
        examples=["id-not-greater"],
    ),
]


@router.get(
    f"{PROBLEM_PAGES}{{code}}",
    **operation(
        "problem_page",
        "Explain a problem",
        media_type=HTML,
        extra=_PAGE,
        errors=(HttpCode.NOT_FOUND,),
        asks_store=False,
    ),
)
async def problem_page(code: ProblemPath) -> Response:
    """Return the page that says what a problem means, why it happens, and what to do."""
    found = code_of_slug(code)
    if found is None:
        raise RequestRefused(
            HttpCode.NOT_FOUND,
            f"no problem has the code {code!r:.80}; use the `code` of a problem, such as `id-not-greater`",
        )
    return html_page(problem_html(found))
