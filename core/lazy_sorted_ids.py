"""A set of ids that is changed far more often than it is read in order.

Adding and discarding are O(1): a claim moves a thousand entries and nobody may ever ask for their
order. The order is made when it is asked for, and pays only for what changed since the last time.
"""

from __future__ import annotations

from collections.abc import Iterator

from sortedcontainers import SortedList

from core.stream_id import StreamId


class LazySortedIds:
    """Add O(1), discard O(1); reading in order O(log n + m) after O(c log n) for c changes."""

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

    def add(self, value: StreamId) -> None:
        """`value` must not be a member."""
        self._members.add(value)
        if value in self._dead:
            self._dead.discard(value)
        else:
            self._added.add(value)

    def discard(self, value: StreamId) -> None:
        """`value` must be a member."""
        self._members.discard(value)
        if value in self._added:
            self._added.discard(value)
        else:
            self._dead.add(value)

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
