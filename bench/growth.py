"""Growth: how costs depend on the length of a stream (rows 11 and 12 of docs/performance.md).

One server has a stream of 10 000 entries and one that grows to 10 000 000. Each time the long one is ten
times longer, single appends and ranges by id alternate between both. Then the server restarts; the second row
shows the time to its first responses, and its resident memory after reads all over the stream. Everything
runs over loopback, with durability `interval` and a temporary data directory. Each range must begin with the
requested id. Run it with ``python -m bench.growth``; ``--plots`` draws the growth.
"""

from __future__ import annotations

import http.client
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from bench.rows import SEED, Effort, Row, command, spaced
from bench.server import JSON, NDJSON, Started, started

SMALL_ENTRIES: Final = 10_000
LARGE_ENTRIES: Final = 10_000_000
IMPORT_ENTRIES: Final = 10_000
IDS_KEPT_OF_IMPORT: Final = 10
REQUESTS: Final = 2_000
RANGE_ENTRIES: Final = 10
CACHE_MB: Final = 64
GOAL_GROWTH: Final = 1.2
GOAL_START_S: Final = 1.0
GOAL_MEMORY_MB: Final = CACHE_MB + 64
BODY: Final = json.dumps({"fields": {"rider": "Castilla", "speed": "30.2", "position": "1"}}).encode()
MIB: Final = 2**20

Costs = dict[str, tuple[float, float]]
"""For each kind of request, the median in microseconds on the small stream and on the long one."""


class Client:
    """One connection to a server, with a seeded random generator."""

    def __init__(self, server: Started) -> None:
        self._connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=600)
        self._chance = random.Random(SEED)  # noqa: S311 - no secret

    def request(self, method: str, path: str, body: bytes | None = None, media_type: str = JSON) -> Any:
        """Return the decoded response, which must be a success."""
        self._connection.request(method, path, body, {"content-type": media_type})
        response = self._connection.getresponse()
        answer = response.read()
        if response.status >= http.client.BAD_REQUEST:
            raise SystemExit(f"{method} {path}: {response.status} {answer.decode()}")
        return json.loads(answer)

    def fill(self, key: str, numbers: range) -> list[str]:
        """Import entries, and return the ids of some of them, spread over all."""
        ids: list[str] = []
        for start in range(numbers.start, numbers.stop, IMPORT_ENTRIES):
            part = range(start, min(start + IMPORT_ENTRIES, numbers.stop))
            answer = self.request("POST", f"/v1/streams/{key}/entries:import", _lines(part), NDJSON)
            ms, _, seq = answer["first_id"].partition("-")
            offsets = self._chance.sample(range(len(part)), IDS_KEPT_OF_IMPORT)
            ids += [f"{ms}-{int(seq) + offset}" for offset in offsets]
        return ids

    def append(self, key: str) -> None:
        """Append one entry."""
        self.request("POST", f"/v1/streams/{key}/entries", BODY)

    def read(self, key: str, ids: list[str]) -> None:
        """Read a few entries from one of these ids on."""
        start = self._chance.choice(ids)
        page = self.request("GET", f"/v1/streams/{key}/entries?count={RANGE_ENTRIES}&start={start}")
        assert page["entries"][0]["id"] == start


def _lines(numbers: range) -> bytes:
    return b"\n".join(
        b'{"rider":"Castilla","speed":"%d.%d","position":"%d"}' % (20 + n % 13, n % 10, n) for n in numbers
    )


def measure(effort: Effort) -> Iterator[Row]:
    """Yield the rows 11 and 12."""
    entries = max(effort.count(LARGE_ENTRIES), 2 * SMALL_ENTRIES)
    with tempfile.TemporaryDirectory(prefix="tailrace-bench-") as scratch:
        costs_by_size: dict[int, Costs] = {}
        with _serving(Path(scratch)) as server:
            client = Client(server)
            small_ids = client.fill("small", range(SMALL_ENTRIES))
            large_ids: list[str] = []
            for size in sizes(entries):
                large_ids += client.fill("large", range(len(large_ids) * _ENTRIES_OF_AN_ID, size))
                costs_by_size[size] = _costs(client, small_ids, large_ids, effort.count(REQUESTS))
        yield from _growth_rows(entries, costs_by_size[entries])
        yield _start_row(Path(scratch), entries, large_ids, effort.count(REQUESTS))
    if effort.plots is not None:
        _plot(effort.plots / "growth.svg", costs_by_size)


