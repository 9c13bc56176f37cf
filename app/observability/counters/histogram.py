"""A histogram that costs one index and two additions a value: its bounds are powers of two.

It owns counting and the cumulative buckets of Prometheus's format. What is counted, it never knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

_BUCKETS: Final = 64
"""One for each power of two that a 64-bit number of units can have."""

DURATION_UNIT_NS: Final = 1_000
DURATION_POWERS: Final = range(6, 24)
"""Bounds of durations that are shown: 64 us to 8.4 s, each twice the one before."""

SIZE_POWERS: Final = range(17)
"""Bounds of sizes that are shown: 1 to 65 536."""


class Histogram:
    """Counts of whole numbers; bucket `i` holds those above ``2**(i-1)`` units and up to ``2**i``.

    `total` is the sum of all values, in the values' own unit.
    """

    __slots__ = ("_unit", "counts", "total")

    def __init__(self, unit: int = 1) -> None:
        self._unit = unit
        self.counts = [0] * _BUCKETS
        self.total = 0

    def add(self, value: int) -> None:
        """Count one value, 0 or more. About 0.15 us."""
        self.counts[((value - 1) // self._unit).bit_length()] += 1
        self.total += value

    @property
    def count(self) -> int:
        """How many values."""
        return sum(self.counts)

    def buckets(self, powers: range, scale: float) -> Sequence[tuple[str, float]]:
        """Upper bounds and cumulative counts for the bounds ``2**power`` units, in units of `scale`; the
        last is ``+Inf``."""
        cumulative = list(accumulate(self.counts))
        shown = [(_text(2**power * self._unit * scale), float(cumulative[power])) for power in powers]
        return [*shown, ("+Inf", float(cumulative[-1]))]


def durations() -> Histogram:
    """A histogram of durations in nanoseconds."""
    return Histogram(DURATION_UNIT_NS)


def _text(bound: float) -> str:
    """Without the noise of binary fractions."""
    return f"{bound:.6f}".rstrip("0").rstrip(".")
