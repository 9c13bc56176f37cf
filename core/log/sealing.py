"""The blocks that are full and not sealed yet, over all streams of a keyspace, in the order they were filled.

Sealing compresses a block, about 20 us for one of 4 KiB. An import of 64 MiB fills 16 000 blocks in one step,
and sealing them all in that step would hold the writer for half a second. So each step seals at most
`STEP_BYTES`, and the other blocks wait here. A waiting block answers every read and loses entries like any
other. This module never decides when the next step comes: the owner of the engine does.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from tailrace.core.limits import MIB
from tailrace.core.log.block import Block

STEP_BYTES: Final = MIB
"""What one command, or all commands of one transaction, may seal: 5 to 10 ms. More than an ordinary append
ever fills, so that ordinary appends leave nothing behind."""

_NO_BOUND: Final = 1 << 62


class SealingQueue:
    """`waiting`: full blocks to be sealed, the oldest first; some may be sealed or gone by now.
    `left_bytes`: what the present step may still seal. There is no bound until somebody sets one, so that a
    replayed journal leaves nothing behind."""

    __slots__ = ("left_bytes", "waiting")

    def __init__(self) -> None:
        self.waiting: deque[Block] = deque()
        self.left_bytes = _NO_BOUND

    def add(self, block: Block) -> None:
        """Take `block`, which is full; seal what the present step may still seal. O(bytes sealed)."""
        self.waiting.append(block)
        self._seal()

    def step(self, size_bytes: int = STEP_BYTES) -> None:
        """Seal about `size_bytes` of what waits, at least one block. O(bytes sealed)."""
        self.left_bytes = size_bytes
        self._seal()

    def _seal(self) -> None:
        waiting = self.waiting
        while waiting and self.left_bytes > 0:
            block = waiting.popleft()
            if block.is_open:
                self.left_bytes -= block.seal()

    def clear(self) -> None:
        """Forget all blocks: all streams are gone."""
        self.waiting.clear()
