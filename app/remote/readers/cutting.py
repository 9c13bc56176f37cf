"""Cuts replies to the limits of a read: of engines without MAXCOUNT, and of reads that several readers
share."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from tailrace.core.bounds.reply_room import ITEM_BYTES
from tailrace.core.commands import ReadLimits
from tailrace.core.limits import READ_ENTRIES_MAX, REPLY_BYTES_MAX
from tailrace.core.replies import Entries, ReadReply, StreamRead
from tailrace.core.stream_id import StreamId


def cut_to(reply: ReadReply, limits: ReadLimits) -> ReadReply:
    """Return the first entries of the reply, up to the limits. O(entries)."""
    left_count = min(limits.max_count or READ_ENTRIES_MAX, READ_ENTRIES_MAX)
    left_bytes = _bytes_max(limits)
    reads = []
    for read in reply.streams:
        most = left_count if limits.count is None else min(left_count, limits.count)
        entries = _fitting(read.entries.first(most), left_bytes)
        left_count -= len(entries)
        left_bytes -= _size_bytes(entries.fragments)
        reads.append(read if len(entries) == len(read.entries) else _shorter(read, entries))
    return ReadReply(reads)


def _bytes_max(limits: ReadLimits) -> int:
    given = [each for each in (limits.max_bytes, limits.page_bytes) if each is not None]
    # MAXSIZE counts as RESP does; a reply that the engine cut by it stays as it is.
    return min([*given, REPLY_BYTES_MAX]) if limits.max_bytes is None else REPLY_BYTES_MAX


def _fitting(entries: Entries, left_bytes: int) -> Entries:
    if _size_bytes(entries.fragments) <= left_bytes:
        return entries
    count = 0
    for fragment in entries.fragments:
        if left_bytes <= 0:
            break
        left_bytes -= ITEM_BYTES + len(fragment or b"")
        count += 1
    return entries.first(count)


def _size_bytes(fragments: Sequence[bytes | None]) -> int:
    return sum(len(each or b"") + ITEM_BYTES for each in fragments)


def _shorter(read: StreamRead, entries: Entries) -> StreamRead:
    following = entries.ids[-1] if entries.ids else read.entries.ids[0] - 1
    return StreamRead(read.key, entries, following, read.new, read.history, read.cut)


def after(read: StreamRead, position: StreamId) -> StreamRead:
    """Return the read of one stream without the entries up to `position`. O(log entries)."""
    ids = read.entries.ids
    start = bisect_right(ids, position)
    entries = read.entries.part(start, len(ids)) if start else read.entries
    return StreamRead(read.key, entries, next=entries.ids[-1] if entries.ids else position)
