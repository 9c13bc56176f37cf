"""An estimate of the bytes that the entries of a log take, from a few of its blocks.

The entries of a sealed block count as compressed, those of an open block as they are. This module never
changes a block and decodes none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tailrace.core.log.block import Block

SAMPLED_BLOCKS_MAX: Final = 3
"""How many blocks before the last one are examined. Storage may have to read each of them."""


def estimated_bytes(blocks: Sequence[Block]) -> int:
    """Return about how many bytes the blocks of a log take; exact for up to `SAMPLED_BLOCKS_MAX` + 1. O(1).

    All blocks before the last one are full, so a few of them stand for the others.
    """
    if not blocks:
        return 0
    full = len(blocks) - 1
    sampled = min(full, SAMPLED_BLOCKS_MAX)
    found = sum(_bytes_of(blocks[number * full // sampled]) for number in range(sampled))
    return _bytes_of(blocks[-1]) + (found * full // sampled if sampled else 0)


def _bytes_of(block: Block) -> int:
    return sum(map(len, block.decode().fragments)) if block.is_open else len(block.payload())
