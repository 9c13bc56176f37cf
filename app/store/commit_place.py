"""Where a row is committed: on the event loop while the disk is fast, otherwise in the writer thread.

A commit on the loop takes 93 us for one client, and one in the thread 126 us: passing the row there and back
takes more than the commit. It also stops the loop while the disk syncs, so it pays only if a sync takes less
than a millisecond. This module measures the commits on the loop and decides. After a slow phase, it tries one
commit on the loop from time to time. It never commits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Final

from tailrace.core.effects import Effect

MEAN_NS_MAX: Final = 1_000_000
"""The mean duration up to which rows are committed on the loop."""

_SHARE: Final = 8
"""Each duration changes the mean by an eighth: three syncs of 4 ms, or one of 8 ms, end the commits here."""

RETRY_NS_MIN: Final = 1_000_000_000
RETRY_NS_MAX: Final = 32_000_000_000
"""The time until one commit on the loop is tried after a slow phase. It doubles while the tries are slow, so
that a very slow disk rarely stops the loop."""

EFFECTS_MAX: Final = 256
"""More effects, or more ids in one effect, are encoded in the thread: encoding takes about 1 us for each."""

BYTES_MAX: Final = 64 * 1024
"""A larger row is committed in the thread: writing it takes longer than passing it on."""


def is_quickly_encoded(effects: Sequence[Effect]) -> bool:
    """Return whether encoding `effects` takes well under a millisecond. O(effects)."""
    if len(effects) > EFFECTS_MAX:
        return False
    # No Python code runs for each effect, which would take as long as half of the encoding.
    ids = map(getattr, effects, repeat("ids"), repeat(()))
    return max(map(len, ids), default=0) <= EFFECTS_MAX


class CommitPlace:
    """Measures the commits on the event loop. `mean_ns_max`: 0 means that no row is committed on the loop.

    `clock_ns`: the clock of these measurements.
    """

    def __init__(
        self, mean_ns_max: int = MEAN_NS_MAX, clock_ns: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._mean_ns_max = mean_ns_max
        self.clock_ns = clock_ns
        self._mean_ns = 0
        self._retry_after_ns = RETRY_NS_MIN
        self._retry_at_ns = 0

    def is_loop(self) -> bool:
        """Return whether the next row is to be committed on the loop. O(1)."""
        if self._mean_ns < self._mean_ns_max:
            return True
        return 0 < self._retry_at_ns <= self.clock_ns()

    def note(self, duration_ns: int) -> None:
        """Take the duration of a commit on the loop into account. O(1)."""
        if self._retry_at_ns:
            self._note_try(duration_ns)
        else:
            self._mean_ns += (duration_ns - self._mean_ns) // _SHARE
            if self._mean_ns >= self._mean_ns_max:
                self._retry_at_ns = self.clock_ns() + self._retry_after_ns

    def _note_try(self, duration_ns: int) -> None:
        if duration_ns < self._mean_ns_max:
            self._mean_ns, self._retry_after_ns, self._retry_at_ns = duration_ns, RETRY_NS_MIN, 0
        else:
            self._retry_after_ns = min(2 * self._retry_after_ns, RETRY_NS_MAX)
            self._retry_at_ns = self.clock_ns() + self._retry_after_ns
