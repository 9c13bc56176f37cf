"""Memory of entries, and of pending entries (rows 7 and 8 of docs/performance.md).

Each size has a fresh server without durability. Its memory is read after so many entries ``field=valueN``,
and again after a group has read all of them without acknowledging. The figure is the resident memory beyond
that of the warmed-up empty server, next to the memory that Redis reports. Run it with ``python -m
bench.memory``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final, NamedTuple

import redis

from bench import peers
from bench.rows import Effort, Row, command, spaced
from bench.server import NDJSON, Started, started

SIZES: Final = (200_000, 5_000_000)
CHUNK: Final = 10_000
READ_COUNT: Final = 1000
ENTRY_GOAL_BYTES: Final = 21
PENDING_GOAL_BYTES: Final = 45


class Cost(NamedTuple):
    """Bytes for each entry, and additional bytes for each pending entry."""

    entry: float
    pending: float


def measure(effort: Effort) -> Iterator[Row]:
    """Yield the rows 7 and 8, for each size."""
    for size in SIZES if effort.is_full else [max(min(effort.count(SIZES[-1]), SIZES[0]), CHUNK)]:
        ours, theirs = _ours(size), _theirs(size)
        what = f"memory of {spaced(size)} entries"
        yield _row(7, what, ours.entry, theirs.entry, ENTRY_GOAL_BYTES)
        yield _row(8, f"{what}, additional when pending", ours.pending, theirs.pending, PENDING_GOAL_BYTES)


def _row(number: int, what: str, ours: float, theirs: float, goal: float) -> Row:
    figures = f"{ours:.1f} B", f"{theirs:.1f} B"
    return Row(number, what, "none", *figures, ours / theirs, f"<= {goal} B", ours <= goal)


def _ours(size: int) -> Cost:
    with started("none") as server:
        _warm_up(server)
        empty = server.resident_bytes()
        for start in range(0, size, CHUNK):
            _import(server, range(start, start + CHUNK))
        filled = server.resident_bytes()
        assert _read_all(server) == size
        return Cost((filled - empty) / size, (server.resident_bytes() - filled) / size)


def _warm_up(server: Started) -> None:
    """Make the server import its modules and allocate its buffers, without storing entries."""
    _import(server, range(CHUNK))
    assert _read_all(server) == CHUNK
    server.command("DEL", "bench")


def _import(server: Started, numbers: range) -> None:
    lines = "\n".join(f'{{"field":"value{number}"}}' for number in numbers)
    server.post("/v1/streams/bench/entries:import", lines.encode(), NDJSON)


def _read_all(server: Started) -> int:
    """Read the stream to its end with a group, and return how many entries the group got."""
    server.command("XGROUP", "CREATE", "bench", "g", "0")
    streams = [{"key": "bench", "id": ">"}]
    body = json.dumps({"group": "g", "consumer": "c", "count": READ_COUNT, "streams": streams}).encode()
    read = 0
    while page := server.post("/v1/read-group", body)["streams"][0]["entries"]:
        read += len(page)
    return read


def _theirs(size: int) -> Cost:
    with peers.redis("none") as port, redis.Redis(port=port) as client:
        empty = client.info("memory")["used_memory"]
        for start in range(0, size, CHUNK):
            with client.pipeline(transaction=False) as pipeline:
                for number in range(start, start + CHUNK):
                    pipeline.xadd("bench", {"field": f"value{number}"})
                pipeline.execute()
        filled = client.info("memory")["used_memory"]
        client.xgroup_create("bench", "g", "0")
        while client.xreadgroup("g", "c", {"bench": ">"}, count=READ_COUNT):
            pass
        return Cost((filled - empty) / size, (client.info("memory")["used_memory"] - filled) / size)


if __name__ == "__main__":
    command(measure, __doc__)
