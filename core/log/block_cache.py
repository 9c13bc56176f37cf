"""A cache of decompressed blocks: reads close in time of one block decompress it once.

The cache is bounded in bytes and drops the least recently used block first. It holds copies only: dropping
all of it changes no reply. Scans use a small partition of their own, so that reading a whole stream does not
push out the blocks in which single entries are looked up. This module never changes a block.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from tailrace.core.log.block import Block
from tailrace.core.log.decoded import Decoded

ENTRY_COST_BYTES: Final = 110
"""The memory of one decoded entry in addition to its bytes: an id, a bytes object, two references."""

CACHE_BYTES_DEFAULT: Final = 64 * 1024 * 1024
"""The size of the partition for lookups, unless the server sets another one."""
SCAN_BYTES_MAX: Final = 512 * 1024
"""The size of the partition for scans: a few dozen blocks, for readers that continue in the middle of one."""


class _Partition:
    """Decoded blocks up to a number of bytes."""

    __slots__ = ("decoded", "max_bytes", "used_bytes")

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.used_bytes = 0
        # Each block's entries and their cost in bytes, the least recently used block first.
        self.decoded: OrderedDict[Block, tuple[Decoded, int]] = OrderedDict()

    def get(self, block: Block) -> Decoded | None:
        found = self.decoded.get(block)
        if found is None:
            return None
        self.decoded.move_to_end(block)
        return found[0]

    def put(self, block: Block, decoded: Decoded) -> None:
        cost = ENTRY_COST_BYTES * block.count + decoded.size_bytes
        self.decoded[block] = (decoded, cost)
        self.used_bytes += cost
        while self.used_bytes > self.max_bytes:
            _, (_, freed) = self.decoded.popitem(last=False)
            self.used_bytes -= freed

    def forget(self, block: Block) -> None:
        found = self.decoded.pop(block, None)
        if found is not None:
            self.used_bytes -= found[1]


class BlockCache:
    """Decoded blocks by block. A hit is O(1), a miss decompresses the block."""

    def __init__(self, max_bytes: int = CACHE_BYTES_DEFAULT) -> None:
        # Reads of sealed blocks.
        self.lookups = 0
        # Those of the reads that decompressed a block.
        self.misses = 0
        # Blocks in which single entries are looked up.
        self._kept = _Partition(max_bytes)
        # Blocks that were only scanned.
        self._scanned = _Partition(min(SCAN_BYTES_MAX, max_bytes))

    @property
    def used_bytes(self) -> int:
        """The bytes that decoded blocks take: their entries' bytes, and `ENTRY_COST_BYTES` for each entry."""
        return self._kept.used_bytes + self._scanned.used_bytes

    @property
    def max_bytes(self) -> int:
        """The bytes that decoded blocks may take."""
        return self._kept.max_bytes + self._scanned.max_bytes

    def get(self, block: Block) -> Decoded:
        """Return the entries of `block`, to look single ones up. O(1) for a hit and for an open block, which
        is never cached. The second lookup makes a table of positions.
        """
        if block.is_open:
            return block.decode()
        self.lookups += 1
        decoded = self._kept.get(block)
        if decoded is None:
            decoded = self._scanned.get(block) or self._decode(block)
            self._scanned.forget(block)
            self._kept.put(block, decoded)
        else:
            decoded.index()
        return decoded

    def scan(self, block: Block) -> Decoded:
        """Return the entries of `block`, to scan them. O(1) for a hit and for an open block."""
        if block.is_open:
            return block.decode()
        self.lookups += 1
        decoded = self._kept.get(block) or self._scanned.get(block)
        if decoded is None:
            decoded = self._decode(block)
            self._scanned.put(block, decoded)
        return decoded

    def _decode(self, block: Block) -> Decoded:
        self.misses += 1
        return block.decode()

    def forget(self, block: Block) -> None:
        """Drop `block`, which left its log or was compressed again. O(1)."""
        self._kept.forget(block)
        self._scanned.forget(block)
