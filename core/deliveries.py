"""The numbers of a delivery: how often, and how long ago.

If the clock stepped back after a delivery or a request, its time is later than now. Its idle time is then
0: no reply shows a negative time, and a threshold of 0 matches every entry.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

DELIVERIES_MAX: Final = (1 << 63) - 1
"""Redis keeps the count as a signed 64-bit integer."""


def one_more(deliveries: int) -> int:
    """Return the count after one more delivery."""
    return deliveries + 1 if deliveries < DELIVERIES_MAX else deliveries


def each_one_more(counts: Iterable[int]) -> list[int]:
    """Return the counts after one more delivery of each entry. O(m)."""
    return [count + 1 if count < DELIVERIES_MAX else count for count in counts]


def idle_since(at_ms: int, now_ms: int) -> int:
    """Return the milliseconds from `at_ms` to `now_ms`; 0 if `at_ms` is later."""
    return now_ms - at_ms if now_ms > at_ms else 0
