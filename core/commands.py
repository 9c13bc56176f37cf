"""What can be asked of the engine: one frozen struct a command, and nothing else crosses the border.

`core.grammar` makes these from Redis words, `api` makes them from HTTP requests; the engine cannot
tell which. Names and values are bytes, ids are ints (`core.stream_id`), times are milliseconds.

Redis checks some arguments only after it has looked for the key or the group, so an argument that is
malformed may have to be reported late, or not at all. A field of type ``X | Malformed`` carries such
an error to the place where Redis would find it.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from tailrace.core.errors import StreamError
from tailrace.core.stream_id import MAX_ID, ZERO_ID, StreamId


class Command(Struct, frozen=True, gc=False):
    """Anything that `Engine.execute` takes."""


Access: TypeAlias = Literal["read", "append", "consume", "admin"]
"""The kind of access that a command needs: to look at entries and states; to append; to work in a group; to
change or delete anything else."""


class Malformed(Struct, frozen=True):
    """An argument that could not be parsed; `error` is raised where Redis would have parsed it."""

    error: StreamError


class Special(Enum):
    """Positions that only the stream itself can resolve."""

    LAST_ID = "$"
    """The last id ever generated."""
    LAST_ENTRY = "+"
    """Just before the last live entry, so that reading on gives exactly that one (rule 22)."""
    NEW = ">"
    """After the group's last delivered id: entries never delivered to anyone in the group."""


class References(Enum):
    """What a deletion does with pending entries that point at the entry (Redis 8.2)."""

    KEEP = "keep"
    """Leave them dangling: a later history read shows the entry as deleted."""
    DELETE = "delete"
    """Remove the entry from every pending entries list."""
    ACKNOWLEDGED = "acknowledged"
    """Delete only what every group has read and acknowledged."""


class NackMode(Enum):
    """How a negative acknowledgment changes the delivery count (Redis 8.8)."""

    SILENT = "silent"
    """The delivery does not count: one less."""
    FAIL = "fail"
    """It counts: the count stands."""
    FATAL = "fatal"
    """It should be the last: the greatest count there is."""


class AutoSeq(Struct, frozen=True):
    """``ms-*``: the time part is given, the engine chooses the sequence."""

    ms: int


IdRequest: TypeAlias = StreamId | AutoSeq | None
"""The id asked for: explicit, ``ms-*``, or None for ``*``."""


class Trim(Struct, frozen=True):
    """A trimming rule: exactly one of `max_length` and `min_id` is set.

    `limit` bounds the entries an approximate trim may remove: None is the default of rule 12, 0 is
    no bound.
    """

    max_length: int | None = None
    min_id: StreamId | None = None
    approximate: bool = False
    limit: int | None = None
    references: References = References.KEEP


class Idempotency(Struct, frozen=True):
    """A producer's key for one append: the same key again adds nothing and answers the first ids.

    `fingerprint`: a hash of the body, so that another body under the same key is refused; None (as
    in Redis) accepts any. `epoch` and `layout`: for a producer that replays whole batches, see
    `core.idempotency.memory`.
    """

    producer: bytes
    key: bytes
    fingerprint: bytes | None = None
    epoch: int | None = None
    layout: bytes | None = None


# --- writing -------------------------------------------------------------------------------------


class Append(Command, frozen=True):
    """XADD, xadd_batch and import_entries: append `fragments` in order, all or none.

    `fragments`: entries as `core.log.entry` stores them. `ids`: one request an entry, or None for all
    ``*``. `create` False is NOMKSTREAM. `if_last_id`: refuse with PRECONDITION_FAILED unless the
    stream's last generated id is this (a missing stream's is 0-0).
    """

    key: bytes
    fragments: tuple[bytes, ...] | list[bytes]
    ids: tuple[IdRequest, ...] | list[IdRequest] | None = None
    trim: Trim | None = None
    create: bool = True
    if_last_id: StreamId | None = None
    idempotency: Idempotency | None = None


class TrimStream(Command, frozen=True):
    """XTRIM: the reply is a count, None for a missing stream."""

    key: bytes
    trim: Trim


class DeleteEntries(Command, frozen=True):
    """XDEL: the reply is a count."""

    key: bytes
    ids: tuple[StreamId, ...] | range | Malformed


class DeleteEntriesByPolicy(Command, frozen=True):
    """XDELEX: the reply is a `DeleteResult` an id."""

    key: bytes
    ids: tuple[StreamId, ...] | range | Malformed
    ids_count: int
    references: References = References.KEEP


class SetStreamPosition(Command, frozen=True):
    """XSETID."""

    key: bytes
    last_id: StreamId
    entries_added: int | None = None
    max_deleted_id: StreamId | None = None


class ConfigureStream(Command, frozen=True):
    """XCFGSET. None leaves a setting as it is; `idmp_duration_s` carries the error of any argument."""

    key: bytes
    idmp_duration_s: int | Malformed | None = None
    idmp_maxsize: int | None = None


