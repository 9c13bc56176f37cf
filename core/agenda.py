"""The agenda of a keyspace: what becomes visible or claimable at a time, of which stream or group.

It has the deadlines of schedules and of delayed retries, and the number of scheduled entries of all streams,
which is limited. The owner of the engine sets `alarm` and arms a timer with it: the agenda has no clock.
Nothing here is stored: recovery adds each stream again. This module never publishes an entry.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from tailrace.core.deadlines import Deadlines
from tailrace.core.group import Group
from tailrace.core.stream import Stream

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
            if group.pending.held is not None:
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
