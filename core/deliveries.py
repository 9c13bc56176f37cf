"""Delivery counts: their maximum, and how they increment. This module stores none."""

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
