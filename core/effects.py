"""The effects of commands: one frozen struct per kind of change, in the order in which the changes happened.

Handlers read the keyspace, decide, and then emit effects; only `core.apply` carries effects out. So a command
that raises has changed nothing, and applying the effects of all commands to an empty keyspace rebuilds the
keyspace. The journal stores effects. An effect contains results (ids, times, counts) and never a request, so
a replay needs no rule of any command. This module holds data only.

Ids are `StreamId`; in a list of ids documented as rising, each id is greater than the one before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tailrace.core.stream_id import StreamId


class Effect(Struct, frozen=True, gc=False):
    """The base class of everything that changes the keyspace."""


# --- keys and settings ---------------------------------------------------------------------------


class StreamCreated(Effect, frozen=True):
    """An empty stream was created."""

    key: bytes
    """The new stream's key, which was free."""


class StreamDeleted(Effect, frozen=True):
    """A stream was deleted, with its groups."""

    key: bytes
    """The stream's key."""


class StreamRenamed(Effect, frozen=True):
    """A stream got another key."""

    key: bytes
    """The old key."""
    new_key: bytes
    """The new key; a stream that had it was deleted. May equal `key`."""


class StreamCopied(Effect, frozen=True):
    """A stream was copied, with its groups and its idempotency keys."""

    key: bytes
    """The key of the original."""
    new_key: bytes
    """The key of the copy; a stream that had it was deleted."""


class KeyspaceFlushed(Effect, frozen=True):
    """All streams were deleted; settings stay."""


class ConfigChanged(Effect, frozen=True):
    """A setting of the server was changed."""

    name: str
    """The setting's name in CONFIG GET."""
    value: int
    """The new value."""


class StreamPositionSet(Effect, frozen=True):
    """The counters of a stream were set (XSETID)."""

    key: bytes
    """The stream's key."""
    last_id: StreamId
    """The new last generated id."""
    entries_added: int
    """The new number of entries ever added."""
    max_deleted_id: StreamId
    """The new greatest deleted id."""


# --- entries -------------------------------------------------------------------------------------


class EntriesAppended(Effect, frozen=True):
    """Entries were appended to an existing stream."""

    key: bytes
    """The stream's key."""
    ids: Sequence[StreamId]
    """The ids, rising, all above the stream's last id; at least one."""
    fragments: Sequence[bytes]
    """The entries in their stored form (`core.log.entry`); ``fragments[i]`` belongs to ``ids[i]``."""


class EntriesTrimmed(Effect, frozen=True):
    """The first entries were trimmed. The greatest deleted id does not change (rule 17)."""

    key: bytes
    """The stream's key."""
    count: int
    """How many live entries were trimmed; at least 1."""


class EntriesRemoved(Effect, frozen=True):
    """Live entries were deleted, or trimmed one by one."""

    key: bytes
    """The stream's key."""
    ids: Sequence[StreamId]
    """The ids of the entries, rising; at least one."""
    tombstone: bool
    """True: the entries were deleted, and the greatest deleted id rises to the last of them. False: they were
    trimmed, and the greatest trimmed id rises (rule 17)."""


# --- idempotency keys ----------------------------------------------------------------------------


class IdempotencyConfigured(Effect, frozen=True):
    """A stream's settings for idempotency keys were set, and its keys without an epoch were forgotten (rule
    63)."""

    key: bytes
    """The stream's key."""
    duration_s: int
    """How long a key is kept, in seconds."""
    maxsize: int
    """How many keys are kept for each producer."""


class AppendRemembered(Effect, frozen=True):
    """An idempotency key was remembered: an append with the same key returns `ids` from now on."""

    key: bytes
    """The stream's key."""
    producer: bytes
    """The producer's name."""
    idempotency_key: bytes
    """The key of the append."""
    ids: Sequence[StreamId]
    """The ids that the append made, rising."""
    fingerprint: bytes | None
    """The hash of the append's body; None: not checked."""
    epoch: int | None
    """The number of the batch: the key is kept for this epoch and the next one. None: kept by time and
    count."""
    layout: bytes | None
    """How the batch is split into requests; None without an epoch, or if the request named none."""


