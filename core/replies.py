"""What the engine answers: one frozen struct where a plain int, bool, bytes or None does not say it.

Replies are neutral: `core.grammar` turns them into Redis's arrays, `api` into JSON objects. Entries
stay the stored fragments of `core.log.entry` until one of those writes them out.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Final, TypeAlias

from msgspec import Struct

from tailrace.core.stream_id import StreamId


class Entries(Struct, frozen=True, gc=False):
    """Entries in reply order, by column.

    `fragments[i]` is None where the entry was deleted while pending. `idle_ms` and `deliveries` are
    there for group reads: how long since the last delivery, and how often delivered before this one.
    None stands for all zero: new entries.
    """

    ids: Sequence[StreamId]
    fragments: Sequence[bytes | None]
    idle_ms: Sequence[int] | None = None
    deliveries: Sequence[int] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def first(self, count: int) -> Entries:
        """The first `count` of them, or all where there are no more."""
        return self if count >= len(self.ids) else self.part(0, count)

    def part(self, start: int, stop: int) -> Entries:
        """The entries from one place to another."""
        return Entries(
            self.ids[start:stop],
            self.fragments[start:stop],
            None if self.idle_ms is None else self.idle_ms[start:stop],
            None if self.deliveries is None else self.deliveries[start:stop],
        )


NO_ENTRIES: Final = Entries((), ())


class AppendReply(Struct, frozen=True, gc=False):
    """The ids an append gave, in order. `replayed`: they are of an earlier append with the same key."""

    ids: Sequence[StreamId]
    replayed: bool = False


class RangeReply(Struct, frozen=True, gc=False):
    """`more`: the page ended at a limit and entries follow it in the range.

    `exists`: whether there is such a stream.
    """

    entries: Entries
    more: bool = False
    exists: bool = True


class StreamRead(Struct, frozen=True, gc=False):
    """One stream of a read.

    `next`: the position to read on from (the last id returned, or the resolved starting point).
    `new`: read with ``>``, so that with CLAIM the entries carry idle time and deliveries in RESP too.
    `history`: read from an id on by a group; Redis replies with the stream even where it has no entries.
    `cut`: there were entries, and MAXSIZE was reached before the first one; Redis replies with the stream
    and no entries. A stream that MAXCOUNT or MAXSIZE kept from being read is none of the three.
    """

    key: bytes
    entries: Entries
    next: StreamId
    new: bool = False
    history: bool = False
    cut: bool = False

    @property
    def is_served(self) -> bool:
        """Whether Redis's reply has this stream."""
        return bool(self.entries.ids) or self.history or self.cut


class ReadReply(Struct, frozen=True, gc=False):
    """All streams that were asked for, in that order, with or without entries."""

    streams: Sequence[StreamRead]

    @property
    def is_empty(self) -> bool:
        """True where Redis answers nil: nothing served, and no history asked for."""
        return not any(read.is_served for read in self.streams)


class DeleteResult(IntEnum):
    """What became of one id; the values are Redis's."""

    NOT_FOUND = -1
    DELETED = 1
    REFERENCED = 2


class ClaimReply(Struct, frozen=True, gc=False):
    """What XCLAIM and XAUTOCLAIM gave; `entries.fragments` is empty when only ids were asked for.

    `cursor` and `deleted_ids` are XAUTOCLAIM's; XCLAIM leaves them 0 and empty.
    """

    entries: Entries
    just_id: bool = False
    cursor: StreamId = 0
    deleted_ids: Sequence[StreamId] = ()


class PendingSummaryReply(Struct, frozen=True, gc=False):
    """`consumers`: name and count of each that has pending entries, in byte order of the names."""

    count: int
    min_id: StreamId | None
    max_id: StreamId | None
    consumers: Sequence[tuple[bytes, int]]


class PendingEntry(Struct, frozen=True, gc=False):
    """One pending entry. `consumer` None and `idle_ms` -1: unowned, after XNACK."""

    id: StreamId
    consumer: bytes | None
    idle_ms: int
    delivered_at_ms: int
    deliveries: int


