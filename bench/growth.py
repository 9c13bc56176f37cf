"""Growth: what a stream's length costs (figures 11 and 12 of the goals).

A stream of 10 000 entries and one of 10 000 000 on one server: single appends, and ranges by id at
random places, turn about in one run. Then the server is stopped and started: the time to its first
answers, and its resident memory after them. Loopback, durability interval, a directory of its own that
is removed at the end. Run it with ``python -m bench.growth``; ``--entries`` makes it shorter.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.server import READY

SMALL_ENTRIES = 10_000
IMPORT_ENTRIES = 10_000
ROUNDS = 5
REQUESTS_PER_ROUND = 400
RANGE_ENTRIES = 10
CACHE_MB = 64
GOAL_GROWTH = 1.2
GOAL_START_S = 2.0
GOAL_MEMORY_MB = CACHE_MB + 64
BODY = json.dumps({"fields": {"rider": "Castilla", "speed": "30.2", "position": "1"}}).encode()
JSON = {"content-type": "application/json"}
NDJSON = {"content-type": "application/x-ndjson"}


class Server:
    """A server process on a directory, and one connection to it."""

    def __init__(self, directory: Path) -> None:
        self.started = time.monotonic()
        command = [str(Path(sys.executable).with_name("tailrace")), "serve", "--port", "0"]
        command += ["--data-dir", str(directory), "--cache-mb", str(CACHE_MB), "--log-level", "warning"]
        self.process = subprocess.Popen(
            [*command, "--durability", "interval"], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout
        ready = READY.search(self.process.stdout.readline())
        if ready is None:
            raise SystemExit("the server did not start; its errors stand above")
        self.connection = http.client.HTTPConnection(ready[0].removeprefix("http://"), timeout=600)

    def request(
        self, method: str, path: str, body: bytes | None = None, kind: dict[str, str] = JSON
    ) -> bytes:
        """The answer's body; anything but success ends the measurement."""
        self.connection.request(method, path, body, kind)
        response = self.connection.getresponse()
        answer = response.read()
        if response.status >= http.client.BAD_REQUEST:
            raise SystemExit(f"{method} {path}: {response.status} {answer.decode()}")
        return answer

    def memory_mb(self) -> float:
        """Resident memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        [line] = [line for line in status.splitlines() if line.startswith("VmRSS")]
        return int(line.split()[1]) / 1024

    def stop(self) -> None:
        """In good order, so that everything is in the checkpoint."""
        self.connection.close()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(600)


@contextmanager
def serving(directory: Path) -> Iterator[Server]:
    """A server that is stopped at the end, whatever happens."""
    server = Server(directory)
    try:
        yield server
    finally:
        server.stop()


def fill(server: Server, key: str, entries: int) -> list[str]:
    """Import entries; some of their ids, from all over the stream."""
    ids = []
    for start in range(0, entries, IMPORT_ENTRIES):
        numbers = range(start, min(start + IMPORT_ENTRIES, entries))
        lines = b"\n".join(
            b'{"rider":"Castilla","speed":"%d.%d","position":"%d"}' % (20 + n % 13, n % 10, n)
            for n in numbers
        )
        answer = json.loads(server.request("POST", f"/v1/streams/{key}/entries:import", lines, NDJSON))
        ms, _, seq = answer["first_id"].partition("-")
        ids += [f"{ms}-{int(seq) + offset}" for offset in random.sample(range(len(numbers)), 10)]
    return ids


def append(server: Server, key: str) -> Callable[[], object]:
    """One append a call."""
    return lambda: server.request("POST", f"/v1/streams/{key}/entries", BODY)


def read(server: Server, key: str, ids: list[str]) -> Callable[[], object]:
    """One range of a few entries a call, from an id at a random place on."""
    path = f"/v1/streams/{key}/entries?count={RANGE_ENTRIES}&start="
    return lambda: server.request("GET", path + random.choice(ids))  # noqa: S311 - no secret


def turn_about(small: Callable[[], object], large: Callable[[], object]) -> tuple[float, float]:
    """The median seconds of a call of each, measured in turns so that the machine's moods hit both."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS * REQUESTS_PER_ROUND):
        for call, kept in zip((small, large), seconds, strict=True):
            started = time.perf_counter()
            call()
            kept.append(time.perf_counter() - started)
    return statistics.median(seconds[0]), statistics.median(seconds[1])


def print_growth(what: str, small_s: float, large_s: float) -> bool:
    """One row; whether the goal is met."""
    ratio = large_s / small_s
    met = ratio <= GOAL_GROWTH
    verdict = "met" if met else "missed"
    print(f"{what:34} {small_s * 1e6:9.0f} {large_s * 1e6:9.0f} {ratio:7.2f} {GOAL_GROWTH:6} {verdict}")
    return met


def measure_growth(directory: Path, entries: int) -> tuple[list[str], bool]:
    """Fill both streams and compare; ids of the large one, and whether the goals are met."""
    with serving(directory) as server:
        small_ids = fill(server, "small", SMALL_ENTRIES)
        started = time.monotonic()
        large_ids = fill(server, "large", entries)
        took = time.monotonic() - started
        print(f"filled {entries} entries in {took:.1f} s ({entries / took:.0f}/s)")
        recent = large_ids[-len(small_ids) :]
        print(f"\n{'median of a request, us':34} {SMALL_ENTRIES:9} {entries:9}   ratio   goal")
        results = [
            print_growth("append", *turn_about(append(server, "small"), append(server, "large"))),
            print_growth(
                "range by id, the newest entries",
                *turn_about(read(server, "small", small_ids), read(server, "large", recent)),
            ),
            print_growth(
                "range by id, anywhere",
                *turn_about(read(server, "small", small_ids), read(server, "large", large_ids)),
            ),
        ]
    return large_ids, all(results)


def measure_start(directory: Path, ids: list[str]) -> bool:
    """Start on what is there; whether the goals are met."""
    size_mb = sum(each.stat().st_size for each in directory.iterdir()) / 2**20
    with serving(directory) as server:
        read(server, "large", ids)()
        append(server, "large")()
        took = time.monotonic() - server.started
        first_mb = server.memory_mb()
        for _ in range(ROUNDS * REQUESTS_PER_ROUND):
            read(server, "large", ids)()
        later_mb = server.memory_mb()
    print(f"\nstart on {size_mb:.0f} MiB of data, --cache-mb {CACHE_MB}")
    print(f"from the start of the process to its first answers: {took:.2f} s, goal {GOAL_START_S} s")
    print(f"resident memory after them: {first_mb:.0f} MiB, goal {GOAL_MEMORY_MB} MiB")
    print(
        f"resident memory after {ROUNDS * REQUESTS_PER_ROUND} reads all over the stream: {later_mb:.0f} MiB"
    )
    return took <= GOAL_START_S and later_mb <= GOAL_MEMORY_MB


def main() -> int:
    """Measure, print, and say whether the goals are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=10_000_000, help="length of the long stream")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tailrace-bench-") as scratch:
        ids, is_flat = measure_growth(Path(scratch), options.entries)
        starts_well = measure_start(Path(scratch), ids)
    print(f"goals {'met' if is_flat and starts_well else 'missed'}")
    return 0 if is_flat and starts_well else 1


if __name__ == "__main__":
    sys.exit(main())
