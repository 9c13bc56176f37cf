"""The commands that append, delete and trim entries, and those that change a stream's settings.

This module holds data only.
"""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from tailrace.core.commands.arguments import Command, Idempotency, IdRequest, Malformed, References, Trim
from tailrace.core.retention import RetentionRules
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
