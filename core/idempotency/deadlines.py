"""When the idempotency keys of which streams may expire: so that no stream is examined too early.

Each stream with keys that expire has a deadline: a lower bound of the time at which its first key expires.
The bound can be too early, after keys were forgotten by count: the stream is then examined once for nothing.
This module never forgets a key, and knows streams by their serials only.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import Final

_STALE_SHARE: Final = 2
"""The heap is made again when it has more than this many items for each stream."""

_STALE_MIN: Final = 1_000


class Deadlines:
    """The deadlines of the streams of one keyspace, in Unix milliseconds. n: streams with a deadline."""

    __slots__ = ("_at_ms", "_heap")

    def __init__(self) -> None:
        # The deadline of each stream by serial.
        self._at_ms: dict[int, int] = {}
        # The same as `(deadline, serial)`, least first. Items that `_at_ms` contradicts are stale.
        self._heap: list[tuple[int, int]] = []

    def of(self, serial: int) -> int | None:
        """Return the deadline of the stream, None if it has none. O(1)."""
        return self._at_ms.get(serial)

    def note(self, serial: int, at_ms: int) -> None:
        """Lower the deadline of the stream to `at_ms`, or give it this one. O(log n) if it changes."""
        known = self._at_ms.get(serial)
        if known is None or at_ms < known:
            self._at_ms[serial] = at_ms
            heappush(self._heap, (at_ms, serial))
            self._drop_stale()

    def forget(self, serial: int) -> None:
        """Remove the deadline of a stream, if it has one. O(1) amortised."""
        if self._at_ms.pop(serial, None) is not None:
            self._drop_stale()

    def _drop_stale(self) -> None:
        if len(self._heap) > _STALE_MIN + _STALE_SHARE * len(self._at_ms):
            self._heap = [(at_ms, serial) for serial, at_ms in self._at_ms.items()]
            heapify(self._heap)

    def take_due(self, now_ms: int, most: int) -> Iterator[int]:
        """Remove and yield the streams whose deadline has come, the earliest first, at most `most`.
        O(log n) each."""
        heap = self._heap
        while most and heap and heap[0][0] <= now_ms:
            at_ms, serial = heappop(heap)
            if self._at_ms.get(serial) == at_ms:
                del self._at_ms[serial]
                most -= 1
                yield serial
