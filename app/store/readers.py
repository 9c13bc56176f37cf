"""Keeps waiting reads in the engine's queue, retries them at wake-ups, and times them with one timer.

A retry runs the command of the read again (`core.waiters`); the engine decides which reads get entries.
Deadlines use the monotonic clock, so a step of the system clock never changes the duration of a wait. Ids and
idle times use the system clock. When that clock steps, reads that wait for a claim are retried, because their
entries may now have the required idle time.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Final, cast

from msgspec.structs import replace

from tailrace.api.ports import Answer, BeginWait, StoreUnavailable
from tailrace.app.clock import Clock
from tailrace.app.observability.timing import WAIT, note_phase
from tailrace.app.store.publishing import Receive, WaitingRead
from tailrace.core.commands import Command, Read, ReadGroup
from tailrace.core.errors import StreamError, kept, too_many_readers
from tailrace.core.outcome import Outcome, Wait, WakeUp
from tailrace.core.replies import Reply, ServerStats
from tailrace.core.waiters import WaitQueue, missed

TIMEOUT_SLACK_MS: Final = 1
"""Added to timeouts: both clocks have whole milliseconds, so a timeout could end this much early."""

STEP_MS: Final = 100
"""A smaller change between the clocks is drift; a greater one means that the system clock was set."""


class WaitingReaders:
    """All waiting reads of one store.

    `run` runs a command. `hand_over` passes an answer to a reader. `ran_at_ms` returns the time of the last
    command, from which the deadlines of its outcome count. `readers_max`: how many reads may wait.
    """

    def __init__(
        self,
        run: Callable[[Command], Outcome],
        hand_over: Callable[[Receive, Answer], None],
        ran_at_ms: Clock,
        monotonic_clock: Clock,
        readers_max: int,
    ) -> None:
        self._run = run
        self._hand_over = hand_over
        self._ran_at_ms = ran_at_ms
        self._monotonic_clock = monotonic_clock
        self._readers_max = readers_max
        self._clocks_apart_ms: int | None = None
        self._queue = WaitQueue()
        # The reads that wait for a key, to look whether there are any.
        self.waiting_by_key = self._queue.by_key
        # Reads that examine entries for a filter, in the order of their turns. A read that has left stays
        # until its turn.
        self._behind: deque[WaitingRead] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due_ms: int | None = None

    def __len__(self) -> int:
        return len(self._queue)

    def consumers(self, groups: Container[bytes]) -> Iterator[tuple[bytes, bytes, bytes]]:
        """Return key, group and consumer of each stream that a reader of one of `groups` waits for. O(readers
        + streams of these readers)."""
        for reader in cast("list[WaitingRead]", self._queue.tokens()):
            command = reader.command
            if isinstance(command, ReadGroup) and command.group in groups:
                for source in command.streams:
                    yield source.key, command.group, command.consumer

    def require_room(self) -> None:
        """Raise `StreamError` if `readers_max` reads are waiting. O(1)."""
        if len(self._queue) >= self._readers_max:
            raise too_many_readers(self._readers_max)

    def completed(self, reply: Reply) -> Reply:
        """Return `reply`. A reply to INFO gets the number of waiting reads, because the engine does not count
        them."""
        if isinstance(reply, ServerStats):
            return replace(reply, blocked_clients=len(self._queue))
        return reply

    async def answer_of(self, outcome: Outcome) -> Reply:
        """Wait for the reply to the read with this outcome. Cancelling it ends the wait.

        Raises `StreamError` or `StoreUnavailable` if the read ends with an error.
        """
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        reader = self.add(outcome, lambda answer: _settle(answered, answer))
        begin_ns = time.perf_counter_ns()
        try:
            answer = await answered
        finally:
            reader.cancel()
            note_phase(WAIT, begin_ns)
        if isinstance(answer, StreamError | StoreUnavailable):
            raise answer
        return answer

    def add(self, outcome: Outcome, receive: Receive) -> WaitingRead:
        """Add a read that found no entries; `outcome` has the keys and deadlines of its wait. O(keys + log
        readers)."""
        assert outcome.wait is not None
        assert outcome.retry is not None
        until_ms = None
        if outcome.wait.until_ms is not None:
            until_ms = self._on_monotonic_clock(outcome.wait.until_ms) + TIMEOUT_SLACK_MS
        reader = WaitingRead(self.discard, outcome.retry, receive, until_ms)
        self._enqueue(reader, outcome.wait)
        self._arm()
        return reader

    def begin(self, outcome: Outcome, receive: Receive, wait: BeginWait | None) -> None:
        """Add a read, and pass it to `wait`. Raises as `require_room` does. `wait`: None for a read that does
        not wait: the filter of its group has further entries to examine."""
        if wait is None:
            self.add(outcome, receive)
        else:
            self.require_room()
            wait(self.add(outcome, receive))

    def _enqueue(self, reader: WaitingRead, wait: Wait) -> None:
        claim_at_ms = wait.claim_at_ms
        if claim_at_ms is not None:
            claim_at_ms = self._on_monotonic_clock(claim_at_ms)
        self._queue.add(reader, replace(wait, until_ms=reader.until_ms, claim_at_ms=claim_at_ms))
        if wait.is_behind:
            self._behind.append(reader)
            if len(self._behind) == 1:
                asyncio.get_running_loop().call_soon(self._catch_up)

    def _catch_up(self) -> None:
        """Run the first read of those that are behind again. One runs in each turn of the event loop, so that
        all other requests are served in between."""
        reader = self._behind[0]
        self._retry([reader])
        self._behind.popleft()
        if self._behind:
            asyncio.get_running_loop().call_soon(self._catch_up)

    def _on_monotonic_clock(self, wall_ms: int) -> int:
        return wall_ms - self._ran_at_ms() + self._monotonic_clock()

    def discard(self, reader: WaitingRead) -> bool:
        """Remove `reader`; return False if it was not waiting."""
        return self._queue.discard(reader)

    def wake(self, wake_ups: Iterable[WakeUp]) -> None:
        """Retry the readers of these keys in the order of their arrival. O(1) if no reader waits."""
        if self._queue.readers:
            self._retry(cast("list[WaitingRead]", self._queue.woken(wake_ups)))

    def compare_clocks(self) -> None:
        """Retry the readers that wait for a claim if the system clock was set since the last call.

        Call it regularly, right after a command. O(1); O(readers) after a step.
        """
        apart_ms = self._ran_at_ms() - self._monotonic_clock()
        before_ms, self._clocks_apart_ms = self._clocks_apart_ms, apart_ms
        if before_ms is not None and abs(apart_ms - before_ms) >= STEP_MS:
            self._retry(cast("list[WaitingRead]", self._queue.claiming()))

    def serve_due(self) -> None:
        """Retry the readers whose deadlines have passed, after the monotonic clock was moved. O(due)."""
        if self._timer is not None:
            self._timer.cancel()
        self._on_timer()

    def close(self, reason: StoreUnavailable) -> None:
        """End every wait with the error `reason`. O(readers)."""
        for reader in cast("list[WaitingRead]", self._queue.tokens()):
            self._queue.discard(reader)
            self._hand_over(reader.receive, reason)

    # --- retrying ------------------------------------------------------------------------------

    def _retry(self, readers: Iterable[WaitingRead]) -> None:
        wake_ups: list[WakeUp] = []
        for reader in readers:
            # The answer to an earlier reader may have cancelled this one.
            wake_ups += self._serve(reader) if self._queue.discard(reader) else missed(reader.command)
        self._arm()
        if wake_ups:
            # A retry can move entries to a dead-letter stream, for which others wait.
            self.wake(wake_ups)

    def _serve(self, reader: WaitingRead) -> Sequence[WakeUp]:
        is_over = self._is_over(reader)
        command = reader.command
        if is_over and isinstance(command, Read | ReadGroup):
            # At the end of the wait, a read returns what it has gathered.
            command = replace(command, batch=None)
        try:
            outcome = self._run(command)
        except (StreamError, StoreUnavailable) as refusal:
            self._hand_over(reader.receive, kept(refusal))
            return ()
        if outcome.wait is None or is_over:
            self._hand_over(reader.receive, outcome.reply)
        else:
            assert outcome.retry is not None
            reader.command = outcome.retry
            self._enqueue(reader, outcome.wait)
        return outcome.wake_ups

    def _is_over(self, reader: WaitingRead) -> bool:
        return reader.until_ms is not None and reader.until_ms <= self._monotonic_clock()

    # --- the timer -----------------------------------------------------------------------------

    def _arm(self) -> None:
        """Schedule `_on_timer` for the earliest deadline."""
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
        self._retry(cast("list[WaitingRead]", self._queue.due(self._monotonic_clock())))


def _settle(answered: asyncio.Future[Answer], answer: Answer) -> None:
    if not answered.done():
        answered.set_result(answer)
