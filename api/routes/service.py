"""Routes of the server: its limits, its health, and the page that documents the API."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tailrace.api.document.operations import operation
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.api.http.pages import page
from tailrace.api.ports import StoreUnavailable
from tailrace.api.schemas.health import Health, Readiness
from tailrace.api.schemas.limits import Limits
from tailrace.api.wire.parameters import Store
from tailrace.api.wire.replies import json_response

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
