"""How many live entries a log has before each block: counted when asked for, then remembered.

The log reports where it drops blocks and where it removes entries. Appending changes only the last block,
which is before no other. This module never changes a block.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from tailrace.core.log.block import Block

_NONE: Final = array("Q")
"""The counts of all logs that never had a second block. Nothing is ever added to it."""


class LiveCounts:
    """The counts of one log. b: blocks. They take 8 bytes for each block, from the first question on."""

    __slots__ = ("_below",)

    def __init__(self) -> None:
        # For each block but the first, the live entries between the first block and this one, plus a
        # constant. So trimming the first block, or dropping blocks before it, changes none of them.
        self._below = _NONE

    def before(self, blocks: Sequence[Block], index: int) -> int:
        """Return how many live entries are in the blocks before `index`. O(1), and O(1) for each block that
        is not counted yet."""
        if not index:
            return 0
        self._count_up_to(blocks, index)
        return blocks[0].live + self._below[index] - self._below[1]

    def block_at(self, blocks: Sequence[Block], rank: int) -> int:
        """Return the index of the block that has the entry with `rank` live entries below it, which exists.
        O(log b) if all blocks are counted."""
        in_first = blocks[0].live
        if rank < in_first:
            return 0
        self._count_up_to(blocks, len(blocks) - 1)
        below = self._below
        return bisect_right(below, rank - in_first + below[1], 1) - 1

    def dropped_first(self, count: int) -> None:
        """Forget the first `count` blocks, which the log has dropped. O(b) in C."""
        del self._below[:count]

    def changed_at(self, index: int) -> None:
        """Count the blocks after `index` again: entries of this block, or all of it, were removed. O(1)."""
        if index:
            del self._below[index + 1 :]

    def _count_up_to(self, blocks: Sequence[Block], index: int) -> None:
        below = self._below
        if len(below) <= 1:
            self._below = below = array("Q", (0, 0))
        if index >= len(below):
            added = (block.live for block in blocks[len(below) - 1 : index])
            below.extend(accumulate(added, initial=below.pop()))