_ENTRIES_OF_AN_ID: Final = IMPORT_ENTRIES // IDS_KEPT_OF_IMPORT


def sizes(entries: int) -> list[int]:
    """Return the lengths to measure: the small stream's length times powers of ten, up to `entries`."""
    found = [SMALL_ENTRIES]
    while found[-1] * 10 < entries:
        found.append(found[-1] * 10)
    return [*found, entries]


def _serving(directory: Path) -> Any:
    return started("interval", "--cache-mb", str(CACHE_MB), data_dir=directory)


def _costs(client: Client, small_ids: list[str], large_ids: list[str], requests: int) -> Costs:
    recent_ids = large_ids[-len(small_ids) :]
    return {
        "append": _turn_about(requests, lambda: client.append("small"), lambda: client.append("large")),
        f"range of {RANGE_ENTRIES} by id, among the newest": _turn_about(
            requests, lambda: client.read("small", small_ids), lambda: client.read("large", recent_ids)
        ),
        f"range of {RANGE_ENTRIES} by id, anywhere": _turn_about(
            requests, lambda: client.read("small", small_ids), lambda: client.read("large", large_ids)
        ),
    }


def _turn_about(requests: int, small: Callable[[], None], large: Callable[[], None]) -> tuple[float, float]:
    """Return the median of each function in microseconds. The two alternate, so that other load affects them
    equally."""
    taken_us: tuple[list[float], list[float]] = ([], [])
    for _ in range(requests):
        for call, kept in zip((small, large), taken_us, strict=True):
            began = time.perf_counter()
            call()
            kept.append(1e6 * (time.perf_counter() - began))
    return statistics.median(taken_us[0]), statistics.median(taken_us[1])


def _growth_rows(entries: int, costs: Costs) -> Iterator[Row]:
    for what, (small_us, large_us) in costs.items():
        ratio = large_us / small_us
        described = f"{what}, {spaced(entries)} entries beside {spaced(SMALL_ENTRIES)}"
        figures = f"{large_us:.0f} us", f"{small_us:.0f} us"
        goal = f"<= {GOAL_GROWTH} x"
        yield Row(11, described, "interval", *figures, ratio, goal, ratio <= GOAL_GROWTH)


def _start_row(directory: Path, entries: int, ids: list[str], reads: int) -> Row:
    """Start the server on the existing data, and read entries all over the stream."""
    size_mb = sum(each.stat().st_size for each in directory.iterdir()) / MIB
    with _serving(directory) as server:
        client = Client(server)
        client.read("large", ids)
        client.append("large")
        took_s = time.monotonic() - server.began_s
        for _ in range(reads):
            client.read("large", ids)
        memory_mb = server.resident_bytes() / MIB
    what = (
        f"start on {spaced(entries)} entries ({size_mb:.0f} MiB), first answers; memory after {reads} reads"
    )
    is_met = took_s <= GOAL_START_S and memory_mb <= GOAL_MEMORY_MB
    ours = f"{took_s:.2f} s; {memory_mb:.0f} MiB"
    return Row(
        12, what, "interval", ours, "", None, f"<= {GOAL_START_S:g} s; <= {GOAL_MEMORY_MB} MiB", is_met
    )


def _plot(path: Path, costs_by_size: Mapping[int, Costs]) -> None:
    # matplotlib is installed only where plots are wanted.
    from bench.plots import plot_lines  # noqa: PLC0415

    names = next(iter(costs_by_size.values()))
    lines = {name: [costs[name][1] for costs in costs_by_size.values()] for name in names}
    title = "Median of a request as a stream grows"
    plot_lines(path, title, ("entries in the stream", "us"), list(costs_by_size), lines)


if __name__ == "__main__":
    command(measure, __doc__)
