"""The console in a browser, on a large server: how long each view takes, and what another client notices.

The server has 100 000 streams, one of 10 000 000 entries with 100 groups. Each view is loaded as a reader
does, timed until it shows its content, and stays open for a while; its row also has the processor time of the
server. Another client appends one entry after another meanwhile; its latencies are compared with those when
no page is open. The last row is the time from an append to the entry on the screen. The browser runs on the
same machine, with the lowest priority (``chrt --idle``): what the other client notices is the work of the
server, not that of a browser, which a reader has on a machine of their own. Run it with
``python -m bench.console``, or for one view with ``--view groups``.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from bench.latencies import Latencies
from bench.server import NDJSON, Started, started
from tests.support.browser import browsing
from tests.support.console import Console

VIEW_GOAL_MS: Final = 1_000
TAIL_GOAL_MS: Final = 200
OTHERS_GOAL: Final = 1.5
"""How much the 99th percentile of the other client may grow while a view is open."""
GROUPS: Final = 100
LINES_PER_IMPORT: Final = 100_000
COMMANDS_PER_PIPELINE: Final = 10_000
QUIET_S: Final = 5
TAIL_ENTRIES: Final = 20
PAUSE_S: Final = 0.002
OPEN_S: Final = 3
"""How long a view stays open after it has shown its content."""
LOWEST_PRIORITY: Final = ("chrt", "--idle", "0")

LARGE: Final = "large"

VIEWS: Final[dict[str, tuple[str, dict[str, str], str]]] = {
    "streams": ("", {}, "Next page"),
    "streams, prefix": ("", {"prefix": "stream:010"}, "stream:01000"),
    "streams, text within": ("", {"search": "m:0019"}, "streams contain"),
    "entries": ("stream", {"key": LARGE}, "50 entries shown"),
    "entries, at an id": ("stream", {"key": LARGE, "end": "100000-0"}, "50 entries shown"),
    "groups": ("groups", {"key": LARGE}, "group:099"),
    "pending": ("pending", {"key": LARGE}, "100 pending entries shown"),
    "manage": ("manage", {"key": LARGE}, "entries in the stream"),
    "server": ("server", {}, "Commits"),
}
"""The views that are measured: the view, its parameters, and the text that shows that it is complete."""


class Size(NamedTuple):
    """How much the server has."""

    streams: int
    entries: int


def fill(server: Started, size: Size) -> None:
    """Append the entries, and create the streams and the groups."""
    for first in range(1, size.entries + 1, LINES_PER_IMPORT):
        last = min(first + LINES_PER_IMPORT, size.entries + 1)
        lines = "\n".join(
            f'{{"id":"{n}-0","fields":{{"rider":"Castilla","n":"{n}"}}}}' for n in range(first, last)
        )
        server.post(f"/v1/streams/{LARGE}/entries:import?shape=entry", lines.encode(), NDJSON)
    for first in range(0, size.streams, COMMANDS_PER_PIPELINE):
        numbers = range(first, min(first + COMMANDS_PER_PIPELINE, size.streams))
        commands = [["XADD", f"stream:{number:05}", "*", "n", str(number)] for number in numbers]
        server.post("/v1/command/pipeline", json.dumps(commands).encode())
    for number in range(GROUPS):
        server.command("XGROUP", "CREATE", LARGE, f"group:{number:03}", "0")
        server.command(
            "XREADGROUP", "GROUP", f"group:{number:03}", "alice", "COUNT", "100", "STREAMS", LARGE, ">"
        )


@contextmanager
def appending(url: str) -> Iterator[Callable[[], list[int]]]:
    """Append from another client meanwhile. The result returns the latencies (ns) since its last call."""
    latencies: list[int] = []
    over = threading.Event()
    place = urlsplit(url)

    def append() -> None:
        assert place.hostname is not None
        connection = HTTPConnection(place.hostname, place.port)
        body = b'{"fields":{"rider":"Norem","speed":"28.8"}}'
        while not over.wait(PAUSE_S):
            began = time.perf_counter_ns()
            connection.request(
                "POST", "/v1/streams/other/entries", body, {"Content-Type": "application/json"}
            )
            connection.getresponse().read()
            latencies.append(time.perf_counter_ns() - began)
        connection.close()

    def taken() -> list[int]:
        taken, latencies[:] = latencies[:], []
        return taken

    thread = threading.Thread(target=append)
    thread.start()
    try:
        yield taken
    finally:
        over.set()
        thread.join()


def row(
    name: str, shown_ms: float, server_ms: float, quiet: Latencies, others: Latencies
) -> tuple[str, bool]:
    """Return the line of a view, and whether it meets the goals."""
    ratio = others.percentile_ms(99) / quiet.percentile_ms(99)
    line = (
        f"{name:22} {shown_ms:6.0f} ms (goal {VIEW_GOAL_MS}), server {server_ms:5.0f} ms of CPU; "
        f"other client's p99 {ratio:.2f} x (goal {OTHERS_GOAL}): {others.summary()}"
    )
    return line, shown_ms <= VIEW_GOAL_MS and ratio <= OTHERS_GOAL


def view_ms(console: Console, name: str, repeats: int, open_s: float) -> float:
    """Return the median time of a view from its navigation to its content, in milliseconds. Each time the
    view then stays open for `open_s`."""
    view, parameters, text = VIEWS[name]
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        console.open(view, **parameters)
        console.until_text(text)
        times.append((time.perf_counter() - began) * 1000)
        time.sleep(open_s)
    return statistics.median(times)


def tail_ms(console: Console, server: Started) -> float:
    """Return the median time from sending an append to the entry on the page, in milliseconds."""
    server.command("XADD", "tail", "*", "n", "0")
    console.open("stream", key="tail", live="1")
    console.page.until("document.querySelector('.live[data-open=true]')")
    times = []
    for number in range(TAIL_ENTRIES):
        began = time.perf_counter()
        server.command("XADD", "tail", "*", "n", f"shown-{number}")
        console.until_text(f"shown-{number}", "table")
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


def measure(
    size: Size,
    repeats: int,
    quiet_s: float = QUIET_S,
    open_s: float = OPEN_S,
    views: Iterable[str] = tuple(VIEWS),
) -> bool:
    """Print the rows, and return whether all goals are met. The processor time of a view includes the other
    client's appends meanwhile. Before each view no page is open for `quiet_s`; the ratios compare with the
    latencies of all these times."""
    is_met = True
    with tempfile.TemporaryDirectory() as place, started("always", data_dir=Path(place, "data")) as server:
        fill(server, size)
        profile = Path(place, "profile")
        with browsing("about:blank", profile, LOWEST_PRIORITY) as page, appending(server.url) as taken:
            console = Console(page, server.url)
            quiet_ns: list[int] = []
            shown: dict[str, tuple[float, float, list[int]]] = {}
            for name in views:
                page.load("about:blank")
                taken()
                time.sleep(quiet_s)
                quiet_ns += taken()
                before_s = server.busy_s()
                shown_ms = view_ms(console, name, repeats, open_s)
                server_ms = (server.busy_s() - before_s) * 1000 / repeats
                shown[name] = shown_ms, server_ms, taken()
            quiet = Latencies(quiet_ns)
            print(
                f"{size.streams} streams, {size.entries} entries, {GROUPS} groups; "
                f"no page open: {quiet.summary()}"
            )
            for name, (shown_ms, server_ms, others_ns) in shown.items():
                line, is_row_met = row(name, shown_ms, server_ms, quiet, Latencies(others_ns))
                is_met &= is_row_met
                print(line, flush=True)
            shown_ms = tail_ms(console, server)
            is_met &= shown_ms <= TAIL_GOAL_MS
            print(f"{'append to tail':22} {shown_ms:6.0f} ms (goal {TAIL_GOAL_MS})")
    return is_met


def main() -> int:
    """Measure, and return 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=100_000)
    parser.add_argument("--entries", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--view", action="append", choices=VIEWS, help="once for each view; all of them without it"
    )
    options = parser.parse_args()
    size = Size(options.streams, options.entries)
    return 0 if measure(size, options.repeats, views=options.view or VIEWS) else 1


if __name__ == "__main__":
    sys.exit(main())
