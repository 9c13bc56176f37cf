"""The commands that append, schedule, delete and trim entries, and those that change a stream's settings or
what it remembers of a producer.

This module holds data only.
"""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from tailrace.core.commands.arguments import Command, Idempotency, IdRequest, Malformed, References, Trim
from tailrace.core.retention import RetentionRules
from tailrace.core.schedule import ScheduledId
from tailrace.core.stream_id import StreamId


class Append(Command, frozen=True):
    """XADD, xadd_batch and import_entries: append entries in order, all or none. The reply is an
    `AppendReply`, or None if `create` is False and the stream does not exist."""

    key: bytes
    """The stream's key."""
    fragments: tuple[bytes, ...] | list[bytes]
    """The entries in their stored form (`core.log.entry`); at least one."""
    ids: tuple[IdRequest, ...] | list[IdRequest] | None = None
    """The id request of each entry; None: the engine chooses all ids (``*``)."""
    trim: Trim | None = None
    """A rule to trim the stream by after the append."""
    create: bool = True
    """Whether to create a missing stream; False is NOMKSTREAM."""
    if_last_id: StreamId | None = None
    """Refuse the append with PRECONDITION_FAILED unless this is the stream's last generated id; 0-0 for a
    missing stream. None: no condition."""
    idempotency: Idempotency | None = None
    """The idempotency key of the whole append."""
    each: bool = False
    """Whether each entry is an append of its own: as many XADDs, one after another, without other options. If
    the ids run out, the reply has those of the first appends, and the others have failed with
    ID_EXHAUSTED."""


class TrimStream(Command, frozen=True):
    """XTRIM. The reply is the number of removed entries, None for a missing stream."""

    key: bytes
    """The stream's key."""
    trim: Trim
    """The rule to trim by."""


class DeleteEntries(Command, frozen=True):
    """XDEL. The reply is the number of deleted entries."""

    key: bytes
    """The stream's key."""
    ids: tuple[StreamId, ...] | range | Malformed
    """The ids to delete; an id may repeat."""


class DeleteEntriesByPolicy(Command, frozen=True):
    """XDELEX. The reply has a `DeleteResult` for each id."""

    key: bytes
    """The stream's key."""
    ids: tuple[StreamId, ...] | range | Malformed
    """The ids to delete; an id may repeat."""
    ids_count: int
    """How many ids the client named: Redis answers that many results for a missing stream, malformed or
    not."""
    references: References = References.KEEP
    """What happens to pending entries of the deleted entries."""


class SetStreamPosition(Command, frozen=True):
    """XSETID. The reply is None."""

    key: bytes
    """The stream's key."""
    last_id: StreamId
    """The new last generated id."""
    entries_added: int | None = None
    """The new number of entries ever added; None: unchanged."""
    max_deleted_id: StreamId | None = None
    """The new greatest deleted id; None: unchanged."""


class ConfigureStream(Command, frozen=True):
    """XCFGSET. The reply is None."""

    key: bytes
    """The stream's key."""
    idmp_duration_s: int | Malformed | None = None
    """How long an idempotency key is kept, in seconds; None: unchanged. Carries the error of either
    argument."""
    idmp_maxsize: int | None = None
    """How many idempotency keys are kept for each producer; None: unchanged."""
    retention: RetentionRules | UnsetType | None = UNSET
    """The new rules of the stream's retention, which Redis does not have; None removes all rules, and UNSET
    keeps them."""


class RecordIdempotencyKey(Command, frozen=True):
    """XIDMPRECORD: remember an existing entry as appended under an idempotency key. The reply is None."""

    key: bytes
    """The stream's key."""
    producer: bytes
    """The producer's name."""
    idempotency_key: bytes
    """The key to remember."""
    id: StreamId
    """The id of the live entry that an append with this key returns from now on."""


class CreateStream(Command, frozen=True):
    """Create an empty stream, or change the settings of an existing one. The reply is 1 if the stream is new,
    else 0. Redis has no such command."""

    key: bytes
    """The stream's key."""
    idmp_duration_s: int | None = None
    """As in `ConfigureStream`; for a new stream, None is the server's default."""
    idmp_maxsize: int | None = None
    """As in `ConfigureStream`; for a new stream, None is the server's default."""
    retention: RetentionRules | UnsetType | None = UNSET
    """As in `ConfigureStream`."""


class FindAppend(Command, frozen=True):
    """Find an append by its idempotency key, and append nothing. The reply is an `AppendReply` with the ids
    of that append, or None if the key is new. Redis has no such command."""

    key: bytes
    """The stream's key."""
    idempotency: Idempotency | None
    """The idempotency key, checked as for an append; an append without one is always new."""


class InfoProducer(Command, frozen=True):
    """Show the epochs of a producer. The reply is a list of `EpochInfo`. Redis has no such command."""

    key: bytes
    """The stream's key."""
    producer: bytes
    """The producer's name."""


class TakeOverEpoch(Command, frozen=True):
    """Give an epoch another layout, so that requests with the former one are refused from now on. The reply
    is None. Redis has no such command."""

    key: bytes
    """The stream's key."""
    producer: bytes
    """The producer's name."""
    epoch: int
    """The number of the epoch."""
    replaces: bytes
    """The layout that the epoch must have now."""
    layout: bytes
    """The new layout."""
    key_count: int
    """How many idempotency keys the epoch must have now: none is new since the client counted them."""


class ScheduleEntries(Command, frozen=True):
    """Store entries that are appended later, all or none. The reply is a `ScheduleReply`, or None if `create`
    is False and the stream does not exist. Redis has no such command. One of `deliver_at_ms` and `delay_ms`
    is set."""

    key: bytes
    """The stream's key."""
    fragments: tuple[bytes, ...] | list[bytes]
    """The entries in their stored form (`core.log.entry`); at least one."""
    deliver_at_ms: int | None = None
    """The Unix time of the append, in milliseconds. A time in the past is due at once."""
    delay_ms: int | None = None
    """How long after now the entries are appended; 0 or more."""
    create: bool = True
    """Whether to create a missing stream, at once."""
    idempotency: Idempotency | None = None
    """The idempotency key of the whole request, without an epoch. Its fingerprint begins with
    `idempotency.memory.SCHEDULED`."""


class ListScheduled(Command, frozen=True):
    """List scheduled entries in the order of publication. The reply is a `ScheduledPage`."""

    key: bytes
    """The stream's key."""
    after: ScheduledId | None = None
    """List only entries after this one; it need not exist. None: from the first one on."""
    count: int = 100
    """The maximum number of entries."""


class CancelScheduled(Command, frozen=True):
    """Remove scheduled entries before their time. The reply is the number of entries that were removed."""

    key: bytes
    """The stream's key."""
    scheduled_ids: tuple[ScheduledId, ...]
    """The ids; those that do not exist are ignored."""


class DoDue(Command, frozen=True):
    """Publish scheduled entries whose time has come, and end the delay of retries. The reply is 1 if more is
    due now, else 0. The server runs it; clients cannot."""
