"""Pending units in order of delivery time: a doubly linked list, and an index of its distinct times.

    unowned (nacked), in order of their nack  |  t1 t1 t2 t5 t5 ...   oldest first, then first come
                                              ^ delivered_at_ms rises

Almost every change puts a unit at the end with the time "now": that is O(1). A unit with an older
time (XCLAIM IDLE or TIME) goes behind the last unit of the greatest time that is not above its own,
found in the index: O(log t), t distinct times. Taking a unit out is O(1), and O(log t) where it was
the last of its time. CLAIM walks from the head. The list knows units only, not what they stand for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tailrace.core.pending.sorted_view import SortedView

if TYPE_CHECKING:
    from tailrace.core.pending.units import Unit

UNOWNED_TIME: Final = -1
"""The list's own time for units without an owner: before every time, also before 0."""


def _time_of(unit: Unit) -> int:
    return unit.delivered_at_ms if unit.consumer is not None else UNOWNED_TIME


class DeliveryOrder:
    """All units of one group. A unit is in the list once, linked by its own `prev` and `next`.

    `last_of_time`: each distinct time and the last unit that has it.
    """

    __slots__ = ("_times", "head", "last_of_time", "tail")

    def __init__(self) -> None:
        self.head: Unit | None = None
        self.tail: Unit | None = None
        self.last_of_time: dict[int, Unit] = {}
        self._times = SortedView(self.last_of_time)

    def __iter__(self) -> Iterator[Unit]:
        """From the head. The unit given last may be removed meanwhile, others may not."""
        unit = self.head
        while unit is not None:
            following = unit.next
            yield unit
            unit = following

    def add(self, unit: Unit) -> None:
        """Put `unit` behind all that are not younger. O(1) at the end, else O(log t)."""
        time = _time_of(unit)
        if self.tail is None or time >= _time_of(self.tail):
            self._link(self.tail, unit)
        else:
            before = next(self.times_up_to(time), None)
            self._link(None if before is None else self.last_of_time[before], unit)
        if time not in self.last_of_time:
            self._times.note((time,))
        self.last_of_time[time] = unit

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
        """Take `unit` out; its time and owner must still be those with which it was added."""
        time = _time_of(unit)
        before, after = unit.prev, unit.next
        if self.last_of_time[time] is unit:
            if before is not None and _time_of(before) == time:
                self.last_of_time[time] = before
            else:
                del self.last_of_time[time]
                self._times.note((time,))
        self._unlink(before, after)
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
        """Put `new` right behind `unit`, with the same owner and time: a run was cut in two."""
        self._link(unit, new)
        time = _time_of(new)
        if self.last_of_time[time] is unit:
            self.last_of_time[time] = new

    def oldest_owned_ms(self) -> int | None:
        """The earliest time of delivery of a unit that has an owner; None where none has one. O(1)."""
        unowned = self.last_of_time.get(UNOWNED_TIME)
        oldest = self.head if unowned is None else unowned.next
        return None if oldest is None else oldest.delivered_at_ms

    def times_up_to(self, time: int) -> Iterator[int]:
        """The distinct times at or before `time`, falling; O(log t) for the first one."""
        return self._times.up_to(time)
