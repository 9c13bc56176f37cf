"""Expires the consumers of groups that ask for it: looks at all of them once a second, in bounded steps.

It owns when a look happens, which consumers wait, and since when consumers could be seen at all. The engine
decides who is expired (`core.handlers.expiry`).

A consumer cannot be seen while the server is down or paused, and it seems unseen for an hour if the system
clock steps forward by an hour. So its time begins again at the start of the server, after a pause, and after
a step of the clock: none of them expires a consumer that is still there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

from tailrace.app.clock import Clock
from tailrace.core.commands import ExpireConsumers
from tailrace.core.replies import ExpiryReply

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
