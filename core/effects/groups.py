"""The effects on groups and consumers. This module holds data only."""

from __future__ import annotations

from tailrace.core.effects.effect import Effect
from tailrace.core.stream_id import StreamId


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


class GroupConfigured(Effect, frozen=True):
    """The settings of a group were replaced."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    max_deliveries: int | None
    """As `GroupSettings.max_deliveries`."""
    dead_letter_stream: bytes | None
    """As `GroupSettings.dead_letter_stream`."""
    filter: str | None = None
    """As `GroupSettings.filter`."""
    claim_min_idle_ms: int | None = None
    """As `GroupSettings.claim_min_idle_ms`. Journals of earlier releases lack it and what follows."""
    consumer_expiry_ms: int | None = None
    """As `GroupSettings.consumer_expiry_ms`."""
    max_lag_ms: int | None = None
    """As `GroupSettings.max_lag_ms`."""
    backoff_initial_ms: int | None = None
    """As `GroupSettings.backoff_initial_ms`."""
    backoff_factor: float | None = None
    """As `GroupSettings.backoff_factor`."""
    backoff_max_ms: int | None = None
    """As `GroupSettings.backoff_max_ms`."""


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
