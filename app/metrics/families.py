"""Every figure of `/metrics` but the groups': its name, what it means, and where its value comes from.

Nothing is computed here that grows with the data: that is `app.metrics.census`.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from typing import Final

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)

from tailrace.app import __version__
from tailrace.app.metrics.sources import Sources
from tailrace.app.observability.counters.commands import CommandFigures
from tailrace.app.observability.counters.histogram import DURATION_POWERS, SIZE_POWERS, Histogram
from tailrace.app.observability.counters.moved import MEANINGS
from tailrace.app.observability.counters.requests import RequestFigures
from tailrace.app.store.service import EngineStore
from tailrace.app.store.storage import Storage
from tailrace.app.tokens.keeper import TokenKeeper
from tailrace.core.log.block_cache import BlockCache

PREFIX: Final = "tailrace_"
_SECONDS: Final = 1e-9
"""Durations are counted in nanoseconds, and shown in seconds."""


def families(sources: Sources) -> Iterator[Metric]:
    """All of them, in the order in which they are shown."""
    store, storage = sources.store, sources.storage
    yield from _server(store)
    yield from _requests(sources.requests)
    yield from _commands(store.figures)
    yield from _readers(sources)
    yield from _cache(store.keyspace.cache)
    if sources.tokens is not None:
        yield from _tokens(sources.tokens)
    if storage is not None:
        yield from _storage(storage)


def gauge(name: str, meaning: str, value: float) -> Metric:
    """A figure that goes up and down."""
    return GaugeMetricFamily(PREFIX + name, meaning, value)


def _counter(name: str, meaning: str, value: float) -> Metric:
    return CounterMetricFamily(PREFIX + name, meaning, value)


def _histogram(name: str, meaning: str, histogram: Histogram, powers: range, scale: float) -> Metric:
    buckets = histogram.buckets(powers, scale)
    return HistogramMetricFamily(PREFIX + name, meaning, buckets, histogram.total * scale)


# --- the server --------------------------------------------------------------------------------------


def _server(store: EngineStore) -> Iterator[Metric]:
    build = {"version": __version__, "python": platform.python_version()}
    yield InfoMetricFamily(PREFIX + "build", "What is running.", build)
    yield gauge("ready", "1 where writes are taken, 0 where they are not.", store.is_ready)
    yield gauge("memory_limit_reached", "1 while appends are refused for it.", store.refuses_growth)


def _requests(requests: RequestFigures) -> Iterator[Metric]:
    answers = CounterMetricFamily(
        PREFIX + "requests", "HTTP requests answered.", labels=("operation", "status")
    )
    meaning = "From the request's last byte to the answer's first, less what it waited as asked."
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
        PREFIX + "commands", "Commands carried out, whichever way they came.", labels=("command",)
    )
    seconds = CounterMetricFamily(
        PREFIX + "engine_seconds", "Time that the engine spent, by command.", labels=("command",)
    )
    for kind in figures.kinds:
        if kind.count:
            carried_out.add_metric((kind.name,), kind.count)
            seconds.add_metric((kind.name,), kind.engine_ns * _SECONDS)
    refused = CounterMetricFamily(
        PREFIX + "commands_refused",
        "Commands that were refused and changed nothing.",
        labels=("command", "code"),
    )
    for (name, code), count in figures.refusals.items():
        refused.add_metric((name, code), count)
    yield carried_out
    yield seconds
    yield refused
    for name, meaning in MEANINGS.items():
        yield _counter(name, meaning, getattr(figures.counters, name))


def _readers(sources: Sources) -> Iterator[Metric]:
    store, open_ones = sources.store, sources.open_limits
    yield gauge("waiting_readers", "Reads that wait for data or for a claim.", store.waiting_count)
    yield gauge("connections", "Connections that are open, idle ones too.", len(sources.connections))
    yield gauge("event_streams", "Server-Sent Events that are open.", open_ones.event_streams.open_count)
    yield gauge("websockets", "WebSockets that are open.", open_ones.websockets.open_count)
    yield gauge("subscriptions", "Subscriptions of all WebSockets.", open_ones.subscriptions.open_count)
    cut = CounterMetricFamily(
        PREFIX + "connections_cut", "Connections that the server cut.", labels=("reason",)
    )
    for reason, count in sources.connections.cuts.items():
        cut.add_metric((reason,), count)
    yield cut
    yield _counter("slow_operations", "Operations noted in the slow log.", store.slow_log.noted)
    meaning = "How late the event loop came to a callback that is due 20 times a second."
    yield _histogram("loop_lag_seconds", meaning, sources.loop_lag.lags, DURATION_POWERS, _SECONDS)


def _tokens(tokens: TokenKeeper) -> Iterator[Metric]:
    yield gauge("tokens", "Tokens that the server knows, expired ones too.", tokens.token_count)
    yield gauge("tokens_ignored", "Damaged entries of the tokens file.", tokens.damaged_count)
    meaning = "1 while the tokens file is missing or unusable, and the tokens read before it still count."
    yield gauge("tokens_file_refused", meaning, tokens.is_file_refused)


# --- memory and disk ---------------------------------------------------------------------------------


def _cache(cache: BlockCache) -> Iterator[Metric]:
    yield gauge("cache_bytes", "Decoded blocks in the cache.", cache.used_bytes)
    yield gauge("cache_max_bytes", "What they may take.", cache.max_bytes)
    yield _counter("cache_lookups", "Sealed blocks that were asked for.", cache.lookups)
    yield _counter("cache_misses", "Those that had to be decoded, or read from disk first.", cache.misses)


def _storage(storage: Storage) -> Iterator[Metric]:
    log, figures = storage.log, storage.figures
    yield gauge("storage_failed", "1 once the disk refused a commit; only a restart ends it.", log.has_failed)
    yield gauge("journal_bytes", "Journal since the last checkpoint, uncompressed.", storage.journal_bytes)
    yield gauge("commits_behind", "Journal rows that are not durable yet.", log.seq - log.durable_seq)
    yield _counter("commits", "Journal rows since the data directory was made.", log.durable_seq)
    meaning = "One commit: the transaction and its sync."
    yield _histogram("commit_duration_seconds", meaning, figures.durations, DURATION_POWERS, _SECONDS)
    meaning = "Commands and transactions that went into one commit."
    yield _histogram("commit_commands", meaning, figures.commands, SIZE_POWERS, 1)
    yield _counter("commit_bytes", "Journal rows written, in bytes before compression.", figures.size_bytes)
    yield _counter("checkpoints", "Checkpoints taken since the start.", figures.checkpoints)
    yield from _disk(storage)


def _disk(storage: Storage) -> Iterator[Metric]:
    directory = storage.directory
    disk = os.statvfs(directory)
    with os.scandir(directory) as files:
        size_bytes = sum(file.stat().st_size for file in files if file.is_file())
    yield gauge("data_bytes", "Files of the data directory.", size_bytes)
    yield gauge("disk_free_bytes", "Room on the data directory's disk.", disk.f_bavail * disk.f_frsize)
