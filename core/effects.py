"""What a command changed: one frozen struct an effect, in the order in which they happened.

Handlers read the keyspace, decide, and only then emit effects; `core.apply` is the one place that
carries an effect out. So a command that raises has changed nothing, and whoever replays the effects
of a run onto an empty keyspace gets the same keyspace. Effects are what the journal stores: they hold
results (ids, times, counts), never requests, so that replaying needs no rule of any command.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tailrace.core.stream_id import StreamId


class Effect(Struct, frozen=True, gc=False):
    """Anything that changes the keyspace."""


class StreamCreated(Effect, frozen=True):
    key: bytes


class StreamDeleted(Effect, frozen=True):
    key: bytes


class StreamRenamed(Effect, frozen=True):
    """`key` becomes `new_key`; a stream that had that name is gone."""

    key: bytes
    new_key: bytes


class StreamCopied(Effect, frozen=True):
    """`new_key` becomes a copy of `key` as it is now; a stream that had that name is gone."""

    key: bytes
    new_key: bytes


class KeyspaceFlushed(Effect, frozen=True):
    pass


class ConfigChanged(Effect, frozen=True):
    name: str
    value: int


class EntriesAppended(Effect, frozen=True):
    """`ids` rise and lie above the stream's last id; `fragments[i]` belongs to `ids[i]`."""

    key: bytes
    ids: Sequence[StreamId]
    fragments: Sequence[bytes]


class EntriesTrimmed(Effect, frozen=True):
    """The first `count` live entries are gone; the greatest deleted id does not move (rule 17)."""

    key: bytes
    count: int


class EntriesRemoved(Effect, frozen=True):
    """The live entries `ids` (rising) are gone. `tombstone`: they were deleted, not trimmed, and the
    greatest deleted id moves up to the last of them (rule 17)."""

    key: bytes
    ids: Sequence[StreamId]
    tombstone: bool


class StreamPositionSet(Effect, frozen=True):
    key: bytes
    last_id: StreamId
    entries_added: int
    max_deleted_id: StreamId


class IdempotencyConfigured(Effect, frozen=True):
    """The stream's own settings; its remembered keys are forgotten (rule 63)."""

    key: bytes
    duration_s: int
    maxsize: int


class AppendRemembered(Effect, frozen=True):
    """An append under an idempotency key: the same key will be answered with `ids`.

    `epoch` None: kept by time and count; else kept for this epoch and the one before it.
    """

    key: bytes
    producer: bytes
    idempotency_key: bytes
    ids: Sequence[StreamId]
    fingerprint: bytes | None
    epoch: int | None
    layout: bytes | None


class DuplicateCounted(Effect, frozen=True):
    """An append was answered from memory: the stream's counter of duplicates moves, and the producer counts
    as used. Journals of earlier releases do not name it."""

    key: bytes
    producer: bytes = b""


class IdempotencyExpired(Effect, frozen=True):
    """Keys whose first id is at or before `before_ms` are forgotten."""

    key: bytes
    before_ms: int


class GroupCreated(Effect, frozen=True):
    key: bytes
    group: bytes
    last_delivered_id: StreamId
    entries_read: int | None


class GroupMoved(Effect, frozen=True):
    """The group's position and its count of entries read, whether by a read or by XGROUP SETID."""

    key: bytes
    group: bytes
    last_delivered_id: StreamId
    entries_read: int | None


class GroupDestroyed(Effect, frozen=True):
    key: bytes
    group: bytes


class ConsumerCreated(Effect, frozen=True):
    key: bytes
    group: bytes
    consumer: bytes
    at_ms: int


class ConsumerDeleted(Effect, frozen=True):
    """Its pending entries go with it."""

    key: bytes
    group: bytes
    consumer: bytes


class ConsumerSeen(Effect, frozen=True):
    """`active`: something was delivered, so the time of activity moves as well (rule 33)."""

    key: bytes
    group: bytes
    consumer: bytes
    at_ms: int
    active: bool


class Delivered(Effect, frozen=True):
    """New entries became pending: `ids` rise, delivery count 1, whatever stood for them before."""

    key: bytes
    group: bytes
    consumer: bytes
    ids: Sequence[StreamId]
    at_ms: int


class Claimed(Effect, frozen=True):
    """Entries became `consumer`'s, in this order of delivery time; also those not pending before.

    `deliveries`: the new count of each.
    """

    key: bytes
    group: bytes
    consumer: bytes
    ids: Sequence[StreamId]
    delivered_at_ms: int
    deliveries: Sequence[int]


class Transferred(Effect, frozen=True):
    """All that is pending for `consumer` became `new_consumer`'s; counts and times stand."""

    key: bytes
    group: bytes
    consumer: bytes
    new_consumer: bytes


class Nacked(Effect, frozen=True):
    """Entries lost their owner, in this order; also those not pending before (FORCE)."""

    key: bytes
    group: bytes
    ids: Sequence[StreamId]
    deliveries: Sequence[int]


class PendingRemoved(Effect, frozen=True):
    """Entries left the group's pending entries list: acknowledged, or their message is gone."""

    key: bytes
    group: bytes
    ids: Sequence[StreamId]


class PendingBetweenRemoved(Effect, frozen=True):
    """Entries left the group's pending entries list: all from ``first_ids[i]`` to ``last_ids[i]``, both
    included. The spans rise and do not overlap. Their entries are trimmed, so their number may be large."""

    key: bytes
    group: bytes
    first_ids: Sequence[StreamId]
    last_ids: Sequence[StreamId]
