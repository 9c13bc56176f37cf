"""The upkeep of a store: the work that becomes due with time, without a request.

Once a second, idempotency keys expire, consumers of groups with `consumer_expiry_ms` expire, retention
removes entries, readers notice a step of the clock, and groups above their `max_lag_ms` are logged. Scheduled
entries and delayed retries have a timer of their own. This module owns when the parts run; the engine decides
what they do (`core.handlers`).

Each part runs in bounded steps of about 10 ms at most. Between two steps of the retention or of the due
entries, the event loop serves others, four times as long as the step took: so a sweep takes at most a fifth
of the processor, however much is due.

A consumer cannot be seen while the server is down or paused, and it seems unseen for an hour if the system
clock steps forward by an hour. So its time begins again at the start of the server, after a pause, and after
a step of the clock: none of them expires a consumer that is still there.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Final

from tailrace.app.clock import Clock
from tailrace.app.store.lag_alerts import LagAlerts
from tailrace.app.store.readers import WaitingReaders
from tailrace.core.commands import Command, DoDue, ExpireConsumers, ExpireIdempotencyKeys, SweepRetention
from tailrace.core.keyspace import Keyspace
from tailrace.core.limits import EXPIRING_STREAMS_PER_STEP
from tailrace.core.outcome import Outcome
from tailrace.core.replies import ExpiryReply

REST_FACTOR: Final = 4
"""Between two steps, others are served for this many times as long as a step took."""

REST_S_MIN: Final = 0.005

Step = Callable[[int], int]
"""Carries out one step from a serial on; returns the serial to continue with, 0 after the last stream."""


class RetentionSweep:
    """The sweep of one store."""

    def __init__(self, step: Step) -> None:
        self._step = step
        self._is_running = False

    def begin(self) -> None:
        """Start a sweep, unless the previous one still runs."""
        if not self._is_running:
            self._is_running = True
            self._continue(0)

    def _continue(self, serial: int) -> None:
        began_s = time.perf_counter()
        try:
            next_serial = self._step(serial)
        except BaseException:
            self._is_running = False
            raise
        if next_serial:
            rest_s = max(REST_FACTOR * (time.perf_counter() - began_s), REST_S_MIN)
            asyncio.get_running_loop().call_later(rest_s, self._continue, next_serial)
        else:
            self._is_running = False


PAUSE_MS: Final = 3_000
"""A longer time between two looks means that the server was paused."""

STEP_MS: Final = 100
"""A greater difference between the clocks means that the system clock was set."""

BETWEEN_STEPS_S: Final = 0.02
"""Other requests are served between two steps of a look."""

Place = tuple[bytes, bytes, bytes]
"""Key, group and consumer."""


class ConsumerExpiry:
    """The looks of one store. `run` executes a command; `is_needed`: whether any group asks for it; `waiting`
    returns the consumers of waiting reads."""

    def __init__(
        self,
        run: Callable[[ExpireConsumers], ExpiryReply],
        is_needed: Callable[[], bool],
        waiting: Callable[[], Iterable[Place]],
        clocks: tuple[Clock, Clock],
    ) -> None:
        self._run = run
        self._is_needed = is_needed
        self._waiting = waiting
        self._wall_ms, self._monotonic_ms = clocks
        self._before: tuple[int, int] | None = None
        self._since_ms = 0
        self._next: tuple[int, bytes, bytes] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def tick(self) -> None:
        """Begin a look, unless the last one is still on its way. Call it once a second. O(1) if no group asks
        for it, else one step."""
        self._note_clocks(PAUSE_MS)
        if self._is_needed() and self._timer is None:
            self._step(tuple(self._waiting()))

    def look_now(self) -> None:
        """Do a whole look, after both clocks were moved forward: the time in between counts."""
        self._note_clocks(None)
        if self._is_needed():
            self.stop()
            self._next = None
            waiting = tuple(self._waiting())
            while self._look(waiting) is not None:
                waiting = ()

    def stop(self) -> None:
        """Do no further step of the current look."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _note_clocks(self, pause_ms: int | None) -> None:
        wall_ms, monotonic_ms = self._wall_ms(), self._monotonic_ms()
        before, self._before = self._before, (wall_ms, monotonic_ms)
        elapsed_ms = None if before is None else monotonic_ms - before[1]
        is_start = before is None or elapsed_ms is None
        was_paused = elapsed_ms is not None and pause_ms is not None and elapsed_ms > pause_ms
        stepped = before is not None and abs(wall_ms - before[0] - (elapsed_ms or 0)) >= STEP_MS
        if is_start or was_paused or stepped:
            self._since_ms = wall_ms

    def _step(self, waiting: tuple[Place, ...] = ()) -> None:
        self._timer = None
        if not self._is_needed():
            self._next = None
        elif self._look(waiting) is not None:
            self._timer = asyncio.get_running_loop().call_later(BETWEEN_STEPS_S, self._step)

    def _look(self, waiting: tuple[Place, ...]) -> tuple[int, bytes, bytes] | None:
        reply = self._run(ExpireConsumers(self._since_ms, waiting, self._next))
        self._next = reply.next
        return self._next


