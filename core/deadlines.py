"""When something of which streams or groups becomes due: so that none of them is examined too early.

Each place (a stream, or a group) that waits for a time has a deadline: a lower bound of that time. The bound
can be too early, if what became due first was removed: the place is then examined once for nothing. This
module never does what is due, and knows places by numbers and names only.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import Final, Generic, TypeVar

Place = TypeVar("Place", int, tuple[int, bytes])
"""A stream by its serial, or a stream or a group of it by serial and name."""

_STALE_SHARE: Final = 2
"""The heap is made again when it has more than this many items for each place."""

_STALE_MIN: Final = 1_000


class Deadlines(Generic[Place]):
    """The deadlines of the places of one keyspace, in Unix milliseconds. n: places with a deadline."""

    __slots__ = ("_at_ms", "_heap")

    def __init__(self) -> None:
        # The deadline of each place.
        self._at_ms: dict[Place, int] = {}
        # The same as `(deadline, place)`, least first. Items that `_at_ms` contradicts are stale.
        self._heap: list[tuple[int, Place]] = []

    def __bool__(self) -> bool:
        return bool(self._at_ms)

    def of(self, place: Place) -> int | None:
        """Return the deadline of the place, None if it has none. O(1)."""
        return self._at_ms.get(place)

    def first_ms(self) -> int | None:
        """Return the earliest deadline, None if there is none. O(1) amortised, and O(log n) for each stale
        item."""
        heap = self._heap
        while heap and self._at_ms.get(heap[0][1]) != heap[0][0]:
            heappop(heap)
        return heap[0][0] if heap else None

    def note(self, place: Place, at_ms: int) -> None:
        """Lower the deadline of the place to `at_ms`, or give it this one. O(log n) if it changes."""
        known = self._at_ms.get(place)
        if known is None or at_ms < known:
            self._at_ms[place] = at_ms
            heappush(self._heap, (at_ms, place))
            self._drop_stale()

    def forget(self, place: Place) -> None:
        """Remove the deadline of a place, if it has one. O(1) amortised."""
        if self._at_ms.pop(place, None) is not None:
            self._drop_stale()

    def _drop_stale(self) -> None:
        if len(self._heap) > _STALE_MIN + _STALE_SHARE * len(self._at_ms):
            self._heap = [(at_ms, place) for place, at_ms in self._at_ms.items()]
            heapify(self._heap)

    def take_due(self, now_ms: int, most: int) -> Iterator[Place]:
        """Remove and yield the places whose deadline has come, the earliest first, at most `most`.
        O(log n) each."""
        heap = self._heap
        while most and heap and heap[0][0] <= now_ms:
            at_ms, place = heappop(heap)
            if self._at_ms.get(place) == at_ms:
                del self._at_ms[place]
                most -= 1
                yield place
