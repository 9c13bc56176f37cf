"""The progress of a group: its counter of entries read, and its lag (rules 56 to 59).

Both are exact if no entry was deleted after the group's position, or if the position is at an end of the
stream. Otherwise they are unknown: None. `unread_count` then counts in the index, which Redis cannot do. The
functions change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core.group import Group
from tailrace.core.stream import Stream
from tailrace.core.stream_id import SEQ_BITS, StreamId


def _tombstone_ahead(stream: Stream, position: StreamId) -> bool:
    """Return whether an entry at or after `position` was deleted; False for an empty stream."""
    return bool(stream.length and stream.max_deleted_id) and position <= stream.max_deleted_id


def estimate_entries_read(stream: Stream, position: StreamId) -> int | None:
    """Return how many entries were ever added at or before `position`, None if unknown (rule 58). O(1).

    The stream must not be empty.
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
    """Return the counter of entries read after a group at `position` delivered the entries `delivered`,
    rising.

    O(1) in the common case: after the first entry that can be counted, all later ones can. Else O(m).
    """
    for index, value in enumerate(delivered):
        if entries_read is not None and _counts_on(stream, position):
            return entries_read + len(delivered) - index
        entries_read = estimate_entries_read(stream, value)
        position = value
    return entries_read


def _counts_on(stream: Stream, position: StreamId) -> bool:
    return position >= stream.first_id and not _tombstone_ahead(stream, position)


def unread_count(stream: Stream, group: Group, *, decode: bool = True) -> int | None:
    """Return how many entries the group has not delivered yet: `lag_of`, or where that is unknown, the count
    from the block index. None as `BlockIndex.count_above`, so only if `decode` is False. O(log b)."""
    lag = lag_of(stream, group)
    if lag is not None:
        return lag
    above = stream.log.count_above(group.last_delivered_id, decode=decode)
    return None if above is None else above + group.held_count


def unread_since_ms(stream: Stream, group: Group, *, decode: bool = True) -> int | None:
    """Return the time in the id of the oldest entry that the group has not read, in Unix milliseconds; None
    if it has read all, or as `BlockIndex.first_after` if `decode` is False. A held entry is not read.
    O(log b)."""
    if group.held_count:
        return group.needed_from >> SEQ_BITS
    first = stream.log.first_after(group.last_delivered_id, decode=decode)
    return None if first is None else first >> SEQ_BITS


def lag_of(stream: Stream, group: Group) -> int | None:
    """Return how many entries the group has not delivered yet, None if unknown (rule 59). O(1).

    It is unknown if XSETID has set the stream's counter below that of the group; Redis then shows a negative
    number.
    """
    if not stream.entries_added or not stream.length:
        return 0
    first_id, position = stream.first_id, group.last_delivered_id
    if position < first_id and stream.max_deleted_id < first_id:
        return stream.length
    known = group.entries_read
    if known is None or _tombstone_ahead(stream, position):
        known = estimate_entries_read(stream, position)
    if known is None or known > stream.entries_added:
        return None
    return stream.entries_added - known + group.held_count
