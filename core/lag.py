"""How far a group has come: the counter of entries read, and the lag (rules 56 to 59).

Both are exact where no entry was deleted ahead of the group, or where the group stands at an end of
the stream; elsewhere they are not known, and None says so. Pure functions.
"""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core.group import Group
from tailrace.core.stream import Stream
from tailrace.core.stream_id import StreamId


def _tombstone_ahead(stream: Stream, position: StreamId) -> bool:
    """Whether an entry at or after `position` was deleted; False where the stream is empty."""
    return bool(stream.length and stream.max_deleted_id) and position <= stream.max_deleted_id


def estimate_entries_read(stream: Stream, position: StreamId) -> int | None:
    """How many entries were ever added at or before `position`, where the counters tell (rule 58).

    The stream has entries: nobody asks about an empty one, whose groups lag by nothing.
    """
    if position and position < stream.max_deleted_id:
        return None
    if position >= stream.last_id:
        return stream.entries_added if position == stream.last_id else None
    return _estimate_at_first(stream, position)


def _estimate_at_first(stream: Stream, position: StreamId) -> int | None:
    first_id = stream.first_id
    if position > first_id or stream.max_deleted_id >= first_id:
        return None
    return stream.entries_added - stream.length + (position == first_id)


def entries_read_after(
    stream: Stream, position: StreamId, entries_read: int | None, delivered: Sequence[StreamId]
) -> int | None:
    """The counter after a group at `position` was given the entries `delivered`, one after another.

    O(1) in the common case: from the first entry on that can be counted, all others can.
    """
    for index, value in enumerate(delivered):
        if entries_read is not None and _counts_on(stream, position):
            return entries_read + len(delivered) - index
        entries_read = estimate_entries_read(stream, value)
        position = value
    return entries_read


def _counts_on(stream: Stream, position: StreamId) -> bool:
    return position >= stream.first_id and not _tombstone_ahead(stream, position)


def lag_of(stream: Stream, group: Group) -> int | None:
    """How many entries the group has yet to be given, None where that is not known (rule 59)."""
    if not stream.entries_added or not stream.length:
        return 0
    first_id, position = stream.first_id, group.last_delivered_id
    if position < first_id and stream.max_deleted_id < first_id:
        return stream.length
    known = group.entries_read
    if known is None or _tombstone_ahead(stream, position):
        known = estimate_entries_read(stream, position)
    return None if known is None else stream.entries_added - known