class DueTimer:
    """The timer of one store. `step` does what is due within bounds, and returns whether more is due now.
    `keyspace` returns the current keyspace. `is_ready`: whether the store accepts writes."""

    def __init__(
        self,
        step: Callable[[], bool],
        keyspace: Callable[[], Keyspace],
        is_ready: Callable[[], bool],
        wall_clock: Clock,
    ) -> None:
        self._step = step
        self._keyspace = keyspace
        self._is_ready = is_ready
        self._wall_clock = wall_clock
        self._timer: asyncio.TimerHandle | None = None
        keyspace().agenda.alarm = self._arm

    def tick(self) -> None:
        """Set the timer again. Call it once a second: the system clock may have stepped, and after a failure
        of the disk the keyspace is another one. O(1)."""
        agenda = self._keyspace().agenda
        agenda.alarm = self._arm
        first_ms = agenda.due.first_ms() if agenda.due else None
        if first_ms is not None:
            self._arm(first_ms)

    def do_now(self) -> None:
        """Do everything that is due, after the clock was moved by hand."""
        while self._is_ready() and self._step():
            pass
        self.tick()

    def stop(self) -> None:
        """Cancel the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self, at_ms: int) -> None:
        self._wait(max(at_ms - self._wall_clock(), 0) / 1000)

    def _wait(self, delay_s: float) -> None:
        self.stop()
        self._timer = asyncio.get_running_loop().call_later(delay_s, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        if not self._is_ready():
            return
        began_s = time.perf_counter()
        if self._step():
            self._wait(REST_FACTOR * (time.perf_counter() - began_s))
        else:
            self.tick()


class Upkeep:
    """The upkeep of one store.

    `run` runs a command of the server itself, `keyspace` returns the current keyspace, and `is_ready` whether
    the store accepts writes. `clocks`: the system clock and the monotonic one. `lag_alerts`: the groups that
    are behind.
    """

    def __init__(
        self,
        run: Callable[[Command], Outcome],
        readers: WaitingReaders,
        keyspace: Callable[[], Keyspace],
        is_ready: Callable[[], bool],
        clocks: tuple[Clock, Clock],
    ) -> None:
        self._run_quietly = run
        self._readers = readers
        self._keyspace = keyspace
        self._is_ready = is_ready
        self._clock = clocks[0]
        self._retention = RetentionSweep(self._sweep_retention)
        self._expiry = ConsumerExpiry(
            self._expire_consumers,
            lambda: is_ready() and bool(keyspace().expiring),
            lambda: readers.consumers({name for _, name in keyspace().expiring}),
            clocks,
        )
        self._due = DueTimer(self._do_due, keyspace, is_ready, clocks[0])
        self.lag_alerts = LagAlerts(keyspace)

    def tick(self) -> None:
        """Do what is due. Call it once a second."""
        if self._is_ready():
            self._expire_keys()
            if self._keyspace().retained:
                self._retention.begin()
            self._readers.compare_clocks()
            self._due.tick()
        self._expiry.tick()
        self.lag_alerts.tick(self._clock())

    def clocks_moved(self) -> None:
        """Do what is due after both clocks were moved forward by hand."""
        while self._is_ready() and self._expire_some_keys():
            pass
        self._expiry.look_now()
        self._due.do_now()
        self.tick()

    def _expire_keys(self) -> None:
        """Expire idempotency keys. Many streams with expired keys take several turns of the event loop."""
        if self._is_ready() and self._expire_some_keys():
            asyncio.get_running_loop().call_soon(self._expire_keys)

    def _expire_some_keys(self) -> bool:
        """Expire the keys of some streams. Return whether keys of other streams may have expired, too."""
        return self._run(ExpireIdempotencyKeys()).reply == EXPIRING_STREAMS_PER_STEP

    def _run(self, command: Command) -> Outcome:
        """Run a command, and let the waiting reads continue for which it made entries available."""
        outcome = self._run_quietly(command)
        self._readers.wake(outcome.wake_ups)
        return outcome

    def _sweep_retention(self, start_serial: int) -> int:
        """Carry out one step of the retention sweep. Return where to continue, 0 at the end."""
        if not self._is_ready():
            return 0
        reply = self._run(SweepRetention(start_serial)).reply
        assert isinstance(reply, int)
        return reply

    def _do_due(self) -> bool:
        """Carry out one step of what is due. Return whether more is due now."""
        return self._run(DoDue()).reply == 1

    def _expire_consumers(self, command: ExpireConsumers) -> ExpiryReply:
        reply = self._run(command).reply
        assert isinstance(reply, ExpiryReply)
        return reply
