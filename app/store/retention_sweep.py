"""The retention sweep: removes, once a second and in bounded steps, the entries that retention retires.

It owns when the steps run. A step takes about 10 ms at most. After each step the event loop serves others,
four times as long as the step took. So a sweep takes at most a fifth of the processor, however many entries
expired. It never decides which entries go (`core.handlers.retention`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

REST_FACTOR: Final = 4
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
