"""How often an entry was delivered: the greatest count, and how a count grows. It owns nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

DELIVERIES_MAX: Final = (1 << 63) - 1
"""Redis keeps the count as a signed 64-bit integer."""


def one_more(deliveries: int) -> int:
    """The count after one more delivery."""
    return deliveries + 1 if deliveries < DELIVERIES_MAX else deliveries


def each_one_more(counts: Iterable[int]) -> list[int]:
    """The counts after one more delivery of each entry."""
    return [count + 1 if count < DELIVERIES_MAX else count for count in counts]
