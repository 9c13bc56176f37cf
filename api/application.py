"""`create_api`: the whole HTTP surface as one ASGI application over a store.

It owns the order of the layers: the request is named, bounded and routed on its raw path, and every
error on the way is answered as a problem. It starts nothing and reads no settings.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as distribution_version
from typing import Final

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.routing import WebSocketRoute
from starlette.types import Lifespan

from api.body_limit import BodyLimit
from api.openapi import Api
from api.path_shim import RawPath
from api.ports import StreamStore
from api.problem_handlers import install_problem_handlers
from api.request_id import RequestId
from api.routes import ROUTERS
from api.websocket_endpoint import WEBSOCKET_PATH, WebSocketEndpoint
from core.limits import BODY_BYTES_MAX

DISTRIBUTION: Final = "tailrace"


def create_api(
    store: StreamStore, *, version: str | None = None, lifespan: Lifespan[FastAPI] | None = None
) -> FastAPI:
    """The application over `store`. `version`: as shown in the document; the installed one by default."""
    app = Api(
        title="Tailrace",
        summary="Streams over HTTP.",
        version=version or _installed_version(),
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
        middleware=[
            Middleware(RequestId),
            Middleware(BodyLimit, bytes_max=BODY_BYTES_MAX),
            Middleware(RawPath),
        ],
    )
    app.state.store = store
    app.state.routes = [route for router in ROUTERS for route in router.routes]
    for router in ROUTERS:
        app.include_router(router)
    app.router.routes.append(WebSocketRoute(WEBSOCKET_PATH, WebSocketEndpoint(store, app.version)))
    install_problem_handlers(app)
    return app


def _installed_version() -> str:
    try:
        return distribution_version(DISTRIBUTION)
    except PackageNotFoundError:
        return "0"
