"""Whole numbers (ids, times) in order, of a set or table that changes far more often than it is read so.

Whoever owns the members changes them, and notes here which came or went; a view that nobody reads costs
a call for that and holds nothing: a claim moves a thousand entries and nobody may ever ask for their
order. The order is made when it is asked for. From then on what changes is remembered, until that is
more than making the order anew would be worth.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from sortedcontainers import SortedList

_CHANGES_SHARE: Final = 4
"""A view is made anew when more than one in so many members changed."""


class SortedView:
    """n: members, c: of them changed since the last look. A look costs O(c log n) beside its own."""

    __slots__ = ("_changed", "_members", "_order")

    def __init__(self, members: Collection[int]) -> None:
        """`members` is looked at whenever the view is read: it must stay the same object."""
        self._members = members
        self._order: SortedList[int] | None = None
        self._changed: set[int] = set()

    def note(self, values: Collection[int]) -> None:
        """`values` have become members, or are none any more. O(1) where nobody looked, else O(values)."""
        if self._order is None:
            return
        self._changed.update(values)
        if len(self._changed) * _CHANGES_SHARE > len(self._members):
            self._order = None
            self._changed.clear()

    def from_(self, start: int) -> Iterator[int]:
        """Members at or after `start`, rising; they must not change meanwhile."""
        return self._settled().irange(start)

    def between(self, first: int, last: int) -> Iterator[int]:
        """Members from `first` to `last`, rising; they must not change meanwhile."""
        return self._settled().irange(first, last)

    def count_between(self, first: int, last: int) -> int:
        """How many members are not below `first` and not above `last`."""
        order = self._settled()
        return order.bisect_right(last) - order.bisect_left(first)

    def up_to(self, end: int) -> Iterator[int]:
        """Members at or before `end`, falling; they must not change meanwhile."""
        return self._settled().irange(maximum=end, reverse=True)

    def last(self) -> int | None:
        """The greatest member, None where there is none."""
        order = self._settled()
        return order[-1] if order else None

    def _settled(self) -> SortedList[int]:
        if self._order is None:
            self._order = SortedList(self._members)
            return self._order
        for value in self._changed:
            self._order.discard(value)
        self._order.update(value for value in self._changed if value in self._members)
        self._changed.clear()
        return self._order
