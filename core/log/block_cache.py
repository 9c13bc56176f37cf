"""A cache of decompressed blocks: reads close in time of one block decompress it once.

The cache is bounded in bytes and drops the least recently used block first. It holds copies only: dropping
all of it changes no reply. Scans use a small partition of their own, so that reading a whole stream does not
push out the blocks in which single entries are looked up.

A lookup of a few entries keeps the block packed, which takes a fifth of the memory, until it was used twice
soon after the last use. So a few entries of each of many blocks are found without decompressing every block
again, and entries of few blocks without dividing their text at each lookup. This module never changes a
block.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from tailrace.core.log.block import Block
from tailrace.core.log.decoded import Decoded, Packed

ENTRY_COST_BYTES: Final = 110
"""The memory of one decoded entry in addition to its bytes: an id, a bytes object, two references."""

PACKED_COST_BYTES: Final = 400
"""The memory of a packed block in addition to its bytes: three objects, and a place in the cache."""

_SOON_BYTES: Final = 64 * 1024
"""A use is soon after the last one if the cache has so many bytes for each lookup between them: four times
what a decoded block of 100 small entries takes. With less, lookups at random would decode blocks that do not
fit."""

CACHE_BYTES_DEFAULT: Final = 64 * 1024 * 1024
"""The size of the partition for lookups, unless the server sets another one."""
SCAN_BYTES_MAX: Final = 512 * 1024
"""The size of the partition for scans: a few dozen blocks, for readers that continue in the middle of one."""


class _Partition:
    """Decompressed blocks up to a number of bytes."""

    __slots__ = ("blocks", "max_bytes", "used_bytes")

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.used_bytes = 0
        # Each block's entries and their cost in bytes, the least recently used block first.
        self.blocks: OrderedDict[Block, tuple[Decoded | Packed, int]] = OrderedDict()

    def get(self, block: Block) -> Decoded | Packed | None:
        found = self.blocks.get(block)
        if found is None:
            return None
        self.blocks.move_to_end(block)
        return found[0]

    def put(self, block: Block, entries: Decoded | Packed) -> None:
        self.forget(block)
        is_packed = isinstance(entries, Packed)
        cost = entries.size_bytes + (PACKED_COST_BYTES if is_packed else ENTRY_COST_BYTES * block.count)
        self.blocks[block] = (entries, cost)
        self.used_bytes += cost
        while self.used_bytes > self.max_bytes:
            _, (_, freed) = self.blocks.popitem(last=False)
            self.used_bytes -= freed

    def forget(self, block: Block) -> None:
        found = self.blocks.pop(block, None)
        if found is not None:
            self.used_bytes -= found[1]


class BlockCache:
    """Decompressed blocks by block. A hit is O(1), a miss decompresses the block."""

    def __init__(self, max_bytes: int = CACHE_BYTES_DEFAULT) -> None:
        # Reads of sealed blocks.
        self.lookups = 0
        # Those of the reads that decompressed a block.
        self.misses = 0
        # Within how many lookups a use of a packed block counts as soon after the last one.
        self._soon_lookups = max_bytes // _SOON_BYTES
        # Blocks in which single entries are looked up.
        self._kept = _Partition(max_bytes)
        # Blocks that were only scanned.
        self._scanned = _Partition(min(SCAN_BYTES_MAX, max_bytes))

    @property
    def used_bytes(self) -> int:
        """The bytes that the blocks take: their entries' bytes, and `ENTRY_COST_BYTES` for each decoded entry
        or `PACKED_COST_BYTES` for a packed block."""
        return self._kept.used_bytes + self._scanned.used_bytes

    @property
    def max_bytes(self) -> int:
        """The bytes that the blocks may take."""
        return self._kept.max_bytes + self._scanned.max_bytes

    def get(self, block: Block) -> Decoded:
        """Return the entries of `block`, to look single ones up. O(1) for a hit and for an open block, which
        is never cached. The second lookup makes a table of positions.
        """
        if block.is_open:
            return block.decode()
        self.lookups += 1
        entries = self._kept.get(block)
        if isinstance(entries, Decoded):
            entries.index()
            return entries
        return self._keep_decoded(block, entries)

    def few(self, block: Block) -> Decoded | Packed:
        """Return the entries of `block`, to look a few of them up. O(1) for a hit and for an open block."""
        if block.is_open:
            return block.decode()
        self.lookups += 1
        entries = self._kept.get(block) or self._scanned.get(block)
        if entries is None:
            self.misses += 1
            entries = block.unpack()
            entries.used_at = self.lookups
            self._kept.put(block, entries)
        elif isinstance(entries, Decoded):
            entries.index()
            return entries
        elif entries.note_use(self.lookups, self._soon_lookups):
            return self._keep_decoded(block, entries)
        return entries

    def _keep_decoded(self, block: Block, packed: Packed | None) -> Decoded:
        decoded = self._scanned.get(block)
        if not isinstance(decoded, Decoded):
            decoded = self._decode(block) if packed is None else packed.decoded()
        self._scanned.forget(block)
        self._kept.put(block, decoded)
        return decoded

    def scan(self, block: Block) -> Decoded:
        """Return the entries of `block`, to scan them. O(1) for a hit and for an open block."""
        if block.is_open:
            return block.decode()
        self.lookups += 1
        kept = self._kept.get(block)
        entries = kept if isinstance(kept, Decoded) else self._scanned.get(block)
        if isinstance(entries, Decoded):
            return entries
        decoded = kept.decoded() if isinstance(kept, Packed) else self._decode(block)
        self._scanned.put(block, decoded)
        return decoded

    def _decode(self, block: Block) -> Decoded:
        self.misses += 1
        return block.decode()

    def forget(self, block: Block) -> None:
        """Drop `block`, which left its log or was compressed again. O(1)."""
        self._kept.forget(block)
        self._scanned.forget(block)
