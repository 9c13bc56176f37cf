"""Hostile clients together with an honest one: the server must close them and keep serving others.

250 clients send nothing, 250 send a request head byte by byte, and 100 WebSocket clients subscribe to a long
stream and never read. An honest client appends and reads, one request after another. The report shows how
many hostile clients the server closed and when it closed the last one, the honest client's latencies before
and during the attack, and the server's memory. Run it with ``python -m bench.hostile``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

import uvloop

from bench.connection import Connection
from bench.hostile_clients import KINDS, Address, Watch, arrive
from bench.latencies import Latencies
from bench.server import server_at

CUT_WITHIN_S = 10
P99_GOAL_MS = 50
LOOKS_PER_SIZE = 10
ARRIVE_OVER_S = 3
BEFORE_S = 3
PAUSE_S = 0.002
UNREAD_ENTRIES = 400
UNREAD_ENTRY_BYTES = 20_000
MIB = 1 << 20

_RESIDENT = re.compile(rb"^process_resident_memory_bytes ([0-9.e+]+)$", re.MULTILINE)


class Outcome(NamedTuple):
    """The result. `cuts_s`: the seconds until the server closed each hostile client, by kind; None: never."""

    cuts_s: dict[str, list[float | None]]
    before: Latencies
    during: Latencies
    resident_bytes: tuple[int, int, int]

    @property
    def uncut_count(self) -> int:
        """How many hostile clients the server never closed."""
        return sum(cut is None for cuts in self.cuts_s.values() for cut in cuts)

    @property
    def late_count(self) -> int:
        """How many hostile clients the server closed later than `CUT_WITHIN_S`."""
        return sum((cut or 0) > CUT_WITHIN_S for cuts in self.cuts_s.values() for cut in cuts)

    def report(self) -> str:
        """Return the lines to print."""
        lines = [
            f"{kind:12} {len(cuts):4} clients, {sum(cut is not None for cut in cuts)} cut, "
            f"the last after {max((cut or 0) for cut in cuts):.1f} s"
            for kind, cuts in self.cuts_s.items()
        ]
        begin, peak, end = (size / MIB for size in self.resident_bytes)
        return "\n".join(
            [
                *lines,
                f"honest client before: {self.before.summary()}",
                f"honest client during: {self.during.summary()}",
                f"resident memory: {begin:.0f} MiB before, {peak:.0f} MiB at most, {end:.0f} MiB after",
            ]
        )


# --- the honest client ---------------------------------------------------------------------------------


class Honest:
    """A client that appends and reads. `latencies_ns`: the latency of each request."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.latencies_ns: list[int] = []

    async def work(self, until: Callable[[], bool]) -> None:
        """Append and read with a short pause after each pair, until `until` returns true."""
        ask = self.connection.ask
        while not until():
            begin_ns = time.perf_counter_ns()
            await ask("POST", "/v1/streams/honest/entries", b'{"fields":{"rider":"Castilla"}}')
            middle_ns = time.perf_counter_ns()
            await ask("GET", "/v1/streams/honest/entries?order=desc&count=1")
            self.latencies_ns += [middle_ns - begin_ns, time.perf_counter_ns() - middle_ns]
            await asyncio.sleep(PAUSE_S)


async def _resident_bytes(connection: Connection) -> int:
    """Return the server's memory, from its metrics."""
    found = _RESIDENT.search(await connection.ask("GET", "/metrics"))
    assert found, "the metrics contain no memory"
    return int(float(found[1]))


# --- all of it -----------------------------------------------------------------------------------------


async def attack(url: str) -> Outcome:
    """Measure without hostile clients, then with them."""
    parts = urlsplit(url)
    assert parts.hostname
    assert parts.port
    address = Address(parts.hostname, parts.port)
    honest = Honest(await Connection.opened(url))
    await _fill(honest.connection)
    calm_until = time.monotonic() + BEFORE_S
    await honest.work(lambda: time.monotonic() > calm_until)
    before, honest.latencies_ns = Latencies(honest.latencies_ns), []
    sizes = [await _resident_bytes(honest.connection)]

    watches = {name: Watch() for name in KINDS}
    hostile = [
        asyncio.ensure_future(arrive(client, address, watches[name], ARRIVE_OVER_S * number / count))
        for name, (client, count) in KINDS.items()
        for number in range(count)
    ]
    watching = asyncio.ensure_future(_watch(url, watches, sizes))
    counts = {name: count for name, (_, count) in KINDS.items()}
    await honest.work(lambda: all(_is_over(watches[name], counts[name]) for name in counts))
    for task in (watching, *hostile):
        task.cancel()
    await asyncio.gather(watching, *hostile, return_exceptions=True)
    sizes.append(await _resident_bytes(honest.connection))
    cuts_s = {name: list(watch.cuts_s.values()) for name, watch in watches.items()}
    memory = sizes[0], max(sizes), sizes[-1]
    return Outcome(cuts_s, before, Latencies(honest.latencies_ns), memory)


def _is_over(watch: Watch, count: int) -> bool:
    return len(watch.cuts_s) == count and watch.is_over


async def _fill(connection: Connection) -> None:
    """Create a stream that is larger than the system's socket buffers."""
    entry = {"fields": {"blob": "x" * UNREAD_ENTRY_BYTES}}
    await connection.ask(
        "POST", "/v1/streams/unread/entries:batch", json.dumps({"entries": [entry] * UNREAD_ENTRIES}).encode()
    )


async def _watch(url: str, watches: Mapping[str, Watch], sizes: list[int]) -> None:
    watcher = await Connection.opened(url)
    while True:
        sizes.append(await _resident_bytes(watcher))
        for _ in range(LOOKS_PER_SIZE):
            for watch in watches.values():
                watch.look()
            await asyncio.sleep(0.1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Attack, print the report, and return the exit status: 0 if the goals are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="a running server; one is started if not given")
    options = parser.parse_args(arguments)
    with server_at(options.url) as url:
        outcome = uvloop.run(attack(url))
    print(outcome.report())
    is_met = not outcome.uncut_count and not outcome.late_count
    is_met = is_met and outcome.during.percentile_ms(99) < P99_GOAL_MS
    verdict = "met" if is_met else "missed"
    print(f"goal: all cut within {CUT_WITHIN_S} s, p99 of others under {P99_GOAL_MS} ms: {verdict}")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
