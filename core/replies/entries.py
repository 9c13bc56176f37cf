"""The replies to commands that append, read, schedule and delete entries, or plan reads.

A reply contains entries as columns of equal length. This module holds data only.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Final

from msgspec import Struct

from tailrace.core.schedule import ScheduledId
from tailrace.core.stream_id import StreamId


class AppendReply(Struct, frozen=True, gc=False):
    """What an append returned."""

    ids: Sequence[StreamId]
    """The ids of the entries, in the order of the request."""
    replayed: bool = False
    """Whether an earlier append with the same idempotency key made these entries, and this one added
    nothing."""


class DeleteResult(IntEnum):
    """What a deletion did with one id. The values are those of Redis."""

    NOT_FOUND = -1
    """There is no such entry; for XACKDEL, the id is not pending in the group."""
    DELETED = 1
    """The entry was deleted."""
    REFERENCED = 2
    """The entry was kept, because a group still refers to it (`References.ACKNOWLEDGED`)."""


class Entries(Struct, frozen=True, gc=False):
    """Entries in the order of the reply. Item i of each column belongs to entry i."""

    ids: Sequence[StreamId]
    """The ids."""
    fragments: Sequence[bytes | None]
    """The entries in their stored form; None for an entry that was deleted while it was pending."""
    idle_ms: Sequence[int] | None = None
    """Milliseconds since the last delivery before this reply. Group reads only; None: 0 for each entry."""
    deliveries: Sequence[int] | None = None
    """How often each entry was delivered before this reply. Group reads only; None: 0 for each entry."""

    def __len__(self) -> int:
        return len(self.ids)

    def first(self, count: int) -> Entries:
        """Return the first `count` entries, or all if there are fewer. O(count)."""
        return self if count >= len(self.ids) else self.part(0, count)

    def part(self, start: int, stop: int) -> Entries:
        """Return the entries with indexes from `start` up to but not including `stop`. O(stop - start)."""
        return Entries(
            self.ids[start:stop],
            self.fragments[start:stop],
            None if self.idle_ms is None else self.idle_ms[start:stop],
            None if self.deliveries is None else self.deliveries[start:stop],
        )


NO_ENTRIES: Final = Entries((), ())
"""No entries at all."""


class RangeReply(Struct, frozen=True, gc=False):
    """One page of a range."""

    entries: Entries
    """The entries, in the order that the command asked for."""
    more: bool = False
    """Whether a limit ended the page and the range has further entries."""
    exists: bool = True
    """Whether the stream exists."""
    incarnation: str | None = None
    """As in `StreamInfo`; None if the stream is missing."""


class StreamRead(Struct, frozen=True, gc=False):
    """The result of a read for one stream.

    `history` and `cut` distinguish two cases in which Redis's reply contains a stream without entries. If
    MAXCOUNT or MAXSIZE ended the read before this stream, both are False.
    """

    key: bytes
    """The stream's key."""
    entries: Entries
    """The entries, with rising ids."""
    next: StreamId
    """The position to read after next time: the last returned id, or the resolved starting position."""
    new: bool = False
    """Whether the read asked for ``>``: with CLAIM, RESP then shows idle time and deliveries of each
    entry."""
    history: bool = False
    """Whether a group read asked for pending entries after an id: Redis shows the stream even without
    entries."""
    cut: bool = False
    """Whether MAXSIZE was reached before the first entry: Redis shows the stream without entries."""
    incarnation: str | None = None
    """As in `StreamInfo`, of a plain read; None if the stream is missing, and from a gateway."""

    @property
    def is_served(self) -> bool:
        """Whether Redis's reply contains this stream."""
        return bool(self.entries.ids) or self.history or self.cut


class ReadReply(Struct, frozen=True, gc=False):
    """The result of XREAD or XREADGROUP."""

    streams: Sequence[StreamRead]
    """One result per stream of the command, in that order, with or without entries."""

    @property
    def is_empty(self) -> bool:
        """Whether Redis replies nil: no stream is served."""
        for read in self.streams:  # noqa: SIM110 - most have one stream: a generator costs more
            if read.is_served:
                return False
        return True


class Boundary(Struct, frozen=True, gc=False):
    """One part of a split range."""

    start: StreamId
    """The lowest id of the part, included."""
    end: StreamId
    """The highest id of the part, included."""
    count: int
    """The number of entries in the part."""


class SplitReply(Struct, frozen=True, gc=False):
    """The parts of a split range."""

    parts: Sequence[Boundary]
    """The parts, rising; together they cover the range without gap or overlap. Empty for an empty range of
    ids."""
    count: int
    """The number of entries in all parts."""
    incarnation: str | None = None
    """As in `StreamInfo`; None if the stream is missing."""


class SeekReply(Struct, frozen=True, gc=False):
    """Where a page of entries ends."""

    end: StreamId | None
    """The id of the last entry of the page; None if there is no entry at or after the start."""
    count: int
    """The number of entries in the page: fewer than requested at the end of the stream."""
    incarnation: str | None = None
    """As in `StreamInfo`; None if the stream is missing."""


class ScheduleReply(Struct, frozen=True, gc=False):
    """The entries that a request scheduled."""

    scheduled_ids: Sequence[ScheduledId]
    """Their ids, in the order of the request. All have the same time."""
    replayed: bool = False
    """Whether an earlier request with the same idempotency key scheduled them, and this one nothing."""


class ScheduledPage(Struct, frozen=True, gc=False):
    """Some scheduled entries of a stream, in the order of publication."""

    scheduled_ids: Sequence[ScheduledId]
    """Their ids."""
    fragments: Sequence[bytes]
    """The entries in their stored form; ``fragments[i]`` is that of ``scheduled_ids[i]``."""
    has_more: bool
    """Whether more follow."""
