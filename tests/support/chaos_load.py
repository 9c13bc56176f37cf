"""Load for the chaos tests: tasks append entries with unique values while the cluster is hurt, and count the
answers.

It owns the tasks, and compares the acknowledged entries with those that the cluster holds. It hurts nothing
itself.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field

from tailrace.app.remote.link.port import EngineError, Link, LinkDown

PAUSE_S = 0.001


@dataclass
class Outcome:
    """The answers to the producers, and the entries in the cluster. `error_s`: from first to last error."""

    acknowledged: int = 0
    unknown: int = 0
    refused: int = 0
    stored: int = 0
    lost: int = 0
    doubled: int = 0
    disordered: int = 0
    surprises: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    first_error_s: float = 0.0
    last_error_s: float = 0.0
    longest_s: float = 0.0

    @property
    def error_s(self) -> float:
        return self.last_error_s - self.first_error_s

    def __str__(self) -> str:
        return (
            f"acknowledged {self.acknowledged}, refused {self.refused}, unknown {self.unknown},"
            f" stored {self.stored}; lost {self.lost}, doubled {self.doubled}, out of order"
            f" {self.disordered}; errors for {self.error_s:.2f} s, longest call {self.longest_s:.2f} s"
        )


class Producers:
    """Tasks that append to `keys`, one value after the other, until `stop`."""

    def __init__(self, link: Link, tasks: int = 64, streams: int = 16) -> None:
        self.outcome = Outcome()
        self._link = link
        self._acknowledged: list[list[bytes]] = [[] for _ in range(tasks)]
        self._streams = streams
        self._running = True
        self._tasks = [asyncio.create_task(self._produce(number)) for number in range(tasks)]

    def key(self, number: int) -> bytes:
        """Return the key that a task appends to."""
        return b"chaos:%d" % (number % self._streams)

    async def count(self, more: int) -> None:
        """Return when so many more entries have been acknowledged."""
        until = self.outcome.acknowledged + more
        while self.outcome.acknowledged < until:
            assert not any(task.done() for task in self._tasks), self.outcome.surprises
            await asyncio.sleep(PAUSE_S)

    async def recovered(self) -> None:
        """Return when every task has had another entry acknowledged: every shard serves again."""
        before = [len(values) for values in self._acknowledged]
        while any(len(values) == count for values, count in zip(self._acknowledged, before, strict=True)):
            assert not any(task.done() for task in self._tasks), self.outcome.surprises
            await asyncio.sleep(PAUSE_S)

    async def stop(self) -> Outcome:
        """Let the tasks finish their call, compare, and return the outcome."""
        self._running = False
        await asyncio.gather(*self._tasks)
        await self._compare()
        return self.outcome

    async def _produce(self, number: int) -> None:
        key, sequence = self.key(number), 0
        while self._running:
            value = b"%d-%d" % (number, sequence)
            sequence += 1
            begun = time.monotonic()
            try:
                await self._link.call([b"XADD", key, b"*", b"v", value], key=key, is_write=True)
                self._acknowledged[number].append(value)
                self.outcome.acknowledged += 1
            except LinkDown as down:
                self._note(down)
            except EngineError as error:
                self.outcome.surprises.append(str(error))
            self.outcome.longest_s = max(self.outcome.longest_s, time.monotonic() - begun)
            await asyncio.sleep(PAUSE_S)

    def _note(self, down: LinkDown) -> None:
        outcome, now = self.outcome, time.monotonic()
        outcome.reasons[down.reason] += 1
        outcome.first_error_s = outcome.first_error_s or now
        outcome.last_error_s = now
        if down.outcome_unknown:
            outcome.unknown += 1
        else:
            outcome.refused += 1

    async def _compare(self) -> None:
        """Read all streams; count what is missing, twice there, or in another order than it was sent."""
        stored: list[bytes] = []
        for number in range(self._streams):
            key = b"chaos:%d" % number
            entries = await self._link.call([b"XRANGE", key, b"-", b"+"], key=key, is_write=False)
            assert isinstance(entries, list)
            stored += [entry[1][1] for entry in entries]  # type: ignore[index,misc]
        counts = Counter(stored)
        outcome = self.outcome
        outcome.stored = len(stored)
        outcome.doubled = sum(count - 1 for count in counts.values())
        outcome.lost = sum(value not in counts for values in self._acknowledged for value in values)
        outcome.disordered = _disordered(stored)


def _disordered(stored: list[bytes]) -> int:
    """Count values that are stored after a later value of the same task."""
    last: dict[bytes, int] = {}
    wrong = 0
    for value in stored:
        task, _, sequence = value.partition(b"-")
        wrong += int(sequence) < last.get(task, -1)
        last[task] = max(int(sequence), last.get(task, -1))
    return wrong
