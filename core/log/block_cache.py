"""A cache of decompressed blocks: reads close in time of one block decompress it once.

The cache is bounded in bytes and first drops blocks that were not used for a long time. It holds copies only:
dropping all of it changes no reply. Scans use a small partition of their own, so that reading a whole stream
does not push out the blocks in which single entries are looked up.

A lookup of a few entries keeps the block packed, which takes a fifth of the memory, until it was used twice
soon after the last use. So a few entries of each of many blocks are found without decompressing every block
again, and entries of few blocks without copying from their text at each lookup. This module never changes
the entries of a block.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from tailrace.core.log.block import Block
from tailrace.core.log.decoded import Decoded, Packed

ENTRY_COST_BYTES: Final = 110
"""The memory of one decoded entry in addition to its bytes: an id, a bytes object, two references."""

PACKED_COST_BYTES: Final = 480
"""The memory of a packed block in addition to its bytes: four objects, and a place in the cache."""

_START_BYTES: Final = 2
"""The memory of the place of an entry in a packed block. In blocks above 64 KiB it takes eight."""

_PERIOD_BYTES: Final = 128 * 1024
"""A period has one lookup for so many bytes of the cache. So between two uses that count as soon after each
other, the cache has at least four times what a decoded block of 100 small entries takes, for each lookup.
With less, lookups at random would decode blocks that do not fit."""

CACHE_BYTES_DEFAULT: Final = 64 * 1024 * 1024
"""The size of the partition for lookups, unless the server sets another one."""
SCAN_BYTES_MAX: Final = 512 * 1024
"""The size of the partition for scans: a few dozen blocks, for readers that continue in the middle of one."""


def _cost_bytes(block: Block, entries: Decoded | Packed) -> int:
    if isinstance(entries, Packed):
        return entries.size_bytes + PACKED_COST_BYTES + _START_BYTES * block.count
    return entries.size_bytes + ENTRY_COST_BYTES * block.count


class _Scanned:
    """Decoded blocks up to a number of bytes."""

    __slots__ = ("blocks", "max_bytes", "used_bytes")

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.used_bytes = 0
        # Each block's entries and their cost in bytes, the least recently used block first.
        self.blocks: OrderedDict[Block, tuple[Decoded, int]] = OrderedDict()

    def get(self, block: Block) -> Decoded | None:
        found = self.blocks.get(block)
        if found is None:
            return None
        self.blocks.move_to_end(block)
        return found[0]

    def put(self, block: Block, entries: Decoded) -> None:
        self.forget(block)
        cost = _cost_bytes(block, entries)
        self.blocks[block] = (entries, cost)
        self.used_bytes += cost
        while self.used_bytes > self.max_bytes:
            _, (_, freed) = self.blocks.popitem(last=False)
            self.used_bytes -= freed

    def forget(self, block: Block) -> None:
        found = self.blocks.pop(block, None)
        if found is not None:
            self.used_bytes -= found[1]


class _Kept:
    """Decompressed blocks up to a number of bytes, each in `Block.cached`: a lookup reads the block anyway,
    and changes no table.

    A full cache examines the blocks in turns, and drops the first one that was not used since it was examined
    last.
    """

    __slots__ = ("blocks", "max_bytes", "used_bytes")

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.used_bytes = 0
        # Each block's entries, their cost in bytes, and the period in which the cache examined it last. The
        # block that it examines next comes first.
        self.blocks: OrderedDict[Block, tuple[Decoded | Packed, int, int]] = OrderedDict()

    def put(self, block: Block, entries: Decoded | Packed, period: int) -> None:
        """Keep `entries`, which a lookup of `period` uses, unless they alone are too large. O(1)
        amortised."""
        self.forget(block)
        cost = _cost_bytes(block, entries)
        if cost > self.max_bytes:
            return
        while self.used_bytes + cost > self.max_bytes:
            self._drop_next(period)
        block.cached = entries
        entries.used_in = period
        self.blocks[block] = (entries, cost, period)
        self.used_bytes += cost

    def _drop_next(self, period: int) -> None:
        block, (entries, cost, seen_in) = self.blocks.popitem(last=False)
        if entries.used_in > seen_in:
            self.blocks[block] = (entries, cost, period)
        else:
            block.cached = None
            self.used_bytes -= cost

    def forget(self, block: Block) -> None:
        found = self.blocks.pop(block, None)
        if found is not None:
            block.cached = None
            self.used_bytes -= found[1]


class BlockCache:
    """Decompressed blocks by block. A hit is O(1), a miss decompresses the block."""

    def __init__(self, max_bytes: int = CACHE_BYTES_DEFAULT) -> None:
        # Reads of sealed blocks.
        self.lookups = 0
        # Those of the reads that decompressed a block.
        self.misses = 0
        # The current period. All blocks that are used in it share this number, so noting a use touches no
        # other memory than that of the block's entries.
        self._period = 0
        self._period_lookups = max(max_bytes // _PERIOD_BYTES, 1)
        # The last lookup of the period.
        self._period_end = self._period_lookups
        # Blocks in which single entries are looked up.
        self._kept = _Kept(max_bytes)
        # Blocks that were only scanned.
        self._scanned = _Scanned(min(SCAN_BYTES_MAX, max_bytes))

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
        entries = block.cached
        if entries is None and block.is_open:
            return block.decode()
        self._count_lookup()
        if isinstance(entries, Decoded):
            return self._used(entries)
        return self._keep_decoded(block, entries)

    def few(self, block: Block) -> Decoded | Packed:
        """Return the entries of `block`, to look a few of them up. O(1) for a hit and for an open block."""
        entries = block.cached
        if entries is None and block.is_open:
            return block.decode()
        # As `_count_lookup`, without a call: a claim looks a thousand blocks up.
        self.lookups += 1
        if self.lookups > self._period_end:
            self._next_period()
        if isinstance(entries, Packed):
            return self._keep_decoded(block, entries) if entries.note_use(self._period) else entries
        if entries is None:
            return self._first_few(block)
        entries.used_in = self._period
        if entries.base is None:
            entries.index()
        return entries

    def _count_lookup(self) -> None:
        self.lookups += 1
        if self.lookups > self._period_end:
            self._next_period()

    def _next_period(self) -> None:
        self._period += 1
        self._period_end = self.lookups - 1 + self._period_lookups

    def _first_few(self, block: Block) -> Decoded | Packed:
        scanned = self._scanned.get(block)
        if scanned is not None:
            return self._used(scanned)
        self.misses += 1
        packed = block.unpack()
        self._kept.put(block, packed, self._period)
        return packed

    def _used(self, entries: Decoded) -> Decoded:
        entries.used_in = self._period
        entries.index()
        return entries

    def _keep_decoded(self, block: Block, packed: Packed | None) -> Decoded:
        decoded = self._scanned.get(block)
        if decoded is None:
            decoded = self._decode(block) if packed is None else packed.decoded()
        self._scanned.forget(block)
        self._kept.put(block, decoded, self._period)
        return decoded

    def scan(self, block: Block) -> Decoded:
        """Return the entries of `block`, to scan them. O(1) for a hit and for an open block."""
        kept = block.cached
        if kept is None and block.is_open:
            return block.decode()
        self._count_lookup()
        if isinstance(kept, Decoded):
            kept.used_in = self._period
            return kept
        decoded = self._scanned.get(block)
        if decoded is None:
            decoded = self._decode(block) if kept is None else kept.decoded()
            self._scanned.put(block, decoded)
        return decoded

    def _decode(self, block: Block) -> Decoded:
        self.misses += 1
        return block.decode()

    def clear(self) -> None:
        """Drop all blocks, because all streams were deleted. O(blocks)."""
        for block in [*self._kept.blocks, *self._scanned.blocks]:
            self.forget(block)

    def forget(self, block: Block) -> None:
        """Drop `block`, which left its log or was compressed again. O(1)."""
        self._kept.forget(block)
        self._scanned.forget(block)
