"""A rising order over a set or table of times, or of keys of ids, that changes far more often than the order
is read.

The owner of the members changes them, and calls `note` with the values that it added or removed. A view that
was never read costs one call per change and no memory. The first read sorts the members. From then on the
view remembers changed values, and drops its order when too many changed: sorting again is cheaper then. This
module never changes the members.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final, Generic, TypeVar

from sortedcontainers import SortedList

MemberT = TypeVar("MemberT", int, bytes)

_CHANGES_SHARE: Final = 4
"""A view drops its order when more than one in this many members changed since the last read."""


class SortedView(Generic[MemberT]):
    """n: members, c: values changed since the last read. Each read costs O(c log n) on top of its own
    cost."""

    __slots__ = ("_changed", "_members", "_order")

    def __init__(self, members: Collection[MemberT]) -> None:
        """Make a view of `members`, which must stay the same object. O(1)."""
        # The set or table, owned by the caller.
        self._members: Collection[MemberT] = members
        # The members in order, as of the last read but for `_changed`; None until a read needs it.
        self._order: SortedList[MemberT] | None = None
        # Values that may have been added or removed since the last read.
        self._changed: set[MemberT] = set()

    @property
    def is_sorted(self) -> bool:
        """Whether a read costs only the changes since the last one. If not, the next read sorts all
        members."""
        return self._order is not None

    def note(self, values: Collection[MemberT]) -> None:
        """Record that `values` were added or removed. O(1) before the first read, else O(values)."""
        if self._order is None:
            return
        self._changed.update(values)
        if len(self._changed) * _CHANGES_SHARE > len(self._members):
            self._order = None
            self._changed.clear()

    def from_(self, start: MemberT) -> Iterator[MemberT]:
        """Return the members at or after `start`, rising; they must not change during the iteration."""
        return self._current_order().irange(start)

    def count_between(self, first: MemberT, last: MemberT) -> int:
        """Return how many members are from `first` to `last`, both included. O(log n)."""
        order = self._current_order()
        return order.bisect_right(last) - order.bisect_left(first)

    def up_to(self, end: MemberT) -> Iterator[MemberT]:
        """Return the members at or before `end`, falling; they must not change during the iteration."""
        return self._current_order().irange(maximum=end, reverse=True)

    def last(self) -> MemberT | None:
        """Return the greatest member, None if there is none."""
        order = self._current_order()
        return order[-1] if order else None

    def _current_order(self) -> SortedList[MemberT]:
        if self._order is None:
            self._order = SortedList(self._members)
            return self._order
        for value in self._changed:
            self._order.discard(value)
        self._order.update(value for value in self._changed if value in self._members)
        self._changed.clear()
        return self._order