class RecordIdempotencyKey(Command, frozen=True):
    """XIDMPRECORD: remember the live entry `id` as appended under this key."""

    key: bytes
    producer: bytes
    idempotency_key: bytes
    id: StreamId


class CreateStream(Command, frozen=True):
    """Make an empty stream, or set what is given of one that stands; the reply is 1 where it is new."""

    key: bytes
    idmp_duration_s: int | None = None
    idmp_maxsize: int | None = None


# --- reading -------------------------------------------------------------------------------------


class Range(Command, frozen=True):
    """XRANGE, and XREVRANGE with `reverse`; `start` and `end` are inclusive ids.

    `count` None is no bound; `max_bytes` ends the page after the entry that reaches it. `strict`:
    refuse with POSITION_TRIMMED when entries at or after `start` were trimmed away.
    """

    key: bytes
    start: StreamId = ZERO_ID
    end: StreamId = MAX_ID
    count: int | None = None
    reverse: bool = False
    max_bytes: int | None = None
    strict: bool = False


class StreamLength(Command, frozen=True):
    """XLEN: the reply is a count, 0 for a missing stream."""

    key: bytes


class SplitRange(Command, frozen=True):
    """Boundaries that cut a range into about equal `parts`; from the block index."""

    key: bytes
    start: StreamId
    end: StreamId
    parts: int


class SeekRange(Command, frozen=True):
    """The id of the `count`-th entry at or after `start`; from the block index."""

    key: bytes
    start: StreamId
    count: int


class ReadFrom(Struct, frozen=True):
    """One stream of a read and the exclusive position to read after."""

    key: bytes
    after: StreamId | Special | Malformed


class ReadLimits(Struct, frozen=True):
    """How much one read may return (rules 23, 26, 34).

    `count` is for each stream, `max_count` over all of them. `max_bytes` is a soft budget of the
    reply's size as RESP2 would serialise it: it is tested before each entry but the first. `page_bytes`
    is the same for the size as JSON, which costs nothing to measure: REST's own bound.
    """

    count: int | None = None
    max_count: int | None = None
    max_bytes: int | None = None
    page_bytes: int | None = None


class Read(Command, frozen=True):
    """XREAD. `block_ms`: None does not wait, 0 waits for ever. `strict` as in `Range`.

    `until_ms`: set by the engine where the read is to be run again: the deadline it set out with.
    """

    streams: tuple[ReadFrom, ...]
    limits: ReadLimits = ReadLimits()
    block_ms: int | None = None
    strict: bool = False
    until_ms: int | None = None


class ReadGroup(Command, frozen=True):
    """XREADGROUP; a stream's `after` is `Special.NEW`, or an id to read the consumer's own history.

    `claim_min_idle_ms`: first claim what has been pending at least this long (CLAIM, Redis 8.4).
    `block_ms` and `until_ms` as in `Read`.
    """

    group: bytes
    consumer: bytes
    streams: tuple[ReadFrom, ...]
    limits: ReadLimits = ReadLimits()
    block_ms: int | None = None
    claim_min_idle_ms: int | None = None
    noack: bool = False
    until_ms: int | None = None


# --- groups --------------------------------------------------------------------------------------


class CreateGroup(Command, frozen=True):
    """XGROUP CREATE. `entries_read` None is unknown (rule 56)."""

    key: bytes
    group: bytes
    after: StreamId | Special | Malformed
    create_stream: bool = False
    entries_read: int | None = None


class SetGroupPosition(Command, frozen=True):
    """XGROUP SETID."""

    key: bytes
    group: bytes
    after: StreamId | Special | Malformed
    entries_read: int | None = None


class DestroyGroup(Command, frozen=True):
    """XGROUP DESTROY: the reply is whether it existed."""

    key: bytes
    group: bytes


class CreateConsumer(Command, frozen=True):
    """XGROUP CREATECONSUMER: the reply is whether it is new."""

    key: bytes
    group: bytes
    consumer: bytes


class DeleteConsumer(Command, frozen=True):
    """XGROUP DELCONSUMER: the reply is how many pending entries it had, None for a missing consumer.

    `transfer_to`: first hand its pending entries to that consumer, counts and times unchanged.
    `refuse_pending`: refuse with CONSUMER_HAS_PENDING instead of dropping any. Redis has neither.
    """

    key: bytes
    group: bytes
    consumer: bytes
    transfer_to: bytes | None = None
    refuse_pending: bool = False


class Acknowledge(Command, frozen=True):
    """XACK: the reply is a count.

    `require_group`: refuse with NOGROUP where the stream or the group is missing; Redis replies 0.
    """

    key: bytes
    group: bytes
    ids: tuple[StreamId, ...] | range | Malformed
    require_group: bool = False


