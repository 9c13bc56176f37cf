"""The replies to commands that read entries or plan reads. This module holds data only."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tailrace.core.replies.entries import Entries
from tailrace.core.stream_id import StreamId


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
