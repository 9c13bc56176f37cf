"""`create_api`: the whole HTTP surface as one ASGI application over a store.

It owns the order of the layers: they give the request an id, limit its body, route it by its raw path, and
turn every error into a problem. It starts nothing and reads no settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as distribution_version
from typing import Final

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.types import Lifespan

from tailrace.api.access.origins import Cors, Origins
from tailrace.api.access.rates import UNRATED, RateLimit, Rates
from tailrace.api.access.security import UNSECURED, Authentication, Security
from tailrace.api.document.openapi import Api
from tailrace.api.http.layers import BodyLimit, HeadAsGet, RawPath, RequestId
from tailrace.api.http.problem_handlers import install_problem_handlers
from tailrace.api.ports import (
    NoServerReport,
    NoSlowLog,
    SlowLog,
    TurnStore,
    no_engine_features,
    no_engine_warnings,
)
from tailrace.api.routes import ROUTERS
from tailrace.api.server_limits import DEFAULT_LIMITS, OpenLimits, ServerLimits
from tailrace.api.websocket.route import WEBSOCKET_PATH, DeferredEndpoint, upgrade_required
from tailrace.api.wire.filtering import ScanTurns
from tailrace.api.wire.ndjson import Imports
from tailrace.core.limits import BODY_BYTES_MAX

DISTRIBUTION: Final = "tailrace"


def create_api(
    store: TurnStore,
    *,
    version: str | None = None,
    lifespan: Lifespan[FastAPI] | None = None,
    security: Security = UNSECURED,
    limits: ServerLimits = DEFAULT_LIMITS,
    rates: Rates = UNRATED,
    slow_log: SlowLog | None = None,
    pages: Sequence[BaseRoute] = (),
) -> FastAPI:
    """Return the application over `store`. `version`: the version in the document; by default the installed
    one.

    `security`: checks of tokens and origins; by default none, for an application that only this process can
    reach. `limits`: how many connections, tails and subscriptions may be open at once. `rates`: counts
    requests. `slow_log`: the slow log that its route shows; None: an empty log that records nothing. `pages`:
    routes that come before those of the API, such as a page at `/` instead of the redirection to `/docs`.
    """
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
            Middleware(Origins, policy=security.origins),
            *(
                [Middleware(Cors, allowed=security.allowed_origins, allowed_headers=security.allowed_headers)]
                if security.allowed_origins
                else []
            ),
            *(
                [Middleware(RateLimit, rates=rates, authenticator=security.authenticator)]
                if rates.is_set
                else []
            ),
            Middleware(Authentication, security=security),
            Middleware(BodyLimit, bytes_max=BODY_BYTES_MAX),
            Middleware(RawPath),
            Middleware(HeadAsGet),
        ],
    )
    app.state.store = store
    app.state.security = security
    app.state.limits = limits
    app.state.engine_features = no_engine_features
    app.state.engine_warnings = no_engine_warnings
    app.state.slow_log = slow_log or NoSlowLog()
    app.state.server_report = NoServerReport()
    app.state.open_limits = OpenLimits(limits)
    app.state.imports = Imports()
    app.state.scan_turns = ScanTurns()
    app.router.routes.extend(pages)
    app.state.routes = [route for router in ROUTERS for route in router.routes]
    # `include_router` would prepare every route at the first request, and once more than needed.
    app.router.routes.extend(app.state.routes)
    endpoint = DeferredEndpoint(store, app.version, app.state.open_limits, rates, security)
    app.router.routes.append(WebSocketRoute(WEBSOCKET_PATH, endpoint))
    app.add_route(WEBSOCKET_PATH, upgrade_required, methods=["GET"], include_in_schema=False)
    install_problem_handlers(app)
    return app


def _installed_version() -> str:
    try:
        return distribution_version(DISTRIBUTION)
    except PackageNotFoundError:
        return "0"
