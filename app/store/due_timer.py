"""The timer of what becomes due: scheduled entries, and delayed retries.

It owns when the engine looks for them: at the first deadline of the keyspace's agenda, by the system clock.
While more is due than one step does, other requests are served between two steps, four times as long as a
step took. A tick once a second notices a step of the system clock. It never decides what is due
(`core.handlers.due`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

from tailrace.app.clock import Clock
from tailrace.core.keyspace import Keyspace

REST_FACTOR: Final = 4


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
