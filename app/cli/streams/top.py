"""`tailrace top`: the busiest streams, live.

It owns the samples, the rates between two of them, and the rows of the screen. It asks for the groups of the
shown streams only: a screen costs a page of streams for each thousand, and two requests for each shown group.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from tailrace.app.cli.client_command import connected, on_server
from tailrace.app.cli.server import RefusedByServer, Server, escaped, stream_path
from tailrace.app.cli.streams.listings import Wanted, streams_of
from tailrace.app.cli.streams.rows import (
    INTERVAL_S,
    AsJson,
    Column,
    Interval,
    Item,
    Once,
    duration,
    follow_on_screen,
    has_screen,
    name,
    name_of,
    number,
    print_rows,
    table_of,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

SHOWN: Final = 20

_COLUMNS: Final = (
    name("stream", "key"),
    Column(
        "appends/s",
        lambda item: f"{item['appends_per_s']:.1f}" if item["appends_per_s"] is not None else "-",
        is_number=True,
    ),
    number("entries", "length"),
    number("groups", "groups"),
    number("worst lag", "worst_lag"),
    number("pending", "pending"),
    duration("oldest pending", "oldest_pending_ms"),
)


@on_server
def top(
    wanted: Wanted = "",
    *,
    shown: Annotated[
        int, typer.Option("-n", "--shown", min=1, max=200, metavar="COUNT", help="Show COUNT streams.")
    ] = SHOWN,
    interval_s: Interval = INTERVAL_S,
    once: Once = False,
    as_json: AsJson = False,
) -> None:
    """Show the busiest streams: rates, lengths, lag, pending entries.

    On a terminal the screen is updated until you press q. With --once, or in
    a pipe, one sample is printed: it takes one interval, for the rates.

    Lag is the number of entries that a group has not read; the worst of all
    groups is shown. The oldest pending entry is the one with the smallest id
    of a group, and its age is the time since its last delivery.

    Exit status: 0; 1 if the server refuses or does not answer; 2 for wrong
    arguments; 130 after Ctrl-C.

    [bold]Examples[/bold]

      tailrace top

      tailrace top race: --once

      tailrace top --json | jq 'select(.worst_lag > 1000)'
    """
    with connected() as server:
        before = _Sample(server, wanted)
        if once or as_json or not has_screen():
            time.sleep(interval_s)
            print_rows(_COLUMNS, _busiest(server, before, _Sample(server, wanted), shown), as_json=as_json)
        else:
            _follow(server, wanted, before, shown, interval_s)


class _Sample:
    """All streams at one time."""

    def __init__(self, server: Server, wanted: str) -> None:
        self.at_s = time.monotonic()
        self.streams = {name_of(stream, "key"): stream for stream in streams_of(server, wanted)}


def _busiest(server: Server, before: _Sample, now: _Sample, shown: int) -> list[Item]:
    """Return the streams with the most appends between the samples, with the state of their groups."""
    passed_s = max(now.at_s - before.at_s, 1e-9)
    rates: dict[bytes | None, float | None] = {}
    for key, stream in now.streams.items():
        earlier = before.streams.get(key)
        # A stream that was deleted and created again has added fewer entries than before.
        added = None if earlier is None else stream["entries_added"] - earlier["entries_added"]
        rates[key] = None if added is None or added < 0 else added / passed_s
    order = sorted(now.streams, key=lambda key: (-(rates[key] or 0), -now.streams[key]["length"], key or b""))
    return [
        {**now.streams[key], "appends_per_s": rates[key], **_groups_of(server, key)}
        for key in order[:shown]
        if key is not None
    ]


def _groups_of(server: Server, key: bytes) -> Mapping[str, Any]:
    """Return the state of all groups of a stream together; nothing is known of a stream that is gone."""
    try:
        groups: Sequence[Item] = server.request("GET", stream_path(key, "/groups")).json()["groups"]
        oldest_ms = [
            age_ms for group in groups if group["pending"] for age_ms in [_oldest_ms(server, key, group)]
        ]
    except RefusedByServer as error:
        if error.code in {"NO_SUCH_STREAM", "NOGROUP"}:
            return {"worst_lag": None, "pending": None, "oldest_pending_ms": None}
        raise
    return {
        "worst_lag": max((group["lag"] for group in groups if group["lag"] is not None), default=None),
        "pending": sum(group["pending"] for group in groups),
        "oldest_pending_ms": max((age_ms for age_ms in oldest_ms if age_ms is not None), default=None),
    }


def _oldest_ms(server: Server, key: bytes, group: Item) -> int | None:
    """Return how long ago the pending entry with the smallest id was delivered."""
    path = stream_path(key, f"/groups/{escaped(name_of(group, 'name') or b'')}/pending")
    page = server.request("GET", path, parameters=[("count", "1")]).json()["pending"]
    return page[0]["idle_ms"] if page else None


def _follow(server: Server, wanted: str, before: _Sample, shown: int, interval_s: float) -> None:
    # Importing rich takes longer than a request, and `--once` in a pipe does not need it.
    from rich.console import Group  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    samples = [before]

    def screen() -> RenderableType:
        samples.append(_Sample(server, wanted))
        rows = _busiest(server, samples[-2], samples[-1], shown)
        del samples[:-1]
        count = len(samples[0].streams)
        title = Text(f"{server.address}  {count} streams  {time.strftime('%H:%M:%S')}  q: quit")
        return Group(title, table_of(_COLUMNS, rows))

    follow_on_screen(screen, interval_s)
