"""Measures the lag of the event loop: how long callbacks wait because other work blocks the loop.

A callback that is scheduled every 50 ms records its delay. The module never finds the cause: see the slow
log.
"""

from __future__ import annotations

import time
from typing import Final

from tailrace.app.observability.counters.histogram import durations

PERIOD_S: Final = 0.05


class LoopLag:
    """The histogram of delays. Call `sample` every `PERIOD_S` seconds."""

    def __init__(self) -> None:
        self.lags = durations()
        self._last_ns = 0

    def sample(self) -> None:
        """Record the delay of this call in nanoseconds. O(1)."""
        now_ns = time.perf_counter_ns()
        if self._last_ns:
            self.lags.add(max(now_ns - self._last_ns - round(PERIOD_S * 1e9), 0))
        self._last_ns = now_ns
