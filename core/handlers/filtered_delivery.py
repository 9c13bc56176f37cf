"""Deliveries of a group with a filter: which entries a read examines, and which of them it may deliver.

A read examines a limited number of entries after the group's position. The position moves over all that it
examined, so the next read continues there and no entry is examined twice. An entry that does not match counts
as read, and never becomes pending. This module changes nothing; `core.handlers.group_reader` records the
delivery.
"""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core.commands import Counted
from tailrace.core.execution import Execution
from tailrace.core.filters import Filter, compile_filter
from tailrace.core.group import Group
from tailrace.core.limits import FILTER_STEP_BYTES
from tailrace.core.replies import NO_ENTRIES, Entries
from tailrace.core.stream import Stream
from tailrace.core.stream_id import StreamId


def filter_of(group: Group) -> Filter | None:
    """Return the filter in the settings of a group, None without one. O(1) but for the first time."""
    text = None if group.settings is None else group.settings.filter
    if text is None:
        return None
    if group.compiled_filter is None or group.compiled_filter.text != text:
        group.compiled_filter = compile_filter(text)
    return group.compiled_filter


class FilterScan:
    """What one command may still examine. `is_behind`: whether entries remain that it could not examine."""

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        # In parts of a step: a filter with many tests examines fewer entries.
        self._left = 1.0
        self._left_bytes = FILTER_STEP_BYTES
        self.is_behind = False

    def after(self, stream: Stream, position: StreamId, wanted: Filter) -> Examined:
        """Examine entries after `position`; the stream has at least one. O(log n + bytes examined)."""
        entries = self.take(stream, position, wanted.step_entries)
        if not entries.ids:
            return Examined((), NO_ENTRIES)
        self.is_behind |= stream.log.last_id > entries.ids[-1]
        return Examined(entries.ids, wanted.select(entries))

    def take(
        self, stream: Stream, position: StreamId, step_entries: int, count: int | None = None
    ) -> Entries:
        """Return up to `count` entries after `position`, at least one, and charge them. Return none, and set
        `is_behind`, if the command may examine no more. `step_entries`: how many one command may examine.
        O(log n + bytes)."""
        most = min(int(self._left * step_entries), self._execution.filter_entries_left)
        if most <= 0 or self._left_bytes <= 0:
            self.is_behind = True
            return NO_ENTRIES
        most = most if count is None else min(most, count)
        ids, fragments = stream.log.range(position + 1, count=most, max_bytes=self._left_bytes)
        self._left -= len(ids) / step_entries
        self._execution.filter_entries_left -= len(ids)
        self._left_bytes -= sum(map(len, fragments))
        return Entries(ids, fragments)


def count_matching(
    scan: FilterScan, stream: Stream, group: Group, wanted: Filter, before: Counted | None, most: int
) -> Counted:
    """Count up to `most` entries after the position of the group that match, beginning with what was counted
    `before`. A deleted entry stays counted. If the command may examine no more, `scan.is_behind` is set.
    O(log n + bytes examined)."""
    position = group.last_delivered_id
    if before is None or (before.filter, before.position) != (wanted.text, position):
        before = Counted(wanted.text, position, position, 0)
    examined_id, matching = before.examined_id, before.matching
    while matching < most and stream.log.last_id > examined_id:
        some = scan.take(stream, examined_id, wanted.step_entries)
        if not some.ids:
            break
        matching += len(wanted.select(some))
        examined_id = some.ids[-1]
    return Counted(wanted.text, position, examined_id, matching)


class Examined:
    """The entries that one read examined, and those that match."""

    def __init__(self, ids: Sequence[StreamId], matching: Entries) -> None:
        self._ids = ids
        self.matching = matching

    def passed(self, delivered: int) -> Sequence[StreamId]:
        """Return the ids that the position moves over if the first `delivered` matching entries are
        delivered: all up to the next one that matches. O(entries)."""
        if delivered == len(self.matching):
            return self._ids
        return self._ids[: self._ids.index(self.matching.ids[delivered])]
