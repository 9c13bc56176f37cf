"""When something becomes due, of which stream or group: so that none of them is examined too early.

`Deadlines` has a deadline for each place (a stream, or a group) that waits for a time: a lower bound of that
time. The bound can be too early, if what became due first was removed: the place is then examined once for
nothing. The agenda of a keyspace has the deadlines of schedules and of delayed retries, and the number of
scheduled entries of all streams, which is limited.

With 100 000 places, finding the first deadline takes 0.2 us; examining all of them takes 2 ms.

The owner of the engine sets `alarm` and arms a timer with it: the agenda has no clock. Nothing here is
stored: recovery adds each stream again. This module never does what is due.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from typing import Final, Generic, TypeAlias, TypeVar

from tailrace.core.group import Group
from tailrace.core.stream import Stream

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


DuePlace: TypeAlias = tuple[int, bytes]
"""The serial of a stream, and the name of one of its groups, or `OF_SCHEDULE`."""

OF_SCHEDULE: Final = b""
"""In place of a group's name, which is never empty: the schedule of the stream."""


def _no_alarm(_at_ms: int) -> None:
    """Do nothing: no timer waits."""


class Agenda:
    """The agenda of one keyspace."""

    def __init__(self) -> None:
        # When something of which places becomes due. A hint: it may be too early.
        self.due: Deadlines[DuePlace] = Deadlines()
        # Called with a time when it becomes the first deadline.
        self.alarm: Callable[[int], None] = _no_alarm
        # Scheduled entries of all streams, and their bytes.
        self.scheduled_count = 0
        self.scheduled_bytes = 0

    def clear(self) -> None:
        """Forget everything but the alarm, because all streams are deleted. O(1)."""
        self.due = Deadlines()
        self.scheduled_count = self.scheduled_bytes = 0

    def add(self, stream: Stream) -> None:
        """Add what a stream, which has joined the keyspace, waits for. O(groups)."""
        if stream.schedule is not None:
            self.count(len(stream.schedule.entries), stream.schedule.size_bytes)
            self.note_schedule(stream)
        for group in stream.groups.values():
            self.note_group(stream, group)

    def remove(self, stream: Stream) -> None:
        """Remove what a stream, which leaves the keyspace, waits for. O(1) if nothing waits, else
        O(groups)."""
        if stream.schedule is not None:
            self.count(-len(stream.schedule.entries), -stream.schedule.size_bytes)
        if self.due:
            self.due.forget((stream.serial, OF_SCHEDULE))
            for name in stream.groups:
                self.due.forget((stream.serial, name))

    def count(self, entries: int, size_bytes: int) -> None:
        """Count scheduled entries that were added, or removed, if negative. O(1)."""
        self.scheduled_count += entries
        self.scheduled_bytes += size_bytes

    def note_schedule(self, stream: Stream) -> None:
        """File the stream under the time of its first scheduled entry, if it has one. O(log n)."""
        first_ms = None if stream.schedule is None else stream.schedule.first_ms
        if first_ms is not None:
            self.note((stream.serial, OF_SCHEDULE), first_ms)

    def note_group(self, stream: Stream, group: Group) -> None:
        """File the group under the time of its first delayed retry, if it has one. O(log n)."""
        first_ms = group.pending.first_held_ms
        if first_ms is not None:
            self.note((stream.serial, group.name), first_ms)

    def note(self, place: DuePlace, at_ms: int) -> None:
        """File a place under a time, and set the alarm if it is the first one. O(log n)."""
        first_ms = self.due.first_ms()
        self.due.note(place, at_ms)
        if first_ms is None or at_ms < first_ms:
            self.alarm(at_ms)
