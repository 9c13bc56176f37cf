"""The route `/metrics`: its handler imports `app.metrics.endpoint` at the first request.

It owns when `prometheus_client` is imported. It never collects a metric.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from tailrace.app.metrics.census import CensusReuse
from tailrace.app.metrics.sources import Sources

if TYPE_CHECKING:
    from tailrace.app.metrics.endpoint import MetricsEndpoint


class DeferredMetrics:
    """The handler of the route. It creates the `MetricsEndpoint` at the first request.

    The import takes 10 ms. It runs in a thread, so that it does not delay other requests.
    """

    def __init__(self, sources: Sources, groups_max: int, reuse: CensusReuse) -> None:
        self._arguments = (sources, groups_max, reuse)
        self._endpoint: MetricsEndpoint | None = None

    async def metrics(self, request: Request) -> Response:
        """Respond with all metrics: see `MetricsEndpoint.metrics`."""
        endpoint = self._endpoint or await self._created()
        return await endpoint.metrics(request)

    async def _created(self) -> MetricsEndpoint:
        module = await asyncio.to_thread(import_module, "tailrace.app.metrics.endpoint")
        # Another request may have created it in the meantime; all share one.
        if self._endpoint is None:
            self._endpoint = module.MetricsEndpoint(*self._arguments)
        return self._endpoint
