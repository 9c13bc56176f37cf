"""Splits the long work of one request into slices, or runs it in a thread, so that other requests are served.

It owns the size of a slice, and the size from which a thread is worth its cost. It does not depend on the
kind of work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

import msgspec

from tailrace.core.limits import KIB

SLICE_BYTES: Final = 128 * KIB
"""Bytes of JSON text that one slice reads or writes: about 20 ms of work for small entries."""

PART_BYTES: Final = 64
"""The fixed cost of a piece of text, in bytes, added to its length."""

AT_ONCE_BYTES_MAX: Final = 256 * KIB
"""A body up to this size is decoded at once: in 3 ms, or in 30 ms if its entries are small and in base64."""

ROWS_PER_PIECE: Final = 500
"""Rows of a reply that are written at once: less than 2 ms."""

T = TypeVar("T")

_encode: Final = msgspec.json.Encoder().encode


async def off_the_loop(size_bytes: int, work: Callable[[], T]) -> T:
    """Return the result of `work`, which reads `size_bytes` and shares no state. Large work runs in a thread.

    Most such work holds Python's global lock, but releases it every 5 ms, or after each pass over the bytes.
    """
    return work() if size_bytes <= AT_ONCE_BYTES_MAX else await asyncio.to_thread(work)


class Slices:
    """Counts the work of one request, and lets the event loop serve other requests after each slice."""

    __slots__ = ("_left_bytes",)

    def __init__(self) -> None:
        self._left_bytes = SLICE_BYTES

    async def count(self, size_bytes: int) -> None:
        """Count `size_bytes` of text as read or written."""
        self._left_bytes -= size_bytes + PART_BYTES
        if self._left_bytes <= 0:
            await asyncio.sleep(0)
            self._left_bytes = SLICE_BYTES

    async def gather(self, parts: Iterable[bytes]) -> list[bytes]:
        """Return all `parts` as a list. Other requests run between slices of the work."""
        gathered: list[bytes] = []
        for part in parts:
            gathered.append(part)
            await self.count(len(part))
        return gathered

    async def rows(self, rows: Sequence[T], row_json: Callable[[T], object]) -> msgspec.Raw:
        """Return the JSON array of `row_json` of each of `rows`."""
        pieces = []
        for start in range(0, len(rows), ROWS_PER_PIECE):
            piece = _encode([row_json(row) for row in rows[start : start + ROWS_PER_PIECE]])[1:-1]
            pieces.append(piece)
            await self.count(len(piece))
        return msgspec.Raw(b"[%b]" % b",".join(pieces))
