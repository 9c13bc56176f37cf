"""Deleted positions of a block as the bits of one int: bit i is set if position i is a hole.

Functions only; they never change a block. Each costs O(positions / 64) unless it says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence


def first_live(holes: int, position: int = 0) -> int:
    """Return the lowest live position from `position` on; the block's end or above if there is none."""
    rest = holes >> position
    return position + (~rest & (rest + 1)).bit_length() - 1


def last_live(holes: int, count: int) -> int:
    """Return the highest live one of `count` positions; there must be one."""
    return (~holes & ((1 << count) - 1)).bit_length() - 1


def live_positions(holes: int, low: int, high: int) -> Sequence[int]:
    """Return the live positions in ``[low, high)``, rising. O(1) without holes, else O(high - low)."""
    if not holes:
        return range(low, high)
    return [position for position in range(low, high) if not holes >> position & 1]


def live_stretches(holes: int, end: int) -> list[int]:
    """Return the bounds of the stretches of live positions below `end`, rising: where each begins, and the
    position after it. O(end)."""
    live = ~holes & ((1 << end) - 1)
    changes = live ^ live << 1
    return [position for position, bit in enumerate(reversed(f"{changes:b}")) if bit == "1"]
