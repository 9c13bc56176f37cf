"""Composes the application: the store with its storage, the API, the metrics route and the observer.

It owns the wiring and the background tasks. It never implements a part.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.middleware import Middleware

from tailrace.api.access.security import Security
from tailrace.api.application import create_api
from tailrace.app import __version__
from tailrace.app.console import console_routes
from tailrace.app.lifespan import keeping, linked, ticking, tracing_until_the_end
from tailrace.app.metrics.census import CensusReuse
from tailrace.app.metrics.process_report import ProcessReport
from tailrace.app.metrics.route import DeferredMetrics
from tailrace.app.metrics.sources import Sources
from tailrace.app.observability.counters import PERIOD_S as LAG_PERIOD_S
from tailrace.app.protocols.connections import SWEEP_PERIOD_S
from tailrace.app.protocols.hot_observer import HotObserver
from tailrace.app.protocols.hot_routes import HotRoutes
from tailrace.app.request_observer import RequestObserver
from tailrace.app.settings import Durability, Settings
from tailrace.app.store.memory import MemoryCeiling
from tailrace.app.store.service import EngineStore
from tailrace.app.token_buckets import TokenBuckets
from tailrace.app.tokens.authenticator import REFRESH_PERIOD_S, FileAuthenticator
from tailrace.app.tokens.usage import recording_usage

if TYPE_CHECKING:
    from tailrace.app.observability.spans import Tracing


def create_hot_routes(
    sources: Sources, rates: TokenBuckets, security: Security, tracing: Tracing | None = None
) -> HotRoutes:
    """Return the handler of hot requests for a server with the store of `sources`."""
    store = sources.store
    observer = HotObserver(sources.requests, store.slow_log, store.figures, tracing)
    return HotRoutes(store, security, rates, observer)


@asynccontextmanager
async def _working(sources: Sources, settings: Settings) -> AsyncIterator[None]:
    """Connect the store with what keeps its data: its own storage, or an engine."""
    store = sources.store
    if not isinstance(store, EngineStore):
        async with linked(store, settings):
            yield
        return
    ceiling = MemoryCeiling(settings.memory_limit_mb)

    def tick() -> None:
        store.tick()
        store.refuse_growth(while_true=ceiling.is_exceeded())

    waits = settings.durability is Durability.ALWAYS
    async with keeping(store, sources.storage, waits=waits), ticking(tick):
        yield


def create_app(
    sources: Sources,
    settings: Settings,
    rates: TokenBuckets,
    tokens: FileAuthenticator,
    security: Security,
    tracing: Tracing | None = None,
) -> RequestObserver:
    """Return the ASGI application that serves the store of `sources`.

    Its lifespan writes the store to its storage, and runs the periodic work of the store, the connections and
    the `tokens`. `tracing` None: the application creates no spans.
    """
    store, registry = sources.store, sources.connections

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with (
            tracing_until_the_end(tracing),
            _working(sources, settings),
            ticking(registry.sweep, SWEEP_PERIOD_S),
            ticking(sources.loop_lag.sample, LAG_PERIOD_S),
            ticking(tokens.refresh, REFRESH_PERIOD_S),
            recording_usage(settings.tokens_path, tokens.used_since_asked),
        ):
            yield

    api = create_api(
        store,
        version=__version__,
        lifespan=lifespan,
        limits=settings,
        rates=rates,
        slow_log=store.slow_log,
        security=security,
        pages=console_routes(),
    )
    if not isinstance(store, EngineStore):
        from tailrace.app.remote.request_options import OptionHeaders  # noqa: PLC0415 - only with --store

        # The innermost layer: a refused option has a request id, and is counted, as any other request.
        api.user_middleware.append(Middleware(OptionHeaders))
        api.state.engine_features = store.features
        # Not the method itself: the store gets its engine later.
        api.state.engine_warnings = lambda: store.engine.inspection.warnings()  # noqa: PLW0108
    if settings.docs_url is not None:
        api.openapi_external_docs = {"url": settings.docs_url, "description": "Guides"}
    sources.open_limits = api.state.open_limits
    sources.tokens = tokens
    reuse = CensusReuse()
    api.state.server_report = ProcessReport(sources, settings, reuse)
    endpoint = DeferredMetrics(sources, settings.metrics_groups, reuse)
    api.add_route("/metrics", endpoint.metrics, methods=["GET"], include_in_schema=False)
    return RequestObserver(api, sources, tracing)
