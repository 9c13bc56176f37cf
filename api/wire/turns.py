"""Long work on the event loop, done in slices: other requests are served between them.

It owns how much one slice may hold. It never knows what the work is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

from tailrace.core.limits import KIB

SLICE_BYTES: Final = 128 * KIB
"""JSON text that is read or written before others are served: about 20 ms of small entries."""

PART_BYTES: Final = 64
"""What a piece of text costs beside its bytes."""


class Slices:
    """Counts the work of one request, and serves others whenever a slice of it is done."""

    __slots__ = ("_left_bytes",)

    def __init__(self) -> None:
        self._left_bytes = SLICE_BYTES

    async def count(self, size_bytes: int) -> None:
        """So much text was read or written."""
        self._left_bytes -= size_bytes + PART_BYTES
        if self._left_bytes <= 0:
            await asyncio.sleep(0)
            self._left_bytes = SLICE_BYTES

    async def gather(self, parts: Iterable[bytes]) -> list[bytes]:
        """All `parts`, which are made one by one."""
        gathered: list[bytes] = []
        for part in parts:
            gathered.append(part)
            await self.count(len(part))
        return gathered
