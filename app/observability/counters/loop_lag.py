"""How late the event loop is: what everybody waits for while something else is done.

A callback that is due every 50 ms notes by how much it came too late. It names no culprit: the slow log
does.
"""

from __future__ import annotations

import time
from typing import Final

from tailrace.app.observability.counters.histogram import durations

PERIOD_S: Final = 0.05


class LoopLag:
    """Have `sample` called every `PERIOD_S` seconds."""

    def __init__(self) -> None:
        self.lags = durations()
        self._last_ns = 0

    def sample(self) -> None:
        """Note how much later than it should this call comes."""
        now_ns = time.perf_counter_ns()
        if self._last_ns:
            self.lags.add(max(now_ns - self._last_ns - round(PERIOD_S * 1e9), 0))
        self._last_ns = now_ns
