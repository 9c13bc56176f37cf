"""`GET /metrics`: all metrics in Prometheus's text format or in OpenMetrics, by the `Accept` header.

The endpoint never blocks the event loop for long: it yields after each slice of the walk and after each
metric. It owns the metrics of groups and the totals; `families` owns all others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Final

from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.access.guard import guard_of
from tailrace.api.access.security import principal_of
from tailrace.api.principals import Principal
from tailrace.app.metrics.census import Census, CensusReuse, GroupState
from tailrace.app.metrics.families import PREFIX, families, gauge
from tailrace.app.metrics.sources import Sources
from tailrace.app.store.service import EngineStore

_END: Final = b"# EOF\n"
"""The end of an OpenMetrics page. The encoder appends it to each metric; the page has it once."""

_GROUP_FIGURES: Final[dict[str, tuple[str, Callable[[GroupState], float]]]] = {
    "group_pending_entries": (
        "Entries delivered and not acknowledged, by group.",
        lambda state: state.pending,
    ),
    "group_lag_entries": (
        "Entries that the group has not read, by group; absent if it is unknown.",
        lambda state: state.lag,
    ),
    "group_lag_seconds": (
        "Age of the oldest entry that the group has not read, by group; absent if it is unknown.",
        lambda state: state.lag_ms / 1000,
    ),
    "group_behind": (
        "1 while the lag of the group is above its max_lag_ms, else 0; absent for groups without it.",
        lambda state: state.behind,
    ),
    "group_oldest_pending_seconds": (
        "Time since the earliest delivery of an owned pending entry, by group.",
        lambda state: state.oldest_ms / 1000,
    ),
    "group_dead_letters": (
        "Entries ever moved to a dead-letter stream, by group; absent for groups that never had one.",
        lambda state: state.dead_letters,
    ),
    "group_held_entries": (
        "Entries that wait until their key is free, by group; absent for groups without order_by.",
        lambda state: state.held,
    ),
    "group_keys_in_flight": (
        "Values of order_by that pending entries have, by group; absent for groups without order_by.",
        lambda state: state.keys,
    ),
}


class MetricsEndpoint:
    """The handler of the route. `groups_max`: how many groups to name; `other` is the sum of the rest."""

    def __init__(self, sources: Sources, groups_max: int, reuse: CensusReuse) -> None:
        self._sources = sources
        self._groups_max = groups_max
        self._reuse = reuse
        self._process = CollectorRegistry()
        ProcessCollector(registry=self._process)
        GCCollector(registry=self._process)

    async def metrics(self, request: Request) -> Response:
        """Respond with all metrics; requires the scope `read`. O(streams + groups), or reuses a census."""
        guard_of(request).require("read")
        census = await self._census(self._named_for(principal_of(request.scope)))
        encode, media_type = choose_encoder(request.headers.get("accept", ""))
        parts = []
        for family in self._families(census):
            parts.append(encode(_One(family)).removesuffix(_END))
            await asyncio.sleep(0)
        end = _END if media_type.startswith("application/openmetrics-text") else b""
        return Response(b"".join(parts) + end, headers={"content-type": media_type})

    def _named_for(self, principal: Principal) -> int:
        """Return how many groups to name: none if the token may not access all keys."""
        return self._groups_max if principal.reaches_all_keys else 0

    async def _census(self, named_max: int) -> Census | None:
        """Count streams and groups; None for a store in front of an engine, which has figures of its own."""
        store = self._sources.store
        if not isinstance(store, EngineStore):
            return None
        return await self._reuse.census(store, named_max)

    def _families(self, census: Census | None) -> Iterator[Metric]:
        if census is not None:
            yield from _totals(census)
            yield from _groups(census)
            yield from self._of_store()
        yield from families(self._sources)
        yield from self._process.collect()

    def _of_store(self) -> Iterator[Metric]:
        store = self._sources.store
        if isinstance(store, EngineStore):
            yield gauge(
                "groups_behind", "Groups whose lag is above their max_lag_ms.", store.lag_alerts.count
            )
            agenda = store.keyspace.agenda
            yield gauge("scheduled_entries", "Entries to be appended later.", agenda.scheduled_count)
            yield gauge("scheduled_bytes", "Bytes of these entries.", agenda.scheduled_bytes)
            yield gauge(
                "retention_protected_bytes",
                "Bytes that retention would remove, and protect_unread keeps, at the last sweep.",
                sum(store.keyspace.protected_bytes.values()),
            )


class _One(Collector):
    """A collector of one metric, for an encoder."""

    def __init__(self, family: Metric) -> None:
        self._family = family

    def collect(self) -> Iterator[Metric]:
        """Yield the metric."""
        yield self._family


def _totals(census: Census) -> Iterator[Metric]:
    yield gauge("streams", "Streams.", census.streams)
    yield gauge("entries", "Live entries in all streams.", census.entries)
    meaning = "Live entries in streams with staged chunks: rows of batches that are not published yet."
    yield gauge("staged_entries", meaning, census.staged_entries)
    yield gauge("staged_bytes", "Bytes of these entries.", census.staged_bytes)
    yield gauge("groups", "Consumer groups of all streams.", census.groups)
    yield gauge("pending_entries", "Entries delivered and not acknowledged, in all groups.", census.pending)


def _groups(census: Census) -> Iterator[Metric]:
    shown = [*sorted(census.named, reverse=True), *([census.rest] if census.rest else [])]
    for name, (meaning, value_of) in _GROUP_FIGURES.items():
        family = GaugeMetricFamily(PREFIX + name, meaning, labels=("key", "group"))
        for state in shown:
            value = value_of(state)
            if value >= 0:
                family.add_metric((_label(state.key), _label(state.group)), value)
        yield family


def _label(name: bytes) -> str:
    r"""Return a name as the value of a label.

    Bytes that are not UTF-8 become ``\xNN``, and a backslash is doubled, so different names stay different.
    """
    return name.replace(b"\\", rb"\\").decode("utf-8", "backslashreplace")
