"""Samples of a server's metrics page, and the figures between two of them: rates and percentiles.

It owns the names of the metrics that it reads. It prints nothing. A metric that the server lacks, such as the
commits of a gateway, gives None.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from tailrace.app.cli.server import Server

Buckets: TypeAlias = Mapping[float, float]
"""Upper bound of a bucket in seconds, and how many observations are at most so long."""

_MS_PER_S: Final = 1_000

RATES: Final[Mapping[str, str]] = {
    "requests_per_s": "tailrace_requests_total",
    "commands_per_s": "tailrace_commands_total",
    "appends_per_s": "tailrace_appends_total",
    "entries_appended_per_s": "tailrace_entries_appended_total",
    "reads_per_s": "tailrace_reads_total",
    "entries_read_per_s": "tailrace_entries_read_total",
    "deliveries_per_s": "tailrace_deliveries_total",
    "acks_per_s": "tailrace_acks_total",
    "commits_per_s": "tailrace_commits_total",
}
"""Member of the figures, and the counter that it is the rate of."""

GAUGES: Final[Mapping[str, str]] = {
    "commits_behind": "tailrace_commits_behind",
    "memory_bytes": "process_resident_memory_bytes",
    "cache_bytes": "tailrace_cache_bytes",
    "cache_max_bytes": "tailrace_cache_max_bytes",
    "data_bytes": "tailrace_data_bytes",
    "journal_bytes": "tailrace_journal_bytes",
    "disk_free_bytes": "tailrace_disk_free_bytes",
    "connections": "tailrace_connections",
    "websockets": "tailrace_websockets",
    "event_streams": "tailrace_event_streams",
    "waiting_readers": "tailrace_waiting_readers",
    "streams": "tailrace_streams",
    "entries": "tailrace_entries",
    "groups": "tailrace_groups",
    "pending": "tailrace_pending_entries",
    "slow_operations": "tailrace_slow_operations_total",
    "requests": "tailrace_requests_total",
}
"""Member of the figures, and the metric that it is the current value of."""


class Sample:
    """The metrics of a server at one time. Values of one metric with several labels are added up."""

    def __init__(self, server: Server) -> None:
        # Importing the parser takes longer than a request, and other commands do not need it.
        from prometheus_client.parser import text_string_to_metric_families  # noqa: PLC0415

        page = server.request("GET", "/metrics").content.decode()
        self.at_s = time.monotonic()
        self.values: dict[str, float] = defaultdict(float)
        self.buckets: dict[str, dict[float, float]] = defaultdict(lambda: defaultdict(float))
        self.version = ""
        for family in text_string_to_metric_families(page):
            for name, labels, value, *_ in family.samples:
                self.values[name] += value
                if "le" in labels:
                    self.buckets[name][float(labels["le"])] += value
                self.version = labels.get("version", self.version)


def figures(before: Sample, now: Sample) -> dict[str, Any]:
    """Return what `tailrace stats` shows; rates and percentiles are those between the two samples."""
    passed_s = max(now.at_s - before.at_s, 1e-9)

    def grown(name: str) -> float | None:
        if name not in now.values:
            return None
        # A restarted server counts from zero again.
        return max(now.values[name] - before.values.get(name, 0), 0)

    def per_s(name: str) -> float | None:
        growth = grown(name)
        return None if growth is None else round(growth / passed_s, 3)

    cpu_s, started_s = grown("process_cpu_seconds_total"), now.values.get("process_start_time_seconds")
    return {
        "version": now.version,
        "uptime_s": None if started_s is None else round(time.time() - started_s),
        "cpu_percent": None if cpu_s is None else round(100 * cpu_s / passed_s, 1),
        **{member: per_s(name) for member, name in RATES.items()},
        **_durations("commit", before, now, "tailrace_commit_duration_seconds"),
        **_durations("loop_lag", before, now, "tailrace_loop_lag_seconds"),
        **{member: int(now.values[name]) if name in now.values else None for member, name in GAUGES.items()},
    }


def _durations(member: str, before: Sample, now: Sample, name: str) -> dict[str, float | None]:
    earlier = before.buckets.get(f"{name}_bucket", {})
    buckets = {bound: count - earlier.get(bound, 0) for bound, count in now.buckets[f"{name}_bucket"].items()}
    return {f"{member}_p{share}_ms": percentile_ms(buckets, share / 100) for share in (50, 99)}


def percentile_ms(buckets: Buckets, share: float) -> float | None:
    """Return the duration in milliseconds that `share` of the observations do not exceed.

    It interpolates within the bucket, as Prometheus does. None without observations.
    """
    bounds = sorted(buckets)
    total = buckets[bounds[-1]] if bounds else 0
    if total <= 0:
        return None
    wanted, lower, below = share * total, 0.0, 0.0
    for bound in bounds:
        if buckets[bound] >= wanted:
            if math.isinf(bound):
                return round(lower * _MS_PER_S, 3)
            inside = (wanted - below) / max(buckets[bound] - below, 1e-9)
            return round((lower + (bound - lower) * inside) * _MS_PER_S, 3)
        lower, below = bound, buckets[bound]
    return None
