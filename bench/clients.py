"""Bulk append, range read, group read and ack from Python: our client and redis-py with hiredis (rows 3 to
5 of docs/performance.md).

Each client uses its ordinary methods and decodes to str; durability is `interval` on both sides. The first
round of each side is a warm-up, whose entries are compared with the expected ones. A quick run has fewer
rounds, but almost as many entries, because the first page dominates short ranges. Next to our figure the row
shows the processor time of client and server for 1 000 entries, which depends less on other load of the
machine than the rates do. Run it with ``python -m bench.clients``.

Python's garbage collector stays on, so that each client pays for the objects that it makes. `gc.freeze`
excludes the modules of both clients and of the bench, because a program normally imports only one of the
clients.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Final, NamedTuple

from bench import peers
from bench.client_sides import CHUNK, Fields, RedisSide, Side, TailraceSide
from bench.rows import QUICK_SHARE, Effort, Row, at_least, command, in_turns, spaced
from bench.server import Started, started

ENTRIES: Final = 100_000
QUICK_ENTRIES: Final = 30_000
ROUNDS: Final = 5


class Task(NamedTuple):
    """The work of one row. `prepare`: runs before the measured time. `run`: returns how many entries it
    moved. `moved`: the fields of the entries that `run` moves, for the check.
    """

    number: int
    what: str
    goal: float
    prepare: Callable[[Side], object]
    run: Callable[[Side], int]
    moved: Callable[[Side], Sequence[Fields | None]]


class Clock:
    """Measures a task: entries a second, and the processor time of client and server."""

    def __init__(self, task: Task, entries: Sequence[Fields], server: Started) -> None:
        self._task = task
        self._entries = entries
        self._server = server
        self._busy_s: list[tuple[float, float]] = []

    def warm_up(self, side: Side) -> None:
        """Run the task once, and check the entries that it moves."""
        self.rate(side)
        assert self._task.moved(side) == self._entries
        self._busy_s.clear()

    def rate(self, side: Side) -> float:
        """Run the task once, and return entries a second."""
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
        """Return the processor time of our client and server for 1 000 entries, as text."""
        client_ms, server_ms = (
            1e6 * statistics.median(times) / len(self._entries) for times in zip(*self._busy_s, strict=True)
        )
        return f"for 1 000: client {client_ms:.2f} ms, server {server_ms:.2f} ms"


def measure(effort: Effort) -> Iterator[Row]:
    """Yield rows 3, 4 and 5."""
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
    """Yield the tasks of the three rows."""
    count, chunk, chunks = spaced(len(entries)), spaced(CHUNK), len(entries) // CHUNK
    yield Task(
        3,
        f"bulk append from Python, {count} entries, {chunk} a request",
        10,
        lambda side: side.drop(),
        lambda side: side.append(entries),
        lambda side: _fields_in(side, "bulk"),
    )
    yield Task(
        4,
        f"range read from Python, {count} entries to (id, dict)",
        4,
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
    """Return the fields of one entry: four fields, as in the guide's race."""
    return {
        "rider": "Castilla",
        "speed": f"{number % 60}.2",
        "position": str(number),
        "location_id": str(number % 9),
    }


if __name__ == "__main__":
    command(measure, __doc__)
