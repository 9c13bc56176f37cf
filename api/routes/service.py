"""The server itself: limits, health, and the page that explains the API."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tailrace.api.document.operations import operation
from tailrace.api.http.pages import page
from tailrace.api.ports import StoreUnavailable
from tailrace.api.schemas.service import Health, Limits, Readiness
from tailrace.api.wire.parameters import Store
from tailrace.api.wire.replies import json_response

router = APIRouter(tags=["service"])


@router.get(
    "/v1/limits", **operation("get_limits", "Show the server's limits", reply=Limits, asks_store=False)
)
async def get_limits(request: Request) -> Response:
    """Every bound of the server, by name; units stand last in the names."""
    return json_response(Limits.of(request.app.state.limits).model_dump())


@router.get(
    "/healthz", **operation("healthz", "Tell that the process answers", reply=Health, asks_store=False)
)
async def healthz() -> Response:
    """The process is alive; it says nothing of whether it takes requests."""
    return json_response({"status": "ok"})


@router.get("/readyz", **operation("readyz", "Tell whether requests are taken", reply=Readiness))
async def readyz(store: Store) -> Response:
    """Whether reads and writes are taken; else a 503 that says why not."""
    reason = store.not_ready_reason
    if reason is not None:
        raise StoreUnavailable(reason)
    return json_response({"status": "ready"})


@router.get("/", include_in_schema=False)
async def root() -> Response:
    """The page that explains the API."""
    return RedirectResponse("/docs")


@router.get("/docs", include_in_schema=False)
async def docs() -> Response:
    """One self-contained page that renders `/openapi.json`; nothing comes from elsewhere."""
    return page("docs.html")
