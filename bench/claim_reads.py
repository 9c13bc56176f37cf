"""XREADGROUP CLAIM of a few idle entries among many pending ones (row 6 of docs/performance.md).

20 000 entries are pending. In each round 1 000 of them, chosen at random, are made idle, and a consumer
claims them. Tailrace claims them with one group read; the peer repeats XAUTOCLAIM until it has all of them.
Both run from Python, over loopback, without durability. The rounds alternate, and the median counts. A second
row repeats our side with 2 000 000 pending entries: entries that are not idle must cost nothing. Two more
rows compare both with the peer that has CLAIM itself, Redis 8.10.2 (`bench.claim_peer`). Run it with
``python -m bench.claim_reads``.
"""

from __future__ import annotations

import http.client
import json
import random
import statistics
import time
from collections.abc import Iterator
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import msgspec
import redis

from bench import peers
from bench.claim_peer import Claimer, redis_8_10
from bench.rows import SEED, Effort, Row, command, spaced
from bench.server import server_at

PENDING: Final = 20_000
MANY_PENDING: Final = 2_000_000
IDLE: Final = 1000
IDLE_MS: Final = 10_000_000
THRESHOLD_MS: Final = 5_000_000
"""More than a whole measurement takes: the other entries never become idle."""
ROUNDS: Final = 100
CHUNK: Final = 10_000
GOAL_RATIO: Final = 1 / 3
GOAL_MS: Final = 2.0
GOAL_GROWTH: Final = 1.2


class Side(Protocol):
    """A stream of pending entries, and a client that claims the idle ones."""

    def make_idle(self, chance: random.Random, /) -> set[str]:
        """Make some entries idle, and return their ids."""
        ...

    def claim(self) -> set[str]:
        """Claim the idle entries, and return the decoded ids."""
        ...


class Entry(msgspec.Struct, gc=False):
    """An entry of a group read."""

    id: str
    fields: dict[str, str]
    idle_ms: int
    deliveries: int


class _Read(msgspec.Struct, gc=False):
    entries: list[Entry]


class _Reads(msgspec.Struct, gc=False):
    streams: list[_Read]


_decode: Final = msgspec.json.Decoder(_Reads).decode


class Ours:
    """A stream of Tailrace whose entries are all pending, and one connection to it."""

    def __init__(self, url: str, pending: int) -> None:
        address = urlsplit(url)
        assert address.hostname
        self._connection = http.client.HTTPConnection(address.hostname, address.port)
        self._key = f"pending:{pending}"
        self.ids: list[str] = []
        for start in range(0, pending, CHUNK):
            self._fill(range(start, min(start + CHUNK, pending)))
        self._command("XGROUP", "CREATE", self._key, "g", "0")
        body = self._group_read("silent", count=CHUNK)
        while entries := _decode(self._post("/v1/read-group", body)).streams[0].entries:
            self.ids += [entry.id for entry in entries]
        assert len(self.ids) == pending
        self._claim = self._group_read("heir", count=IDLE, claim_min_idle_ms=THRESHOLD_MS)

    def _fill(self, numbers: range) -> None:
        lines = "\n".join(f'{{"field":"value{number}"}}' for number in numbers).encode()
        self._post(f"/v1/streams/{self._key}/entries:import", lines, "application/x-ndjson")

    def _group_read(self, consumer: str, **more: int) -> bytes:
        streams = [{"key": self._key, "id": ">"}]
        return json.dumps({"group": "g", "consumer": consumer, "streams": streams, **more}).encode()

    def make_idle(self, chance: random.Random) -> set[str]:
        """Assign some entries to a silent consumer, with a delivery time in the past. Return their ids."""
        ids = chance.sample(self.ids, IDLE)
        self._command("XCLAIM", self._key, "g", "silent", "0", *ids, "IDLE", str(IDLE_MS), "JUSTID")
        return set(ids)

    def claim(self) -> set[str]:
        """Claim with one read, and return the decoded ids."""
        return {entry.id for entry in _decode(self._post("/v1/read-group", self._claim)).streams[0].entries}

    def _command(self, *words: str) -> None:
        self._post("/v1/command", json.dumps(words).encode())

    def _post(self, path: str, body: bytes, media_type: str = "application/json") -> bytes:
        self._connection.request("POST", path, body, {"content-type": media_type})
        response = self._connection.getresponse()
        answer = response.read()
        assert response.status < http.client.BAD_REQUEST, answer
        return answer


