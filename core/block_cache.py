"""Sealed blocks that were decoded a short while ago, so that neighbours in time pay once.

The one cache of the engine: bounded in bytes, least recently used goes first. It holds copies only;
dropping all of it changes no answer.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from core.block import Block, Decoded

ENTRY_COST_BYTES: Final = 110
"""What one decoded entry takes in memory beside its bytes: an id, a bytes object, two references."""

CACHE_BYTES_DEFAULT: Final = 64 * 1024 * 1024


class BlockCache:
    """Decoded blocks by identity of the block. Lookup O(1), a miss costs one decode."""

    def __init__(self, max_bytes: int = CACHE_BYTES_DEFAULT) -> None:
        self.max_bytes = max_bytes
        self.used_bytes = 0
        self._decoded: OrderedDict[Block, tuple[Decoded, int]] = OrderedDict()

    def get(self, block: Block) -> Decoded:
        """The entries of `block`; an open block is never cached."""
        if block.is_open:
            return block.decode()
        found = self._decoded.get(block)
        if found is not None:
            self._decoded.move_to_end(block)
            return found[0]
        decoded = block.decode()
        self._keep(block, decoded)
        return decoded

    def _keep(self, block: Block, decoded: Decoded) -> None:
        cost = ENTRY_COST_BYTES * block.count + sum(map(len, decoded.fragments))
        self._decoded[block] = (decoded, cost)
        self.used_bytes += cost
        while self.used_bytes > self.max_bytes:
            _, (_, freed) = self._decoded.popitem(last=False)
            self.used_bytes -= freed

    def forget(self, block: Block) -> None:
        """Drop `block`: it is gone, or was packed anew."""
        found = self._decoded.pop(block, None)
        if found is not None:
            self.used_bytes -= found[1]
