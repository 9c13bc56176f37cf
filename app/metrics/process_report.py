"""The state of the process for `GET /v1/server`: memory, disk, connections, largest streams, audit lines.

It reads the same sources as the metrics page, and never changes them. Its parts are plain JSON members; their
meaning is in `api.schemas.server`.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tailrace.api.name_members import named
from tailrace.app.metrics.census import Census, CensusReuse
from tailrace.app.metrics.sources import Sources
from tailrace.app.settings import Settings
from tailrace.app.store.memory import resident_bytes
from tailrace.app.store.service import EngineStore
from tailrace.app.store.storage import Storage
from tailrace.core.limits import MIB
from tailrace.core.log.block_index import fragment_bytes

if TYPE_CHECKING:
    from tailrace.app.remote.store import RemoteStore

Json = dict[str, object]

_WEIGHED_IN_A_TURN: Final = 10
"""How many streams are weighed before other requests are served: each may take a few reads from disk."""

_MS: Final = 1e-6


class ProcessReport:
    """Implements `api.ports.ServerReport` over the sources of one server."""

    def __init__(self, sources: Sources, settings: Settings, reuse: CensusReuse) -> None:
        self._sources = sources
        self._settings = settings
        self._reuse = reuse
        self._started_at_ms = time.time_ns() // 1_000_000

    async def report(self, limit: int) -> Mapping[str, object]:
        """Return the members: see the port."""
        store, storage = self._sources.store, self._sources.storage
        is_engine = not isinstance(store, EngineStore)
        return {
            "started_at_ms": self._started_at_ms,
            "store": "engine" if is_engine else "memory" if storage is None else "disk",
            "durability": None if is_engine else self._settings.durability.value,
            "nodes": [] if isinstance(store, EngineStore) else _nodes(store),
            "memory": self._memory(),
            "connections": self._connections(),
            "storage": None if storage is None else _storage(storage),
            **await self._contents(limit),
            "audit": {
                "capacity": self._sources.audit.capacity,
                "acts": self._sources.audit.latest(limit),
            },
        }

    def _memory(self) -> Json:
        store = self._sources.store
        cache = store.keyspace.cache if isinstance(store, EngineStore) else None
        return {
            "resident_bytes": resident_bytes(),
            "limit_bytes": self._settings.memory_limit_mb * MIB or None,
            "is_limit_reached": isinstance(store, EngineStore) and store.refuses_growth,
            "cache_bytes": None if cache is None else cache.used_bytes,
            "cache_max_bytes": None if cache is None else cache.max_bytes,
        }

    def _connections(self) -> Json:
        sources, limits = self._sources, self._sources.open_limits
        return {
            "open": len(sources.connections),
            "websockets": limits.websockets.open_count,
            "subscriptions": limits.subscriptions.open_count,
            "event_streams": limits.event_streams.open_count,
            "waiting_readers": sources.store.waiting_count,
            "cut": dict(sources.connections.cuts),
        }

    async def _contents(self, limit: int) -> Json:
        store = self._sources.store
        if not isinstance(store, EngineStore):
            return {"contents": None, "largest_streams": []}
        census = await self._reuse.census(store, self._settings.metrics_groups)
        return {
            "contents": {
                "streams": census.streams,
                "entries": census.entries,
                "groups": census.groups,
                "pending_entries": census.pending,
            },
            "largest_streams": await _largest(store, census, limit),
        }


def _nodes(store: RemoteStore) -> list[Json]:
    return [{"address": node.address, "role": node.role, "is_up": node.is_up} for node in store.link.nodes()]


async def _largest(store: EngineStore, census: Census, limit: int) -> list[Json]:
    """Return the streams with the most bytes, of twice as many with the most blocks: a block's bytes vary."""
    found: list[tuple[int, int, bytes]] = []
    for number, key in enumerate(census.heaviest(2 * limit)):
        if number % _WEIGHED_IN_A_TURN == 0:
            await asyncio.sleep(0)
        stream = store.keyspace.streams.get(key)
        if stream is not None:
            found.append((fragment_bytes(stream.log), stream.length, key))
    found.sort(reverse=True)
    return [{**named(key=key), "bytes": size, "length": length} for size, length, key in found[:limit]]


def _storage(storage: Storage) -> Json:
    directory, log = storage.directory, storage.log
    disk = os.statvfs(directory)
    with os.scandir(directory) as files:
        data_bytes = sum(file.stat().st_size for file in files if file.is_file())
    return {
        "data_bytes": data_bytes,
        "disk_free_bytes": disk.f_bavail * disk.f_frsize,
        "journal_bytes": storage.journal_bytes,
        "commits": log.durable_seq,
        "commits_behind": log.seq - log.durable_seq,
        "checkpoints": storage.figures.checkpoints,
        "has_failed": log.has_failed,
        "commit_latency": _latency(sorted(storage.figures.recent_ns)),
    }


def _latency(durations_ns: Sequence[int]) -> Json:
    """Return the quantiles of durations in order."""
    last = len(durations_ns) - 1

    def quantile(part: float) -> float | None:
        return None if last < 0 else round(durations_ns[round(part * last)] * _MS, 3)

    return {
        "commits": len(durations_ns),
        "p50_ms": quantile(0.5),
        "p99_ms": quantile(0.99),
        "max_ms": quantile(1),
    }