class DuplicateCounted(Effect, frozen=True):
    """An append was answered from memory: the stream's counter of duplicates rises, and the producer counts
    as used."""

    key: bytes
    """The stream's key."""
    producer: bytes = b""
    """The producer's name; empty in journals of earlier releases, which did not store it."""


class IdempotencyExpired(Effect, frozen=True):
    """Old idempotency keys without an epoch were forgotten."""

    key: bytes
    """The stream's key."""
    before_ms: int
    """Unix time: keys whose first id has this time or an earlier one were forgotten."""


# --- groups and consumers ------------------------------------------------------------------------


class GroupCreated(Effect, frozen=True):
    """A group was created."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The new group's name, which was free."""
    last_delivered_id: StreamId
    """The group's position."""
    entries_read: int | None
    """How many of all entries ever added are at or before the position; None: unknown."""


class GroupMoved(Effect, frozen=True):
    """A group's position changed, by a read, by XCLAIM LASTID or by XGROUP SETID."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    last_delivered_id: StreamId
    """The new position; XGROUP SETID may move it back."""
    entries_read: int | None
    """How many of all entries ever added are at or before the new position; None: unknown."""


class GroupDestroyed(Effect, frozen=True):
    """A group was deleted, with its consumers and pending entries."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""


class ConsumerCreated(Effect, frozen=True):
    """A consumer was created."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    consumer: bytes
    """The new consumer's name, which was free."""
    at_ms: int
    """Unix time: the consumer counts as seen then."""


class ConsumerDeleted(Effect, frozen=True):
    """A consumer was deleted, with its pending entries."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    consumer: bytes
    """The consumer's name."""


class ConsumerSeen(Effect, frozen=True):
    """A consumer tried to read or claim (rule 33)."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    consumer: bytes
    """The consumer's name."""
    at_ms: int
    """Unix time of the attempt."""
    active: bool
    """Whether the consumer received an entry, so that its time of activity changes as well."""


# --- pending entries -----------------------------------------------------------------------------


class Delivered(Effect, frozen=True):
    """New entries became pending with a delivery count of 1. If an id was pending before, this delivery
    replaces its owner, time and count."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    consumer: bytes
    """The owner's name."""
    ids: Sequence[StreamId]
    """The ids, rising; at least one."""
    at_ms: int
    """Unix time of the delivery."""


class Claimed(Effect, frozen=True):
    """A consumer became the owner of entries, pending before or not."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    consumer: bytes
    """The new owner's name."""
    ids: Sequence[StreamId]
    """The ids, distinct, in their new order of delivery."""
    delivered_at_ms: int
    """Unix time of delivery of all of them; may be in the past (XCLAIM IDLE and TIME)."""
    deliveries: Sequence[int]
    """The new delivery count of each id."""


class Transferred(Effect, frozen=True):
    """All pending entries of one consumer got another owner; counts, times and order did not change."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    consumer: bytes
    """The old owner's name."""
    new_consumer: bytes
    """The new owner's name."""


class Nacked(Effect, frozen=True):
    """Entries lost their owner, pending before or not (XNACK FORCE)."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    ids: Sequence[StreamId]
    """The ids, distinct, in the order in which CLAIM takes them."""
    deliveries: Sequence[int]
    """The new delivery count of each id."""


class PendingRemoved(Effect, frozen=True):
    """Entries left a pending entries list: they were acknowledged, or their entry was deleted."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    ids: Sequence[StreamId]
    """The ids, distinct and all pending; at least one."""


class PendingBetweenRemoved(Effect, frozen=True):
    """All entries in some spans of ids left a pending entries list, because their entries were trimmed. Spans
    describe any number of entries in little space."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    first_ids: Sequence[StreamId]
    """The lowest id of each span, included. The spans rise and do not overlap; at least one."""
    last_ids: Sequence[StreamId]
    """The highest id of each span, included; ``last_ids[i]`` belongs to ``first_ids[i]``."""
