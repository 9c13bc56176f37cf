"""Bulk append, range read, group read and ack from Python: our client beside redis-py with hiredis (figures
3, 4 and 5 of the goals).

Each does it by its ordinary methods, decoding to str; durability is each second on both sides. The first
round of each warms up, and what it appended or was given is compared with what was meant, entry by entry. A
quick look takes fewer turns, and not too few entries: of a short range the first page is most. Beside our
figure stands how long the client and the server were each at work for 1 000 entries, which bears other load
on the machine better than the rates do. Run it with ``python -m bench.clients``.

Python's garbage collector stays on: what a client makes of an answer is its own to bear. But it is kept from
the modules of both clients and of the bench (`gc.freeze`): in a program with one client there are fewer.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, Final, NamedTuple, TypeAlias

import redis

from bench import peers
from bench.rows import QUICK_SHARE, Effort, Row, at_least, command, in_turns, spaced
from bench.server import Started, started
from tailrace_client import Tailrace

ENTRIES: Final = 100_000
QUICK_ENTRIES: Final = 30_000
CHUNK: Final = 1_000
ROUNDS: Final = 5
GROUP: Final = "judges"

Fields = dict[str, str]


class RedisSide:
    """redis-py with hiredis."""

    def __init__(self, port: int, entries: Sequence[Fields]) -> None:
        self._client: Any = redis.Redis(port=port, decode_responses=True)  # its types know no decoded replies
        self.append(entries, "range")

    def append(self, entries: Sequence[Fields], key: str = "bulk") -> int:
        """All of them, in requests of `CHUNK`; how many were acknowledged."""
        count = 0
        for start in range(0, len(entries), CHUNK):
            pipeline = self._client.pipeline(transaction=False)
            for each in entries[start : start + CHUNK]:
                pipeline.xadd(key, each)
            count += len(pipeline.execute())
        return count

    def read(self, key: str) -> list[tuple[str, Fields]]:
        """The whole of a stream."""
        return list(self._client.xrange(key))

    def consume(self, rounds: int) -> int:
        """`CHUNK` at a time, each read acknowledged in one request; how many were."""
        count = 0
        for _ in range(rounds):
            count += self._client.xack("range", GROUP, *[entry_id for entry_id, _fields in self._given()])
        return count

    def given(self, rounds: int) -> list[Fields]:
        """What the group is given, `CHUNK` at a time."""
        return [fields for _ in range(rounds) for _id, fields in self._given()]

    def _given(self) -> list[tuple[str, Fields]]:
        [(_key, entries)] = self._client.xreadgroup(GROUP, "alice", {"range": ">"}, count=CHUNK)
        found: list[tuple[str, Fields]] = entries
        return found

    def drop(self) -> None:
        """The stream that is appended to, empty."""
        self._client.delete("bulk")

    def rewind(self) -> None:
        """The group, at the beginning of the stream that is read."""
        self._client.xgroup_destroy("range", GROUP)
        self._client.xgroup_create("range", GROUP, "0")


class TailraceSide:
    """Our client."""

    def __init__(self, url: str, entries: Sequence[Fields]) -> None:
        self._client = Tailrace(url)
        self._bulk = self._client.stream("bulk")
        self._range = self._client.stream("range")
        self._group = self._range.group(GROUP)
        self._range.append_many(entries)
        self._group.create("0")

    def append(self, entries: Sequence[Fields]) -> int:
        """All of them, in requests of `CHUNK`; how many were acknowledged."""
        return self._bulk.append_many(entries, chunk=CHUNK)

    def read(self, key: str) -> list[tuple[str, Fields]]:
        """The whole of a stream."""
        return list(self._client.stream(key).read())

    def consume(self, rounds: int) -> int:
        """`CHUNK` at a time, each read acknowledged in one request; how many were."""
        count = 0
        for _ in range(rounds):
            entries = self._group.read("alice", CHUNK)
            count += self._group.ack(*[entry.id for entry in entries])
        return count

    def given(self, rounds: int) -> list[Fields | None]:
        """What the group is given, `CHUNK` at a time."""
        return [entry.fields for _ in range(rounds) for entry in self._group.read("alice", CHUNK)]

    def drop(self) -> None:
        """The stream that is appended to, empty."""
        self._bulk.create()
        self._bulk.drop()

    def rewind(self) -> None:
        """The group, at the beginning of the stream that is read."""
        self._group.destroy()
        self._group.create("0")


Side: TypeAlias = RedisSide | TailraceSide


class Task(NamedTuple):
    """What a row measures: `prepare` is outside the clock, `run` gives the count of entries that it moved.
    `moved`: after it, or once more, the fields of all, which must be what was meant.
    """

    number: int
    what: str
    goal: float
    prepare: Callable[[Side], object]
    run: Callable[[Side], int]
    moved: Callable[[Side], Sequence[Fields | None]]


class Clock:
    """Times a task: entries a second, and how long client and server were at work meanwhile."""

    def __init__(self, task: Task, entries: Sequence[Fields], server: Started) -> None:
        self._task = task
        self._entries = entries
        self._server = server
        self._busy_s: list[tuple[float, float]] = []

    def warm_up(self, side: Side) -> None:
        """Once, and see that it was done."""
        self.rate(side)
        assert self._task.moved(side) == self._entries
        self._busy_s.clear()

    def rate(self, side: Side) -> float:
        """Entries a second."""
        self._task.prepare(side)
        gc.collect()
        began = time.perf_counter(), time.process_time(), self._server.busy_s()
        count = self._task.run(side)
        wall_s, client_s, server_s = (
            now - then
            for now, then in zip(
                (time.perf_counter(), time.process_time(), self._server.busy_s()), began, strict=True
            )
        )
        assert count == len(self._entries), f"{count} of {len(self._entries)} entries were moved"
        if isinstance(side, TailraceSide):
            self._busy_s.append((client_s, server_s))
        return count / wall_s

    def busy(self) -> str:
        """How long each of our two processes was at work for 1 000 entries."""
        client_ms, server_ms = (
            1e6 * statistics.median(times) / len(self._entries) for times in zip(*self._busy_s, strict=True)
        )
        return f"1 000 take the client {client_ms:.2f} ms, the server {server_ms:.2f} ms"


def measure(effort: Effort) -> Iterator[Row]:
    """Rows 3, 4 and 5."""
    count = ENTRIES if effort.is_full else QUICK_ENTRIES if effort.share >= QUICK_SHARE else CHUNK
    chunks = count // CHUNK
    entries = [fields(number) for number in range(chunks * CHUNK)]
    with ExitStack() as stack:
        theirs = RedisSide(stack.enter_context(peers.redis("interval")), entries)
        server = stack.enter_context(started("interval"))
        ours = TailraceSide(server.url, entries)
        gc.collect()
        gc.freeze()
        stack.callback(gc.unfreeze)
        for task in tasks(entries):
            yield _row(task, Clock(task, entries, server), ours, theirs, effort.rounds(ROUNDS))


def _row(task: Task, clock: Clock, ours: TailraceSide, theirs: RedisSide, rounds: int) -> Row:
    clock.warm_up(ours)
    clock.warm_up(theirs)
    our_rate, their_rate = in_turns(rounds, lambda: clock.rate(ours), lambda: clock.rate(theirs))
    row = at_least(
        task.number, f"{task.what}, beside redis-py", "interval", (our_rate, their_rate), task.goal
    )
    return row._replace(ours=f"{row.ours}; {clock.busy()}")


def tasks(entries: Sequence[Fields]) -> Iterator[Task]:
    """The three of them."""
    count, chunk, chunks = spaced(len(entries)), spaced(CHUNK), len(entries) // CHUNK
    yield Task(
        3,
        f"bulk append from Python, {count} entries, {chunk} a request",
        5,
        lambda side: side.drop(),
        lambda side: side.append(entries),
        lambda side: _fields_in(side, "bulk"),
    )
    yield Task(
        4,
        f"range read from Python, {count} entries to (id, dict)",
        3,
        lambda _side: None,
        lambda side: len(side.read("range")),
        lambda side: _fields_in(side, "range"),
    )
    yield Task(
        5,
        f"group read and ack from Python, {chunk} each",
        3,
        lambda side: side.rewind(),
        lambda side: side.consume(chunks),
        lambda side: _given_once_more(side, chunks),
    )


def _fields_in(side: Side, key: str) -> Sequence[Fields]:
    return [fields for _id, fields in side.read(key)]


def _given_once_more(side: Side, chunks: int) -> Sequence[Fields | None]:
    side.rewind()
    return side.given(chunks)


def fields(number: int) -> Fields:
    """Four fields, as in the guide's race."""
    return {
        "rider": "Castilla",
        "speed": f"{number % 60}.2",
        "position": str(number),
        "location_id": str(number % 9),
    }


if __name__ == "__main__":
    command(measure, __doc__)
