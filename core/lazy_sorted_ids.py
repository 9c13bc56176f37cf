"""A set of ids that is changed far more often than it is read in order.

Adding and discarding are O(1): a claim moves a thousand entries and nobody may ever ask for their
order. The order is made when it is asked for, and pays only for what changed since the last time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sortedcontainers import SortedList

from core.stream_id import StreamId


class LazySortedIds:
    """Add and discard O(1) an id; reading in order O(log n + m) after O(c log n) for c changes."""

    __slots__ = ("_added", "_dead", "_members", "_sorted")

    def __init__(self) -> None:
        self._members: set[StreamId] = set()
        self._added: set[StreamId] = set()
        self._sorted: SortedList[StreamId] = SortedList()
        self._dead: set[StreamId] = set()

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, value: StreamId) -> bool:
        return value in self._members

    def add(self, ids: Collection[StreamId]) -> None:
        """`ids`, distinct, must not be members. O(m) in C."""
        self._members.update(ids)
        if not self._dead:
            self._added.update(ids)
            return
        back = self._dead.intersection(ids)
        self._dead -= back
        self._added.update(set(ids) - back if back else ids)

    def discard(self, ids: Collection[StreamId]) -> None:
        """`ids`, distinct, must be members. O(m) in C."""
        self._members.difference_update(ids)
        fresh = self._added.intersection(ids)
        self._added -= fresh
        self._dead.update(set(ids) - fresh if fresh else ids)

    def from_(self, start: StreamId) -> Iterator[StreamId]:
        """Members at or after `start`, rising; the set must not change meanwhile."""
        self._settle()
        return self._sorted.irange(start)

    def _settle(self) -> None:
        if 4 * (len(self._added) + len(self._dead)) >= len(self._members):
            if self._added or self._dead:
                self._sorted = SortedList(self._members)
        else:
            for value in self._dead:
                self._sorted.remove(value)
            self._sorted.update(self._added)
        self._added.clear()
        self._dead.clear()

    def last(self) -> StreamId | None:
        """The greatest member, None where there is none."""
        self._settle()
        return self._sorted[-1] if self._sorted else None
