"""Cuts replies to the limits of a read, for engines without MAXCOUNT and for reads that readers share."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from tailrace.core.bounds.reply_budget import ReplyBudget
from tailrace.core.bounds.reply_room import ITEM_BYTES
from tailrace.core.commands import ReadLimits
from tailrace.core.limits import REPLY_BYTES_MAX
from tailrace.core.replies import NO_ENTRIES, Entries, ReadReply, StreamRead
from tailrace.core.stream_id import StreamId


def cut_to(reply: ReadReply, limits: ReadLimits) -> ReadReply:
    """Return the first entries of the reply, up to the limits. O(entries), and O(bytes) with MAXSIZE."""
    budget = ReplyBudget(limits)
    left_bytes = REPLY_BYTES_MAX if limits.page_bytes is None else min(limits.page_bytes, REPLY_BYTES_MAX)
    reads = []
    for read in reply.streams:
        entries = read.entries if limits.count is None else read.entries.first(limits.count)
        entries = _fitting(entries, left_bytes)
        is_reached = bool(entries.ids) and not budget.is_spent
        if is_reached:
            budget.begin_stream(read.key)
            entries = entries.first(budget.spend(entries))
            budget.end_stream(len(entries))
        else:
            entries = NO_ENTRIES
        left_bytes -= _size_bytes(entries.fragments)
        is_whole = len(entries) == len(read.entries) and not (read.cut and budget.is_spent)
        reads.append(read if is_whole else _shorter(read, entries, is_cut=is_reached and not entries.ids))
    return ReadReply(reads)


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


def _shorter(read: StreamRead, entries: Entries, *, is_cut: bool) -> StreamRead:
    following = read.next
    if len(entries) < len(read.entries):
        following = entries.ids[-1] if entries.ids else read.entries.ids[0] - 1
    return StreamRead(read.key, entries, following, read.new, read.history, is_cut)


def after(read: StreamRead, position: StreamId) -> StreamRead:
    """Return the read of one stream without the entries up to `position`. O(log entries)."""
    ids = read.entries.ids
    start = bisect_right(ids, position)
    entries = read.entries.part(start, len(ids)) if start else read.entries
    return StreamRead(read.key, entries, next=entries.ids[-1] if entries.ids else position)