class AcknowledgeAndDelete(Command, frozen=True):
    """XACKDEL: the reply is a `DeleteResult` an id. `require_group` as in `Acknowledge`."""

    key: bytes
    group: bytes
    ids: tuple[StreamId, ...] | range | Malformed
    ids_count: int
    references: References = References.KEEP
    require_group: bool = False


class NegativeAcknowledge(Command, frozen=True):
    """XNACK: the entries lose their owner, and CLAIM takes them before all others (rule 54).

    `ids` carries the error of any argument after the group.
    """

    key: bytes
    group: bytes
    mode: NackMode
    ids: tuple[StreamId, ...] | range | Malformed
    retry_count: int | None = None
    force: bool = False


class ClaimOptions(Struct, frozen=True):
    """What XCLAIM takes after the consumer's name.

    `idle_ms` and `delivered_at_ms` exclude each other (the last one given wins in Redis);
    `retry_count` None leaves the count to the rules (49).
    """

    min_idle_ms: int
    ids: tuple[StreamId, ...] | range
    idle_ms: int | None = None
    delivered_at_ms: int | None = None
    retry_count: int | None = None
    force: bool = False
    just_id: bool = False
    last_id: StreamId | None = None


class Claim(Command, frozen=True):
    """XCLAIM."""

    key: bytes
    group: bytes
    consumer: bytes
    options: ClaimOptions | Malformed


class AutoClaim(Command, frozen=True):
    """XAUTOCLAIM: scans the pending entries in id order from `start` (inclusive)."""

    key: bytes
    group: bytes
    consumer: bytes
    min_idle_ms: int
    start: StreamId
    count: int = 100
    just_id: bool = False


class PendingSummary(Command, frozen=True):
    """XPENDING key group."""

    key: bytes
    group: bytes


class PendingRange(Command, frozen=True):
    """XPENDING key group [IDLE ms] start end count [consumer]."""

    key: bytes
    group: bytes
    start: StreamId = ZERO_ID
    end: StreamId = MAX_ID
    count: int = 100
    min_idle_ms: int = 0
    consumer: bytes | None = None


# --- inspection ----------------------------------------------------------------------------------

FULL_COUNT_DEFAULT: Final = 10


class InfoStream(Command, frozen=True):
    """XINFO STREAM. `full_count`: None is the short form, 0 is all, n bounds entries and each PEL."""

    key: bytes
    full_count: int | Malformed | None = None


class InfoGroups(Command, frozen=True):
    """XINFO GROUPS."""

    key: bytes


class InfoConsumers(Command, frozen=True):
    """XINFO CONSUMERS."""

    key: bytes
    group: bytes


# --- the keyspace --------------------------------------------------------------------------------


class DeleteKeys(Command, frozen=True):
    """DEL: the reply is how many existed."""

    keys: tuple[bytes, ...]


class CountKeys(Command, frozen=True):
    """EXISTS: a key named twice counts twice."""

    keys: tuple[bytes, ...]


class RenameKey(Command, frozen=True):
    """RENAME."""

    key: bytes
    new_key: bytes


class CopyKey(Command, frozen=True):
    """COPY: the reply is 1, or 0 where nothing was copied. `replace`: a stream under `new_key` is deleted."""

    key: bytes
    new_key: bytes
    replace: bool = False


class Listing(Command, frozen=True, kw_only=True):
    """What looks over all keys. `visible`: only keys that one of these globs matches are there for the one
    who asks; None: all of them."""

    visible: tuple[bytes, ...] | None = None


class ListStreams(Listing, frozen=True):
    """Streams in byte order of their keys: those after `start_after`, with `prefix`, at most `limit`."""

    prefix: bytes = b""
    start_after: bytes | None = None
    limit: int | None = None


class KeyspaceSize(Listing, frozen=True):
    """DBSIZE."""


class Flush(Command, frozen=True):
    """FLUSHDB and FLUSHALL."""


class GetConfig(Command, frozen=True):
    """CONFIG GET: the reply maps each known name that a pattern matches to its value."""

    patterns: tuple[bytes, ...]


class SetConfig(Command, frozen=True):
    """CONFIG SET: all or none; the grammar has checked names and ranges."""

    values: tuple[tuple[str, int], ...]


class ExpireIdempotencyKeys(Command, frozen=True):
    """Forget idempotency keys that are too old; the server asks this once a second (rule 61)."""


class MatchKeys(Listing, frozen=True):
    """KEYS: the keys that the glob `pattern` matches, in byte order. O(number of streams)."""

    pattern: bytes


class ScanKeys(Listing, frozen=True):
    """SCAN: up to `count` keys examined from `cursor`; a key that stays is given exactly once."""

    cursor: int
    count: int = 10
    pattern: bytes | None = None


class ServerTime(Command, frozen=True):
    """TIME: the reply is `now_ms`, frozen for the command as for any other."""


class ServerInfo(Command, frozen=True):
    """INFO: the reply is a `ServerStats`."""
