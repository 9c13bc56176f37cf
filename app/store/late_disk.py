"""Says whether the disk is late: whether a row has been in the writer thread for too long.

With `--durability interval`, no reply waits for its row. If the disk stored less than clients send, the rows
that wait for it would take more and more memory, and a crash would lose more and more seconds. So replies
wait while the disk is late, and clients send no more than it stores. Redis waits for a late sync as well.
This module never decides what waits.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import Final

LATE_S: Final = 2.0
"""The disk is late while a row that the thread got this long ago is not durable. Redis has the same limit."""

_logger: Final = logging.getLogger("tailrace.storage")


class LateDisk:
    """The rows of one log. `clock_s`: the clock of the event loop."""

    def __init__(self, clock_s: Callable[[], float]) -> None:
        self._clock_s = clock_s
        self._begun_at_s: deque[float] = deque()
        self._was_late = False

    def begin(self) -> None:
        """Note that the thread got a row."""
        self._begun_at_s.append(self._clock_s())

    def end(self) -> None:
        """Note that the oldest row is durable."""
        self._begun_at_s.popleft()

    def look(self) -> bool:
        """Return whether the disk is late, and log it once each time. O(1)."""
        commit_s = self._clock_s() - self._begun_at_s[0] if self._begun_at_s else 0.0
        is_late = commit_s >= LATE_S
        if is_late and not self._was_late:
            _logger.warning("disk late", extra={"fields": {"commit_s": round(commit_s, 1)}})
        self._was_late = is_late
        return is_late