class Theirs:
    """The same in Redis."""

    def __init__(self, port: int, pending: int) -> None:
        self._client: Any = redis.Redis(port=port, decode_responses=True)
        with self._client.pipeline(transaction=False) as pipeline:
            for number in range(pending):
                pipeline.xadd("pending", {"field": f"value{number}"})
            self.ids: list[str] = pipeline.execute()
        self._client.xgroup_create("pending", "g", "0")
        self._client.xreadgroup("g", "silent", {"pending": ">"}, count=pending)

    def make_idle(self, chance: random.Random) -> set[str]:
        """Assign some entries to a silent consumer, with a delivery time in the past. Return their ids."""
        ids = chance.sample(self.ids, IDLE)
        self._client.xclaim("pending", "g", "silent", 0, ids, idle=IDLE_MS, justid=True)
        return set(ids)

    def claim(self) -> set[str]:
        """Claim with XAUTOCLAIM from cursor to cursor, until all idle entries are claimed."""
        cursor = "0-0"
        claimed: set[str] = set()
        while len(claimed) < IDLE:
            cursor, entries, _ = self._client.xautoclaim("pending", "g", "heir", THRESHOLD_MS, cursor, IDLE)
            claimed |= {entry_id for entry_id, _ in entries}
        return claimed


def measure(effort: Effort) -> Iterator[Row]:
    """Yield the rows 6."""
    chance = random.Random(SEED)  # noqa: S311 - no secret
    rounds = effort.count(ROUNDS)
    pending = max(effort.count(MANY_PENDING), 2 * PENDING)
    with server_at(None, "none") as url:
        few = Ours(url, PENDING)
        with peers.redis("none") as port:
            times_ms = _in_turns(few, Theirs(port, PENDING), rounds, chance)
        what = f"claim of {spaced(IDLE)} idle of {spaced(PENDING)} pending, beside an XAUTOCLAIM loop"
        row = _row(what, times_ms, GOAL_RATIO, f"<= 1/3, and <= {GOAL_MS} ms")
        yield row._replace(is_met=row.is_met and times_ms[0] <= GOAL_MS)
        many = Ours(url, pending)
        few_ms, many_ms = _in_turns(few, many, rounds, chance)
        what = f"the same of {spaced(pending)} pending, beside {spaced(PENDING)}"
        yield _row(what, (many_ms, few_ms), GOAL_GROWTH, f"<= {GOAL_GROWTH}")
        yield from _beside_claim(few, many, pending, rounds, chance)


def _beside_claim(few: Ours, many: Ours, pending: int, rounds: int, chance: random.Random) -> Iterator[Row]:
    """Yield the rows with CLAIM of Redis 8.10.2 as the peer. The second one shows how much it slows down."""
    with redis_8_10() as port:
        few_ms, their_few_ms = _in_turns(few, Claimer(port, PENDING, IDLE, rounds), rounds, chance)
        what = f"claim of {spaced(IDLE)} idle of {spaced(PENDING)} pending, beside CLAIM of Redis 8.10.2"
        yield _row(what, (few_ms, their_few_ms), 1, "<= 1")
        many_ms, their_many_ms = _in_turns(many, Claimer(port, pending, IDLE, rounds), rounds, chance)
        what = f"the same of {spaced(pending)} pending, beside CLAIM of Redis 8.10.2"
        row = _row(what, (many_ms, their_many_ms), 1, "<= 1")
        growth = their_many_ms / their_few_ms
        yield row._replace(peer=f"{row.peer}, {growth:.2f} times as long as with {spaced(PENDING)}")


def _row(what: str, times_ms: tuple[float, float], most: float, goal: str) -> Row:
    """Return a row of two times, ours and the peer's, whose ratio is to be at most `most`."""
    ours_ms, theirs_ms = times_ms
    ratio = ours_ms / theirs_ms
    return Row(6, what, "none", f"{ours_ms:.2f} ms", f"{theirs_ms:.2f} ms", ratio, goal, ratio <= most)


def _in_turns(one: Side, other: Side, rounds: int, chance: random.Random) -> tuple[float, float]:
    taken_ms: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for side, figures in zip((one, other), taken_ms, strict=True):
            idle = side.make_idle(chance)
            started = time.perf_counter()
            claimed = side.claim()
            figures.append((time.perf_counter() - started) * 1000)
            assert claimed == idle, "the claimed entries are not the idle ones"
    return statistics.median(taken_ms[0]), statistics.median(taken_ms[1])


if __name__ == "__main__":
    command(measure, __doc__)
