"""Long work of one request, done in slices or in a thread: other requests are served meanwhile.

It owns how much one slice may hold, and what is worth a thread. It never knows what the work is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from tailrace.core.limits import KIB

SLICE_BYTES: Final = 128 * KIB
"""JSON text that is read or written before others are served: about 20 ms of small entries."""

PART_BYTES: Final = 64
"""What a piece of text costs beside its bytes."""


AT_ONCE_BYTES_MAX: Final = 256 * KIB
"""A body up to this size is decoded at once, in 3 ms; in 30 ms where its entries are small and in base64."""

T = TypeVar("T")


async def off_the_loop(size_bytes: int, work: Callable[[], T]) -> T:
    """The result of `work`, which reads `size_bytes` and shares nothing: in a thread if they are many.

    Most of such work holds Python's lock, but hands it over every 5 ms, or after each pass over the bytes.
    """
    return work() if size_bytes <= AT_ONCE_BYTES_MAX else await asyncio.to_thread(work)


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
