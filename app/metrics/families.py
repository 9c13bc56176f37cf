"""Defines each metric of `/metrics` except those of groups: its name, help text and source.

It owns these names and texts. Metrics whose cost grows with the data are in `app.metrics.census`.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)

from tailrace.app import __version__
from tailrace.app.metrics.sources import Sources
from tailrace.app.observability.counters import (
    DURATION_POWERS,
    MEANINGS,
    RETIRED,
    SIZE_POWERS,
    CommandFigures,
    Histogram,
    RequestFigures,
)
from tailrace.app.store.service import EngineStore
from tailrace.app.store.storage import Storage
from tailrace.app.tokens.authenticator import FileAuthenticator
from tailrace.core.log.block_cache import BlockCache

if TYPE_CHECKING:
    from tailrace.app.remote.store import RemoteStore

PREFIX: Final = "tailrace_"
_SECONDS: Final = 1e-9
"""Counters use nanoseconds; metrics use seconds."""


def families(sources: Sources) -> Iterator[Metric]:
    """Yield all metrics in the order of the page."""
    store, storage = sources.store, sources.storage
    yield from _server(store)
    yield from _requests(sources.requests)
    yield from _commands(store.figures)
    yield from _readers(sources)
    if isinstance(store, EngineStore):
        yield from _cache(store.keyspace.cache)
    else:
        yield from _nodes(store)
    if sources.tokens is not None:
        yield from _tokens(sources.tokens)
    if storage is not None:
        yield from _storage(storage)


def gauge(name: str, meaning: str, value: float) -> Metric:
    """Return a gauge metric; `meaning` is its help text."""
    return GaugeMetricFamily(PREFIX + name, meaning, value)


def _counter(name: str, meaning: str, value: float) -> Metric:
    return CounterMetricFamily(PREFIX + name, meaning, value)


def _histogram(name: str, meaning: str, histogram: Histogram, powers: range, scale: float) -> Metric:
    buckets = histogram.buckets(powers, scale)
    return HistogramMetricFamily(PREFIX + name, meaning, buckets, histogram.total * scale)


# --- the server --------------------------------------------------------------------------------------


def _server(store: EngineStore | RemoteStore) -> Iterator[Metric]:
    build = {"version": __version__, "python": platform.python_version()}
    yield InfoMetricFamily(PREFIX + "build", "The version of the server and of Python.", build)
    yield gauge("ready", "1 if the server accepts writes, else 0.", store.is_ready)
    if isinstance(store, EngineStore):
        yield gauge(
            "memory_limit_reached",
            "1 while the server rejects appends because of the memory limit.",
            store.refuses_growth,
        )


def _requests(requests: RequestFigures) -> Iterator[Metric]:
    answers = CounterMetricFamily(
        PREFIX + "requests", "Finished HTTP requests.", labels=("operation", "status")
    )
    meaning = "From the last byte of the request to the first byte of the response, without blocking reads."
    seconds = HistogramMetricFamily(PREFIX + "request_duration_seconds", meaning, labels=("operation",))
    for (name, status), histogram in requests.answers.items():
        answers.add_metric((name, str(status)), histogram.count)
    for name in dict.fromkeys(name for name, _ in requests.answers):
        histogram = requests.durations_of(name)
        buckets = histogram.buckets(DURATION_POWERS, _SECONDS)
        seconds.add_metric((name,), buckets, histogram.total * _SECONDS)
    yield answers
    yield seconds


def _commands(figures: CommandFigures) -> Iterator[Metric]:
    carried_out = CounterMetricFamily(
        PREFIX + "commands", "Commands that ran, from all sources.", labels=("command",)
    )
    seconds = CounterMetricFamily(
        PREFIX + "engine_seconds", "Time of the engine by command.", labels=("command",)
    )
    for kind in figures.kinds:
        if kind.count:
            carried_out.add_metric((kind.name,), kind.count)
            seconds.add_metric((kind.name,), kind.engine_ns * _SECONDS)
    refused = CounterMetricFamily(
        PREFIX + "commands_refused",
        "Rejected commands; they changed nothing.",
        labels=("command", "code"),
    )
    for (name, code), count in figures.refusals.items():
        refused.add_metric((name, code), count)
    yield carried_out
    yield seconds
    yield refused
    for name, meaning in MEANINGS.items():
        yield _counter(name, meaning, getattr(figures.counters, name))
    retired = CounterMetricFamily(PREFIX + "entries_retired", RETIRED, labels=("reason",))
    for reason, count in figures.counters.retired.items():
        retired.add_metric((reason,), count)
    yield retired


def _readers(sources: Sources) -> Iterator[Metric]:
    store, open_ones = sources.store, sources.open_limits
    yield gauge("waiting_readers", "Reads that wait for entries.", store.waiting_count)
    yield gauge("connections", "Open connections, including idle ones.", len(sources.connections))
    yield gauge("event_streams", "Open streams of Server-Sent Events.", open_ones.event_streams.open_count)
    yield gauge("websockets", "Open WebSockets.", open_ones.websockets.open_count)
    yield gauge("subscriptions", "Open subscriptions of all WebSockets.", open_ones.subscriptions.open_count)
    cut = CounterMetricFamily(
        PREFIX + "connections_cut",
        "Connections that the server closed because of a limit.",
        labels=("reason",),
    )
    for reason, count in sources.connections.cuts.items():
        cut.add_metric((reason,), count)
    yield cut
    yield _counter("slow_operations", "Operations recorded in the slow log.", store.slow_log.noted)
    meaning = "Delay of a callback that is scheduled 20 times a second on the event loop."
    yield _histogram("loop_lag_seconds", meaning, sources.loop_lag.lags, DURATION_POWERS, _SECONDS)


def _tokens(tokens: FileAuthenticator) -> Iterator[Metric]:
    yield gauge("tokens", "Tokens in the tokens file, including expired ones.", tokens.token_count)
    yield gauge("tokens_ignored", "Damaged entries of the tokens file.", tokens.damaged_count)
    meaning = "1 while the tokens file is missing or invalid; the tokens read before stay valid."
    yield gauge("tokens_file_refused", meaning, tokens.is_file_refused)


def _nodes(store: RemoteStore) -> Iterator[Metric]:
    meaning = "1 if the node of the engine can be used, else 0."
    nodes = GaugeMetricFamily(PREFIX + "engine_node_up", meaning, labels=("node", "role"))
    for node in store.link.nodes():
        nodes.add_metric((node.address, node.role), node.is_up)
    yield nodes
    meaning = "1 if the node of the engine deletes streams when its memory is full, else 0."
    evicting = GaugeMetricFamily(PREFIX + "engine_may_evict", meaning, labels=("node",))
    for address, found in store.engine.inspection.found.items():
        if found.may_evict is not None:
            evicting.add_metric((address,), found.may_evict)
    yield evicting


# --- memory and disk ---------------------------------------------------------------------------------


def _cache(cache: BlockCache) -> Iterator[Metric]:
    yield gauge("cache_bytes", "Size of the decompressed blocks in the cache.", cache.used_bytes)
    yield gauge("cache_max_bytes", "Maximum size of the cache.", cache.max_bytes)
    yield _counter("cache_lookups", "Lookups of sealed blocks.", cache.lookups)
    yield _counter("cache_misses", "Lookups that had to decode the block or read it from disk.", cache.misses)


def _storage(storage: Storage) -> Iterator[Metric]:
    log, figures = storage.log, storage.figures
    yield gauge("storage_failed", "1 after a commit failed; only a restart resets it.", log.has_failed)
    yield gauge(
        "journal_bytes", "Size of the journal since the last checkpoint, uncompressed.", storage.journal_bytes
    )
    yield gauge("commits_behind", "Journal rows that are not durable yet.", log.seq - log.durable_seq)
    yield _counter("commits", "Journal rows since the data directory was created.", log.durable_seq)
    meaning = "Duration of one commit: the transaction and its sync."
    yield _histogram("commit_duration_seconds", meaning, figures.durations, DURATION_POWERS, _SECONDS)
    meaning = "Commands and transactions per commit."
    yield _histogram("commit_commands", meaning, figures.commands, SIZE_POWERS, 1)
    yield _counter("commit_bytes", "Size of the written journal rows before compression.", figures.size_bytes)
    yield _counter("checkpoints", "Checkpoints since the start.", figures.checkpoints)
    yield from _disk(storage)


def _disk(storage: Storage) -> Iterator[Metric]:
    directory = storage.directory
    disk = os.statvfs(directory)
    with os.scandir(directory) as files:
        size_bytes = sum(file.stat().st_size for file in files if file.is_file())
    yield gauge("data_bytes", "Size of the files in the data directory.", size_bytes)
    yield gauge(
        "disk_free_bytes", "Free space on the disk of the data directory.", disk.f_bavail * disk.f_frsize
    )
