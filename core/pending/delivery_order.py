"""Pending units in order of delivery time: a doubly linked list, and an index of its distinct times.

    unowned (nacked), in order of their nack  |  t1 t1 t2 t5 t5 ...   oldest first, then first come
                                              ^ delivered_at_ms rises

Almost every change adds a unit at the end with the current time: O(1). A unit with an older time (XCLAIM IDLE
or TIME) goes after the last unit of the greatest time that is not above its own, found in the index: O(log t)
for t distinct times. Removing a unit is O(1), or O(log t) if it was the last unit of its time. CLAIM walks
from the head. The list never looks at the entries of a unit.

Entries that are deleted while they are pending stay pending, and CLAIM skips them. So that it skips them only
once, the list remembers up to which unit its caller has found nothing but deleted entries: `passed`.

A removal of many entries leaves their units in the list for a while (`core.pending.bulk_removal`), and
iterating skips them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Final, TypeAlias, cast

from tailrace.core.pending.sorted_view import SortedView
from tailrace.core.pending.strip import Strip
from tailrace.core.pending.units import Unit

UNOWNED_TIME: Final = -1
"""The time under which the list files units without an owner: before every real time, which is 0 or more.

Delayed units have no owner either. They are in a list of their own, under the time at which they can be
claimed.
"""


IsGone: TypeAlias = Callable[[Unit], bool]


def _time_of(unit: Unit) -> int:
    return unit.delivered_at_ms if unit.consumer is not None else unit.delivered_at_ms or UNOWNED_TIME


class DeliveryOrder:
    """All units of one group. Each unit is in the list once, linked by its `prev` and `next`."""

    __slots__ = ("_times", "head", "is_gone", "last_of_time", "passed", "tail")

    def __init__(self) -> None:
        # The first and the last unit; None if the list is empty.
        self.head: Unit | None = None
        self.tail: Unit | None = None
        # The last of the units, from the head on, of which the caller said that they have no live entry; None
        # if there are none. A hint that saves time, neither stored nor copied.
        self.passed: Unit | None = None
        # Whether a unit in the list has no pending entry; None if all units have some.
        self.is_gone: IsGone | None = None
        # Each distinct time (UNOWNED_TIME for unowned units), and the last unit that has it.
        self.last_of_time: dict[int, Unit] = {}
        # The keys of `last_of_time` in rising order, sorted at the first use.
        self._times = SortedView(self.last_of_time)

    def __iter__(self) -> Iterator[Unit]:
        """Iterate from the head, over the entries of strips one by one. The caller may remove what was
        yielded last, and nothing else."""
        return opened(self.units())

    def units(self) -> Iterator[Unit]:
        """Iterate from the head, over strips as they are, and not over units without a pending entry."""
        return _units_from(self.head, self.is_gone)

    def not_passed(self) -> Iterator[Unit]:
        """Iterate from the unit after `passed`, as `units` does."""
        return _units_from(self.head if self.passed is None else self.passed.next, self.is_gone)

    def next_not_passed(self, unit: Unit | None) -> Unit | None:
        """Return the unit after `unit`, or for None the first one after `passed`; None at the end. O(1)."""
        before, is_gone = unit or self.passed, self.is_gone
        unit = self.head if before is None else before.next
        while unit is not None and is_gone is not None and is_gone(unit):
            unit = unit.next
        return unit

    def pass_over(self, unit: Unit) -> None:
        """Remember that no unit up to and with `unit` has a live entry. O(1)."""
        self.passed = unit

    def look_again(self) -> None:
        """Forget `passed`: ids that were deleted may be used again. O(1)."""
        self.passed = None

    def add(self, unit: Unit) -> None:
        """Insert `unit` after all units of its time or older. O(1) at the end, else O(log t)."""
        if self.add_last(unit):
            return
        time = _time_of(unit)
        earlier = next(self.times_up_to(time), None)
        before = None if earlier is None else self.last_of_time[earlier]
        if self.passed is not None and time < _time_of(self.passed):
            self.passed = before
        self._link(before, unit)
        self._file(unit, time)

    def add_last(self, unit: Unit) -> bool:
        """Insert `unit` at the end, if it belongs there; return whether it does. O(1)."""
        time, tail = unit.delivered_at_ms if unit.consumer is not None else _time_of(unit), self.tail
        if tail is None:
            self.head = unit
        elif time >= tail.delivered_at_ms or time >= _time_of(tail):
            tail.next = unit
        else:
            return False
        unit.prev, unit.next = tail, None
        self.tail = unit
        self._file(unit, time)
        return True

    def insert(self, before: Unit | None, unit: Unit) -> None:
        """Insert `unit` after `before`, whose time is not above its own, or as the first one. O(1)."""
        self._link(before, unit)
        time = _time_of(unit)
        if unit.next is None or _time_of(unit.next) != time:
            self._file(unit, time)

    def strip_around(self, unit: Unit) -> Strip | None:
        """Return the strip that `unit`, which is to be added before the end, divides: one with entries at or
        before its time, filed under a later time. O(log t)."""
        time = _time_of(unit)
        earlier = next(self.times_up_to(time), None)
        following = self.head if earlier is None else self.last_of_time[earlier].next
        is_around = isinstance(following, Strip) and following.first_at_ms <= time
        return cast("Strip", following) if is_around else None

    def file_by_last_entry(self, strip: Strip) -> None:
        """File `strip`, whose last entries were removed, under the time of its last live entry. O(1)."""
        self._unfile(strip, strip.delivered_at_ms, strip.prev)
        strip.delivered_at_ms = strip.last_at_ms
        self._file(strip, strip.delivered_at_ms)

    def _file(self, unit: Unit, time: int) -> None:
        if time not in self.last_of_time:
            self._times.note((time,))
        self.last_of_time[time] = unit

    def _unfile(self, unit: Unit, time: int, before: Unit | None) -> None:
        if self.last_of_time[time] is unit:
            if before is not None and _time_of(before) == time:
                self.last_of_time[time] = before
            else:
                del self.last_of_time[time]
                self._times.note((time,))

    def _link(self, before: Unit | None, unit: Unit) -> None:
        after = self.head if before is None else before.next
        unit.prev, unit.next = before, after
        if before is None:
            self.head = unit
        else:
            before.next = unit
        if after is None:
            self.tail = unit
        else:
            after.prev = unit

    def discard(self, unit: Unit) -> None:
        """Remove `unit`; its time and owner must not have changed since it was added. O(1), or O(log t) if it
        was the last unit of its time."""
        time = _time_of(unit)
        before, after = unit.prev, unit.next
        if self.passed is unit:
            self.passed = before
        self._unfile(unit, time, before)
        self._unlink(before, after)
        unit.prev = unit.next = None

    def discard_all(self, units: Collection[Unit]) -> None:
        """As `discard`, for many units. O(units)."""
        last_of_time = self.last_of_time
        for unit in units:
            before, after = unit.prev, unit.next
            if before is None:
                self.head = after
            else:
                before.next = after
            if after is None:
                self.tail = before
            else:
                after.prev = before
            if unit is self.passed:
                self.passed = before
            time = _time_of(unit) if unit.consumer is None else unit.delivered_at_ms
            if last_of_time[time] is unit:
                if before is not None and _time_of(before) == time:
                    last_of_time[time] = before
                else:
                    del last_of_time[time]
                    self._times.note((time,))
            unit.prev = unit.next = None

    def _unlink(self, before: Unit | None, after: Unit | None) -> None:
        if before is None:
            self.head = after
        else:
            before.next = after
        if after is None:
            self.tail = before
        else:
            after.prev = before

    def insert_after(self, unit: Unit, new: Unit) -> None:
        """Insert `new`, the upper part of a split run, right after `unit`, the lower part. O(1)."""
        self._link(unit, new)
        if self.passed is unit:
            self.passed = new
        time = _time_of(new)
        if self.last_of_time[time] is unit:
            self.last_of_time[time] = new
        if isinstance(unit, Strip) and unit.last_at_ms < time:
            unit.delivered_at_ms = unit.last_at_ms
            self._file(unit, unit.delivered_at_ms)

    def oldest_owned_ms(self) -> int | None:
        """Return the earliest delivery time of a unit after `passed` that has an owner, None if there is
        none. O(1)."""
        before = self.last_of_time.get(UNOWNED_TIME)
        if self.passed is not None and self.passed.consumer is not None:
            before = self.passed
        oldest = next(_units_from(self.head if before is None else before.next, self.is_gone), None)
        if isinstance(oldest, Strip):
            return oldest.first_at_ms
        return None if oldest is None else oldest.delivered_at_ms

    def times_up_to(self, time: int) -> Iterator[int]:
        """Return the distinct times at or before `time`, falling; UNOWNED_TIME is the last one if units are
        unowned. O(log t) for the first time."""
        return self._times.up_to(time)


def opened(units: Iterator[Unit]) -> Iterator[Unit]:
    """Yield `units`, and the entries of strips in place of these."""
    for unit in units:
        if isinstance(unit, Strip):
            yield from unit.entries()
        else:
            yield unit


def _units_from(unit: Unit | None, is_gone: IsGone | None) -> Iterator[Unit]:
    while unit is not None:
        following = unit.next
        if is_gone is None or not is_gone(unit):
            yield unit
        unit = following
