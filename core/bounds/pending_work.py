"""Counts the work that one read of pending entries may still do, over all its streams.

A pending entry costs little if it was delivered with its neighbours, and ten times as much if it was claimed
alone and is far from the entry before it in the stream. So a limit on the number of entries does not limit
the time. This module only counts; the readers end when the work is spent.
"""

from __future__ import annotations

from typing import Final

from tailrace.core.limits import PENDING_STEPS_MAX

_UNIT_STEPS: Final = 6
"""What entries that were delivered or claimed together add to one step for each: changing the owner of one
unit of the pending entries list takes up to 10 us."""

_BLOCK_STEPS: Final = 8
"""What each block of the log adds in which entries are looked up: decompressing one takes about 12 us."""


class PendingWork:
    """The work of one read. `left`: the remaining steps; negative after too much work."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = PENDING_STEPS_MAX

    @property
    def units_left(self) -> int:
        """How many units are left at most."""
        return self.left // _UNIT_STEPS + 1

    @property
    def is_spent(self) -> bool:
        """Whether the read may do no further work."""
        return self.left <= 0

    def count(self, entries: int, units: int, blocks: int) -> None:
        """Count `entries` in `units` of the pending entries list, looked up in `blocks` of the log. O(1)."""
        self.left -= entries + units * _UNIT_STEPS + blocks * _BLOCK_STEPS
