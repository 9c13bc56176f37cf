"""The bytes of the entries of a log: of their fragments, before compression.

They are counted in whole blocks. A deleted entry may count until its block goes. This module never changes a
log.
"""

from __future__ import annotations

from tailrace.core.log.block_index import BlockIndex


def fragment_bytes(log: BlockIndex) -> int:
    """Return the bytes of all entries. O(entries of the last block)."""
    return log.ended_bytes + (log.blocks[-1].open_bytes if log.blocks else 0)


def count_above_bytes(log: BlockIndex, most: int) -> int:
    """Return how many entries the first blocks have that must go so that the others take `most` bytes. The
    last block stays. O(blocks counted)."""
    left, count = fragment_bytes(log), 0
    for block in log.blocks[:-1]:
        if left <= most:
            break
        left -= block.fragment_bytes
        count += block.live
    return count


def bytes_between(log: BlockIndex, first: int, end: int) -> int:
    """Return the bytes of the blocks that have only the first `end` entries, without those that have only the
    first `first`. O(1) if both are the same, else O(blocks counted)."""
    return _bytes_of_first(log, end) - _bytes_of_first(log, first) if first < end else 0


def _bytes_of_first(log: BlockIndex, count: int) -> int:
    taken = 0
    for block in log.blocks[:-1]:
        count -= block.live
        if count < 0:
            break
        taken += block.fragment_bytes
    return taken
