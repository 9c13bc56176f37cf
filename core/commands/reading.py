"""The commands that read entries: ranges, reads of streams and of groups, and plans for parallel reads.

This module holds data only.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from tailrace.core.commands.arguments import Command, Malformed, Special
from tailrace.core.stream_id import MAX_ID, ZERO_ID, StreamId


class Range(Command, frozen=True):
    """XRANGE, and XREVRANGE with `reverse`. The reply is a `RangeReply`."""

    key: bytes
    """The stream's key."""
    start: StreamId = ZERO_ID
    """The lowest id of the range, included."""
    end: StreamId = MAX_ID
    """The highest id of the range, included."""
    count: int | None = None
    """The maximum number of entries; None: no limit; 0 or less: no entries."""
    reverse: bool = False
    """Whether to return the highest id first."""
    max_bytes: int | None = None
    """The page ends after the entry whose stored bytes reach this sum; None: no limit."""
    strict: bool = False
    """Refuse the command with POSITION_TRIMMED if entries at or after `start` were trimmed."""
    with_incarnation: bool = False
    """Whether the reply must name the incarnation. The engine's replies always do; a gateway takes further
    steps for it."""


class StreamLength(Command, frozen=True):
    """XLEN. The reply is the number of entries, 0 for a missing stream."""

    key: bytes
    """The stream's key."""


class SplitRange(Command, frozen=True):
    """Split a range into parts of about equal length, from the block index. The reply is a `SplitReply`.
    Redis has no such command."""

    key: bytes
    """The stream's key."""
    start: StreamId
    """The lowest id of the range, included."""
    end: StreamId
    """The highest id of the range, included."""
    parts: int
    """The number of parts; a range with fewer entries has fewer parts."""


class SeekRange(Command, frozen=True):
    """Find the id of the `count`-th entry at or after `start`, from the block index. The reply is a
    `SeekReply`. Redis has no such command."""

    key: bytes
    """The stream's key."""
    start: StreamId
    """The id to count from, included."""
    count: int
    """How many entries to count; at least 1."""


SOME_INCARNATION: Final = ""
"""The incarnation of a position whose stream was not noted: a reader reached it, in some stream."""


class ReadFrom(Struct, frozen=True):
    """One stream of a read."""

    key: bytes
    """The stream's key."""
    after: StreamId | Special | Malformed
    """The position to read after; an entry with exactly this id is not returned."""
    incarnation: str | None = None
    """The incarnation of the stream in which the position was reached: the read is refused with
    POSITION_TRIMMED if the stream is another one, or missing. With `SOME_INCARNATION`, a stream whose last id
    is before the position counts as another one. None: a position of any stream."""


class ReadLimits(Struct, frozen=True):
    """How much one read may return (rules 23, 26, 34). None: no limit."""

    count: int | None = None
    """The maximum number of entries of each stream (COUNT)."""
    max_count: int | None = None
    """The maximum number of entries of all streams together (MAXCOUNT)."""
    max_bytes: int | None = None
    """A soft limit on the reply's bytes in RESP2 (MAXSIZE), tested before each entry but the first."""
    page_bytes: int | None = None
    """A soft limit on the reply's bytes as JSON, tested the same way. REST uses this limit, because the JSON
    size is known without converting an entry."""


class Counted(Struct, frozen=True):
    """How many entries of a stream a gathering read of a group with a filter has found so far."""

    filter: str
    """The filter that the entries match."""
    position: StreamId
    """The position of the group."""
    examined_id: StreamId
    """The last entry that was examined."""
    matching: int
    """How many of the entries after the position match, up to the last examined one."""


class Batch(Struct, frozen=True):
    """How a waiting read gathers entries instead of returning the first one. Redis has no such option."""

    min_count: int
    """Wait until this many entries of all streams together are available; at least 1."""
    linger_ms: int | None
    """Wait at most this many milliseconds after an entry is available; None: until the wait ends."""
    until_ms: int | None = None
    """The Unix time at which lingering ends. The engine sets it on the command that it returns for a later
    retry, once an entry is available."""
    counted: tuple[Counted | None, ...] = ()
    """For each stream of a read of a group, what was counted there. The engine sets it in the same way, so
    that no entry is examined at each retry."""


class Read(Command, frozen=True):
    """XREAD. The reply is a `ReadReply`, also if nothing was found."""

    streams: tuple[ReadFrom, ...]
    """The streams to read, in the order of the reply."""
    limits: ReadLimits = ReadLimits()
    """How much the read may return."""
    block_ms: int | None = None
    """How long to wait for entries, in milliseconds; None: do not wait; 0: wait without limit."""
    strict: bool = False
    """Refuse the read with POSITION_TRIMMED if entries after a position were trimmed."""
    until_ms: int | None = None
    """The Unix time at which the wait ends. The engine sets it on the command that it returns for a later
    retry, so that the retry keeps the first deadline."""
    batch: Batch | None = None
    """How to gather entries, for a read that waits; None: return the first ones."""


class ReadGroup(Command, frozen=True):
    """XREADGROUP. The reply is a `ReadReply`, also if nothing was found.

    A position of `Special.NEW` delivers new entries to the consumer; an id reads the consumer's own pending
    entries after that id.
    """

    group: bytes
    """The group's name, the same in all streams."""
    consumer: bytes
    """The consumer's name; a missing consumer is created."""
    streams: tuple[ReadFrom, ...]
    """The streams to read, in the order of the reply."""
    limits: ReadLimits = ReadLimits()
    """How much the read may return."""
    block_ms: int | None = None
    """As in `Read`; a read of pending entries never waits."""
    claim_min_idle_ms: int | None = None
    """Claim entries that were delivered at least this many milliseconds ago, before any new entry (CLAIM,
    Redis 8.4); None: claim nothing."""
    noack: bool = False
    """Deliver new entries without making them pending."""
    until_ms: int | None = None
    """As in `Read`."""
    batch: Batch | None = None
    """As in `Read`. A read that may claim an entry does not wait for more."""
