"""`GET /metrics`: what the server is doing, in Prometheus's text format.

Everything is read at the scrape from whoever knows it; nothing is counted on the way of a request.
"""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from app.service import EngineStore
from app.storage import Storage


class ServerCollector(Collector):
    """The figures of one server, taken anew at each scrape. O(streams + groups)."""

    def __init__(self, store: EngineStore, storage: Storage | None) -> None:
        self._store = store
        self._storage = storage

    def collect(self) -> Iterator[Metric]:
        """Every figure with what it means and its present value."""
        stats = self._store.stats()
        yield _gauge("streams", "Streams.", stats.streams)
        yield _gauge("entries", "Live entries in all streams.", stats.entries)
        yield _gauge("groups", "Consumer groups of all streams.", stats.groups)
        yield _gauge(
            "pending_entries", "Entries delivered and not acknowledged, in all groups.", stats.pending
        )
        yield _gauge("waiting_readers", "Reads that wait for data or for a claim.", stats.blocked_clients)
        yield _gauge("ready", "1 where writes are taken, 0 where they are not.", self._store.is_ready)
        if self._storage is not None:
            yield from _of_storage(self._storage)


def _of_storage(storage: Storage) -> Iterator[Metric]:
    log = storage.log
    yield _gauge(
        "storage_failed", "1 once the disk refused a commit; only a restart ends it.", log.has_failed
    )
    yield _gauge("journal_bytes", "Journal since the last checkpoint.", storage.journal_bytes)
    yield _gauge("commits_behind", "Journal rows that are not durable yet.", log.seq - log.durable_seq)
    yield CounterMetricFamily(
        "tailrace_commits", "Journal rows since the data directory was made.", log.durable_seq
    )


def _gauge(name: str, meaning: str, value: float) -> Metric:
    return GaugeMetricFamily(f"tailrace_{name}", meaning, value)


class MetricsEndpoint:
    """The route's handler."""

    def __init__(self, store: EngineStore, storage: Storage | None) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(ServerCollector(store, storage))

    async def show(self, _: Request) -> Response:
        """All figures."""
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)
