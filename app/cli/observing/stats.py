"""`tailrace stats`: a server's throughput, commit latency, memory and connections, from its metrics page.

It owns the names of the metrics that it reads, and the figures between two samples of them: rates and
percentiles. A metric that the server lacks, such as the commits of a gateway, gives None."""

from __future__ import annotations

import math
import sys
import time
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from tailrace.app.cli.client_command import connected, on_server
from tailrace.app.cli.output import say_json, say_row, visible
from tailrace.app.cli.server import Server
from tailrace.app.cli.streams.rows import (
    INTERVAL_S,
    AsJson,
    Column,
    Interval,
    Item,
    Once,
    follow_on_screen,
    has_screen,
    plain,
    shown_ms,
)

if TYPE_CHECKING:
    from rich.console import RenderableType


# --- samples ------------------------------------------------------------------------------------


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


# --- the command --------------------------------------------------------------------------------


_UNITS: Final = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))


def _rate(title: str, member: str) -> Column:
    return Column(title, lambda item: plain(item[member]), lambda item: _shown(item[member], "{:,.1f}/s"))


def _duration(title: str, member: str) -> Column:
    return Column(title, lambda item: plain(item[member]), lambda item: _shown(item[member], "{:.2f} ms"))


def _count(title: str, member: str) -> Column:
    return Column(title, lambda item: plain(item[member]), lambda item: _shown(item[member], "{:,}"))


def _size(title: str, member: str) -> Column:
    return Column(title, lambda item: plain(item[member]), lambda item: _shown_bytes(item[member]))


_SECTIONS: Final = {
    "Server": (
        Column("version", lambda item: item["version"]),
        Column(
            "uptime s",
            lambda item: plain(item["uptime_s"]),
            lambda item: shown_ms(None if item["uptime_s"] is None else item["uptime_s"] * 1_000),
        ),
        Column(
            "cpu percent",
            lambda item: plain(item["cpu_percent"]),
            lambda item: _shown(item["cpu_percent"], "{:.1f} %"),
        ),
        _count("slow operations", "slow_operations"),
    ),
    "Throughput": (
        _rate("requests", "requests_per_s"),
        _rate("commands", "commands_per_s"),
        _rate("appends", "appends_per_s"),
        _rate("entries appended", "entries_appended_per_s"),
        _rate("reads", "reads_per_s"),
        _rate("entries read", "entries_read_per_s"),
        _rate("deliveries", "deliveries_per_s"),
        _rate("acks", "acks_per_s"),
    ),
    "Latency": (
        _rate("commits", "commits_per_s"),
        _duration("commit p50 ms", "commit_p50_ms"),
        _duration("commit p99 ms", "commit_p99_ms"),
        _count("commits behind", "commits_behind"),
        _duration("loop lag p50 ms", "loop_lag_p50_ms"),
        _duration("loop lag p99 ms", "loop_lag_p99_ms"),
    ),
    "Memory and disk": (
        _size("memory bytes", "memory_bytes"),
        _size("cache bytes", "cache_bytes"),
        _size("cache max bytes", "cache_max_bytes"),
        _size("data bytes", "data_bytes"),
        _size("journal bytes", "journal_bytes"),
        _size("disk free bytes", "disk_free_bytes"),
    ),
    "Connections": (
        _count("connections", "connections"),
        _count("websockets", "websockets"),
        _count("event streams", "event_streams"),
        _count("waiting readers", "waiting_readers"),
    ),
    "Data": (
        _count("streams", "streams"),
        _count("entries", "entries"),
        _count("groups", "groups"),
        _count("pending", "pending"),
    ),
}
"""The figures by heading. In a pipe a title ends with its unit; a table shows the unit with the value."""

_FIRST_AFTER_S: Final = 0.5
_TITLE_WIDTH: Final = 17
_UNITS_OF_TITLES: Final = (" bytes", " ms", " percent", " s")


@on_server
def stats(
    *,
    interval_s: Interval = INTERVAL_S,
    once: Once = False,
    as_json: AsJson = False,
) -> None:
    """Show a server's throughput, commit latency, memory and connections.

    On a terminal the screen is updated until you press q. With --once, with
    --json or in a pipe, one sample is printed: it takes one interval, for the
    rates. In a pipe each line is a title and a value, separated by a tab; a
    value is - if the server does not have it.

    Rates and percentiles are those of the last interval. The commit latency
    is the time until data is on disk. The loop lag is how long the server
    could not react, because it was busy.

    Exit status: 0; 1 if the server refuses or does not answer; 2 for wrong
    arguments; 130 after Ctrl-C.

    [bold]Examples[/bold]

      tailrace stats

      tailrace stats --once -i 10

      tailrace stats --json | jq .commit_p99_ms
    """
    with connected() as server:
        last = Sample(server)
        if not once and not as_json and has_screen():
            _follow(server, last, interval_s)
            return
        time.sleep(interval_s)
        found = figures(last, Sample(server))
        if as_json:
            say_json(found)
        elif sys.stdout.isatty():
            # As in `_follow`.
            from rich.console import Console  # noqa: PLC0415

            Console().print(_sections(found))
        else:
            for column in (column for columns in _SECTIONS.values() for column in columns):
                say_row((column.title, column.text(found)))


def _follow(server: Server, last: Sample, interval_s: float) -> None:
    # As in `screen`: only a live screen needs rich.
    from rich.console import Group  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    samples = [last]
    # Rates of a shorter interval would be meaningless.
    time.sleep(min(interval_s, _FIRST_AFTER_S))

    def shown() -> RenderableType:
        samples.append(Sample(server))
        found = figures(samples[-2], samples[-1])
        del samples[:-1]
        title = Text(f"{server.address}  {time.strftime('%H:%M:%S')}  q: quit\n")
        return Group(title, _sections(found))

    follow_on_screen(shown, interval_s)


def _sections(found: Item) -> RenderableType:
    """Return all figures with their units, the sections next to each other."""
    from rich.columns import Columns  # noqa: PLC0415 - as in `_follow`
    from rich.text import Text  # noqa: PLC0415

    return Columns(
        (
            Text("\n".join([heading, *(_line(column, found) for column in columns), ""]))
            for heading, columns in _SECTIONS.items()
        ),
        padding=(0, 3),
    )


def _line(column: Column, found: Item) -> str:
    title = column.title
    for unit in _UNITS_OF_TITLES:
        title = title.removesuffix(unit)
    return f"  {title:<{_TITLE_WIDTH}}{visible((column.shown or column.text)(found)):>12}"


def _shown(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)


def _shown_bytes(value: int | None) -> str:
    if value is None:
        return "-"
    return next((f"{value / size:.1f} {unit}" for unit, size in _UNITS if value >= size), f"{value} B")
