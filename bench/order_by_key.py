"""A group that delivers in order by key, with 1, 1 000 and 1 000 000 different keys and 20 consumers.

Each consumer waits for an entry, and acknowledges it; all consumers run in one process, on a store without
HTTP and without a disk. The bench counts CPU time, so other load matters little.
The peer is the same group without `order_by`. One more row shows how the cost of an entry grows with ten
times as many entries of one key: most of them are held, as many as a group may hold. It takes about three
minutes. Run it with ``python -m bench.order_by_key``.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from rich.console import Console
from rich.progress import Progress

from bench.rows import Effort, Row, command, in_turns, spaced
from tailrace.app.store.service import EngineStore
from tailrace.core import commands as c
from tailrace.core.engine import Engine
from tailrace.core.replies import ReadReply
from tailrace.core.stream_id import id_ms

CONSUMERS: Final = 20
ROUNDS: Final = 3
SIZES: Final = ((1, 40_000, ROUNDS), (1_000, 80_000, ROUNDS), (1_000_000, 1_000_000, 1))
"""How many different keys there are, how many entries, and how many rounds. The cost of an entry of the last
size is a mean over so many that one round is enough."""

FEW: Final = 15_000
GROWTH: Final = 10
"""Ten times `FEW` is more than a group may hold (`HELD_ENTRIES_MAX`)."""

CHUNK: Final = 10_000
REPORTED: Final = 1_000
"""After so many entries the progress is shown again."""

GOAL_GROWTH: Final = 1.3
KEY: Final = b"orders"
GROUP: Final = b"workers"

_READ: Final = (c.ReadFrom(KEY, c.Special.NEW),)


class Work:
    """A stream of `count` entries that repeat `keys` different keys, and a group that consumes them."""

    def __init__(
        self, keys: int, count: int, *, is_ordered: bool, report: Callable[[int], None] = lambda _: None
    ) -> None:
        self._keys = keys
        self._report = report
        self._count = count
        self._is_ordered = is_ordered
        self._store = EngineStore(Engine())
        self._delivered: list[int] = []

    async def run(self) -> float:
        """Consume all entries, and return the CPU time of one, in microseconds."""
        await self._fill()
        consumers = [asyncio.create_task(self._consume(b"%d" % number)) for number in range(CONSUMERS)]
        # The progress is drawn in a thread of its own.
        begin = time.thread_time()
        await asyncio.wait(consumers, return_when=asyncio.FIRST_COMPLETED)
        used = time.thread_time() - begin
        for consumer in consumers:
            consumer.cancel()
        await asyncio.gather(*consumers, return_exceptions=True)
        self._check()
        return used / self._count * 1e6

    async def _fill(self) -> None:
        for first in range(0, self._count, CHUNK):
            numbers = range(first + 1, min(first + CHUNK, self._count) + 1)
            fragments = [b'{"customer":"%d","amount":"12.50"}' % (number % self._keys) for number in numbers]
            await self._store.execute(c.Append(KEY, fragments, [number << 64 for number in numbers]))
        await self._store.execute(c.CreateGroup(KEY, GROUP, 0))
        if self._is_ordered:
            await self._store.execute(c.ConfigureGroup(KEY, GROUP, order_by="customer"))

    async def _consume(self, consumer: bytes) -> None:
        """Read and acknowledge until all entries are delivered; the last consumer to get some returns."""
        read = c.ReadGroup(GROUP, consumer, _READ, c.ReadLimits(count=1), block_ms=0)
        while len(self._delivered) < self._count:
            reply = await self._store.execute(read)
            assert isinstance(reply, ReadReply)
            ids = list(reply.streams[0].entries.ids)
            self._delivered += map(id_ms, ids)
            if not len(self._delivered) % REPORTED:
                self._report(REPORTED)
            # The others have their turn while this consumer works on its entries.
            await asyncio.sleep(0)
            await self._store.execute(c.Acknowledge(KEY, GROUP, tuple(ids)))

    def _check(self) -> None:
        """Check that each entry was delivered once, and the entries of each key in their order."""
        assert sorted(self._delivered) == list(range(1, self._count + 1)), "an entry was lost, or came twice"
        last: dict[int, int] = {}
        for number in self._delivered if self._is_ordered else ():
            assert last.get(number % self._keys, 0) < number, "an entry came too early"
            last[number % self._keys] = number


def measure(effort: Effort) -> Iterator[Row]:
    """Measure the cost of an entry with each number of keys, then its growth."""
    sizes = [(keys, effort.count(full), effort.rounds(rounds)) for keys, full, rounds in effort.some(SIZES)]
    few, rounds = effort.count(FEW), effort.rounds(ROUNDS)
    total = sum(2 * count * rounds for _, count, rounds in sizes) + (GROWTH + 1) * few * rounds
    with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("entries", total=total)
        yield from _rows(sizes, few, rounds, lambda count: progress.advance(task, count))


def _rows(
    sizes: Sequence[tuple[int, int, int]], few: int, few_rounds: int, report: Callable[[int], None]
) -> Iterator[Row]:
    def cost(keys: int, count: int, *, is_ordered: bool) -> Callable[[], float]:
        return lambda: asyncio.run(Work(keys, count, is_ordered=is_ordered, report=report).run())

    for keys, count, rounds in sizes:
        sides = cost(keys, count, is_ordered=True), cost(keys, count, is_ordered=False)
        ours, plain = in_turns(rounds, *sides)
        name = "1 key" if keys == 1 else f"{spaced(keys)} keys"
        what = f"group ordered by {name}, {CONSUMERS} consumers, CPU time of an entry, beside no order"
        shown = f"{ours:.1f} us", f"{plain:.1f} us"
        yield Row(21, what, "none", *shown, ours / plain, "", None)
    sides = cost(1, few * GROWTH, is_ordered=True), cost(1, few, is_ordered=True)
    many_us, few_us = in_turns(few_rounds, *sides)
    growth = many_us / few_us
    what = f"the same, 1 key, {GROWTH} times the entries"
    shown = f"{many_us:.1f} us", f"{few_us:.1f} us"
    yield Row(21, what, "none", *shown, growth, f"<= {GOAL_GROWTH}", growth <= GOAL_GROWTH)


if __name__ == "__main__":
    command(measure, __doc__)