class StreamInfo(Struct, frozen=True):
    """XINFO STREAM. `first_entry` and `last_entry` hold one entry or none."""

    length: int
    block_count: int
    last_id: StreamId
    max_deleted_id: StreamId
    entries_added: int
    first_id: StreamId
    idmp_duration_s: int
    idmp_maxsize: int
    producer_count: int
    idmp_key_count: int
    idmp_keys_added: int
    idmp_duplicates: int
    group_count: int
    first_entry: Entries
    last_entry: Entries


class GroupInfo(Struct, frozen=True):
    """XINFO GROUPS, one group. `entries_read` and `lag` None: not known (rules 56 to 59)."""

    name: bytes
    consumer_count: int
    pending_count: int
    last_delivered_id: StreamId
    entries_read: int | None
    lag: int | None


class ConsumerInfo(Struct, frozen=True):
    """XINFO CONSUMERS, one consumer. `inactive_ms` is -1 where nothing was ever delivered."""

    name: bytes
    pending_count: int
    idle_ms: int
    inactive_ms: int


class ConsumerFullInfo(Struct, frozen=True):
    """One consumer in XINFO STREAM FULL; `active_at_ms` is -1 where nothing was ever delivered."""

    name: bytes
    seen_at_ms: int
    active_at_ms: int
    pending_count: int
    pending: Sequence[PendingEntry]


class GroupFullInfo(Struct, frozen=True):
    """One group in XINFO STREAM FULL."""

    name: bytes
    last_delivered_id: StreamId
    entries_read: int | None
    lag: int | None
    pending_count: int
    nacked_count: int
    pending: Sequence[PendingEntry]
    consumers: Sequence[ConsumerFullInfo]


class StreamFullInfo(Struct, frozen=True):
    """XINFO STREAM FULL; `info.group_count`, `first_entry` and `last_entry` are not part of it."""

    info: StreamInfo
    entries: Entries
    groups: Sequence[GroupFullInfo]


class StreamSummary(Struct, frozen=True, gc=False):
    """One stream in a listing."""

    key: bytes
    length: int
    last_id: StreamId
    group_count: int


class StreamList(Struct, frozen=True, gc=False):
    """A page of streams; `more`: others follow the last one."""

    streams: Sequence[StreamSummary]
    more: bool = False


class KeyScan(Struct, frozen=True, gc=False):
    """A step of SCAN; `cursor` 0: the end was reached."""

    cursor: int
    keys: Sequence[bytes]


class Boundary(Struct, frozen=True, gc=False):
    """One part of a split range: inclusive `start` and `end`, and how many entries lie in it."""

    start: StreamId
    end: StreamId
    count: int


class SplitReply(Struct, frozen=True, gc=False):
    """The parts in order; together they cover the range asked for, without gap or overlap."""

    parts: Sequence[Boundary]
    count: int


class SeekReply(Struct, frozen=True, gc=False):
    """`end`: the id of the last entry of the page, or None where no entry is at or after the start."""

    end: StreamId | None
    count: int


class ServerStats(Struct, frozen=True):
    """Counts for INFO; `blocked_clients` is filled in by whoever holds the waiting readers."""

    streams: int
    entries: int
    groups: int
    pending: int
    now_ms: int
    blocked_clients: int = 0


Reply: TypeAlias = (
    int
    | Sequence[bytes]
    | Sequence[DeleteResult]
    | Sequence[PendingEntry]
    | Sequence[GroupInfo]
    | Sequence[ConsumerInfo]
    | dict[str, int]
    | AppendReply
    | RangeReply
    | ReadReply
    | ClaimReply
    | PendingSummaryReply
    | StreamInfo
    | StreamFullInfo
    | StreamList
    | KeyScan
    | SplitReply
    | SeekReply
    | ServerStats
    | None
)
"""Everything `Outcome.reply` can be; a command's docstring says which it gets."""
