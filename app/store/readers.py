"""Readers that wait: kept in the engine's queue, woken by its signals, timed by one timer of the loop.

Looking again is running the reader's command again (`core.waiters`); who is served, and with what, the
engine decides. Deadlines are kept on the monotonic clock, so that a step of the system's clock makes no
reader time out early or wait for ever; ids and idle times stay on the system's clock. When that clock
steps, readers that wait for a claim look again: their entries may be idle for long enough by now.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Final, cast

from msgspec.structs import replace

from tailrace.api.ports import Answer, StoreUnavailable
from tailrace.app.clock import Clock
from tailrace.core.commands import Command
from tailrace.core.errors import StreamError, kept
from tailrace.core.outcome import Outcome, Wait, WakeUp
from tailrace.core.waiters import WaitQueue

Receive = Callable[[Answer], None]

TIMEOUT_SLACK_MS: Final = 1
"""Both clocks are read in whole milliseconds, so a timeout counted from them could end that much early."""

STEP_MS: Final = 100
"""Clocks that part by less than this between two looks drift; by more, the system's clock was set."""


class Reader:
    """One waiting read. `command` is what to run when it looks again."""

    __slots__ = ("_readers", "command", "receive", "until_ms")

    def __init__(
        self, readers: WaitingReaders, command: Command, receive: Receive, until_ms: int | None
    ) -> None:
        self._readers = readers
        self.command = command
        self.receive = receive
        self.until_ms = until_ms

    def cancel(self) -> bool:
        """Stop waiting: see `api.ports.Watch`."""
        return self._readers.discard(self)


class WaitingReaders:
    """All readers of one store. `run` executes a command; `hand_over` gives an answer to a reader.

    `ran_at_ms` gives the time at which the last command was executed: what an outcome's deadlines count from.
    """

    def __init__(
        self,
        run: Callable[[Command], Outcome],
        hand_over: Callable[[Receive, Answer], None],
        ran_at_ms: Clock,
        monotonic_clock: Clock,
    ) -> None:
        self._run = run
        self._hand_over = hand_over
        self._ran_at_ms = ran_at_ms
        self._monotonic_clock = monotonic_clock
        self._clocks_apart_ms: int | None = None
        self._queue = WaitQueue()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due_ms: int | None = None

    def __len__(self) -> int:
        return len(self._queue)

    def add(self, outcome: Outcome, receive: Receive) -> Reader:
        """A read found nothing and waits; `outcome` says for what. O(keys + log n)."""
        assert outcome.wait is not None
        assert outcome.retry is not None
        until_ms = None
        if outcome.wait.until_ms is not None:
            until_ms = self._on_monotonic_clock(outcome.wait.until_ms) + TIMEOUT_SLACK_MS
        reader = Reader(self, outcome.retry, receive, until_ms)
        self._enqueue(reader, outcome.wait)
        self._arm()
        return reader

    def _enqueue(self, reader: Reader, wait: Wait) -> None:
        claim_at_ms = wait.claim_at_ms
        if claim_at_ms is not None:
            claim_at_ms = self._on_monotonic_clock(claim_at_ms)
        self._queue.add(reader, replace(wait, until_ms=reader.until_ms, claim_at_ms=claim_at_ms))

    def _on_monotonic_clock(self, wall_ms: int) -> int:
        return wall_ms - self._ran_at_ms() + self._monotonic_clock()

    def discard(self, reader: Reader) -> bool:
        """`reader` waits no more; False where it did not."""
        return self._queue.discard(reader)

    def wake(self, wake_ups: Iterable[WakeUp]) -> None:
        """Have the readers of these keys look again, in the order in which they came."""
        if not len(self._queue):
            return
        self._look_again(cast("list[Reader]", self._queue.woken(wake_ups)))

    def compare_clocks(self) -> None:
        """Have readers that wait for a claim look again if the system's clock was set since the last call.

        Call it regularly, right after a command. O(1), and O(readers) after a step.
        """
        apart_ms = self._ran_at_ms() - self._monotonic_clock()
        before_ms, self._clocks_apart_ms = self._clocks_apart_ms, apart_ms
        if before_ms is not None and abs(apart_ms - before_ms) >= STEP_MS:
            self._look_again(cast("list[Reader]", self._queue.claiming()))

    def close(self, reason: StoreUnavailable) -> None:
        """Tell every reader why it is not served."""
        for reader in cast("list[Reader]", self._queue.tokens()):
            self._queue.discard(reader)
            self._hand_over(reader.receive, reason)

    # --- looking again -------------------------------------------------------------------------

    def _look_again(self, readers: Iterable[Reader]) -> None:
        for reader in readers:
            # An earlier one's answer may have made this one leave.
            if self._queue.discard(reader):
                self._serve(reader)
        self._arm()

    def _serve(self, reader: Reader) -> None:
        try:
            outcome = self._run(reader.command)
        except (StreamError, StoreUnavailable) as refusal:
            self._hand_over(reader.receive, kept(refusal))
            return
        if outcome.wait is None or self._is_over(reader):
            self._hand_over(reader.receive, outcome.reply)
        else:
            self._enqueue(reader, outcome.wait)

    def _is_over(self, reader: Reader) -> bool:
        return reader.until_ms is not None and reader.until_ms <= self._monotonic_clock()

    # --- the timer -----------------------------------------------------------------------------

    def _arm(self) -> None:
        """Have the loop call `_on_timer` when the earliest deadline is due, and not before."""
        due_ms = self._queue.next_deadline_ms()
        if due_ms == self._timer_due_ms:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._timer_due_ms = due_ms
        if due_ms is not None:
            delay_s = max(due_ms - self._monotonic_clock(), 0) / 1000
            self._timer = asyncio.get_running_loop().call_later(delay_s, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = self._timer_due_ms = None
        self._look_again(cast("list[Reader]", self._queue.due(self._monotonic_clock())))
