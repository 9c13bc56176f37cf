"""The blocks that are full and not sealed yet, over all streams of a keyspace, in the order they were filled.

Sealing compresses a block, about 20 us for one of 4 KiB. An import of 64 MiB fills 16 000 blocks in one step,
and sealing them all in that step would block the writer for half a second. So each step seals about
`STEP_BYTES`, and the other blocks wait here. A waiting block is read and loses entries like any other block.
The owner of the engine decides when the next step runs; this module never does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

from tailrace.core.limits import MIB
from tailrace.core.log.block import Block

STEP_BYTES: Final = MIB
"""The bytes that one command, or all commands of one transaction, may seal: 5 to 10 ms. An ordinary append
fills less, so that no block waits after it."""

_NO_BOUND: Final = 1 << 62


class SealingQueue:
    """The full blocks of a keyspace that are not sealed yet."""

    __slots__ = ("left_bytes", "waiting")

    def __init__(self) -> None:
        # Full blocks, the oldest first. Some may have been sealed, or dropped from their log, in the
        # meantime.
        self.waiting: deque[Block] = deque()
        # The bytes that the current step may still seal; may be negative. Without limit until the engine sets
        # it, so that after a replay of the journal no block waits.
        self.left_bytes = _NO_BOUND

    def add(self, blocks: Sequence[Block]) -> None:
        """Add `blocks`, which are full, and seal as many blocks as the current step allows. O(blocks + bytes
        sealed)."""
        self.waiting.extend(blocks)
        if self.left_bytes > 0:
            self._seal()

    def add_joined(self, block: Block, text: bytes) -> None:
        """Add a full block whose fragments are joined already, as `Block.seal` needs them. O(bytes) if the
        block is sealed in this step."""
        if self.left_bytes > 0:
            self.left_bytes -= block.seal(text)
        else:
            self.waiting.append(block)

    def step(self, size_bytes: int = STEP_BYTES) -> None:
        """Begin a step: seal about `size_bytes` of the waiting blocks, at least one block. O(bytes
        sealed)."""
        self.left_bytes = size_bytes
        self._seal()

    def _seal(self) -> None:
        waiting = self.waiting
        while waiting and self.left_bytes > 0:
            block = waiting.popleft()
            if block.is_open:
                self.left_bytes -= block.seal()

    def clear(self) -> None:
        """Forget all blocks, after all streams were deleted."""
        self.waiting.clear()
