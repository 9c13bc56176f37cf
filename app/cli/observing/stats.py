"""`tailrace stats`: throughput, commit latency, memory and connections of a server, live or once.

It owns the options and the layout. `samples` computes the figures.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final

from tailrace.app.cli.client_command import connected, on_server
from tailrace.app.cli.observing.samples import Sample, figures
from tailrace.app.cli.output import say_json, say_row, visible
from tailrace.app.cli.server import Server
from tailrace.app.cli.streams.rows import AsJson, Column, Item, plain, shown_ms
from tailrace.app.cli.streams.screen import INTERVAL_S, Interval, Once, follow_on_screen, has_screen

if TYPE_CHECKING:
    from rich.console import RenderableType

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
