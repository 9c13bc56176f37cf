"""Sealed blocks that were decoded a short while ago, so that neighbours in time pay once.

The one cache of the engine: bounded in bytes, least recently used goes first. It holds copies only;
dropping all of it changes no answer. Scans pass by in a small room of their own: reading a stream from
end to end must not push out the blocks that single entries are looked up in, nor fill the memory.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from tailrace.core.log.block import Block
from tailrace.core.log.decoded import Decoded

ENTRY_COST_BYTES: Final = 110
"""What one decoded entry takes in memory beside its bytes: an id, a bytes object, two references."""

CACHE_BYTES_DEFAULT: Final = 64 * 1024 * 1024
SCAN_BYTES_MAX: Final = 512 * 1024
"""The room for scans: a few dozen blocks, for readers that come back for the rest of one."""


class _Room:
    """Decoded blocks, the least recently used first, and their cost in bytes."""

    __slots__ = ("decoded", "max_bytes", "used_bytes")

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.used_bytes = 0
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
    """Decoded blocks by identity of the block. Lookup O(1), a miss costs one decode.

    `lookups`: sealed blocks that were asked for; `misses`: those of them that had to be decoded.
    """

    def __init__(self, max_bytes: int = CACHE_BYTES_DEFAULT) -> None:
        self.lookups = 0
        self.misses = 0
        self._kept = _Room(max_bytes)
        self._scanned = _Room(min(SCAN_BYTES_MAX, max_bytes))

    @property
    def used_bytes(self) -> int:
        """What the decoded blocks take, by `ENTRY_COST_BYTES` and their own bytes."""
        return self._kept.used_bytes + self._scanned.used_bytes

    @property
    def max_bytes(self) -> int:
        """What they may take."""
        return self._kept.max_bytes + self._scanned.max_bytes

    def get(self, block: Block) -> Decoded:
        """The entries of `block`, to look single ones up in; an open block is never cached.

        Whoever comes back for another one finds a table of them.
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
        """The entries of `block`, to pass over them."""
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
        """Drop `block`: it is gone, or was packed anew."""
        self._kept.forget(block)
        self._scanned.forget(block)
