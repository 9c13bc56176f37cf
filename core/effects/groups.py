"""The effects on groups and consumers."""

from __future__ import annotations

from tailrace.core.effects import key_order
from tailrace.core.effects.effect import Effect
from tailrace.core.group import Group
from tailrace.core.group_settings import GroupSettings
from tailrace.core.keyspace import Keyspace
from tailrace.core.pending.consumer import Consumer
from tailrace.core.stream_id import ZERO_ID, StreamId


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

    def apply(self, keyspace: Keyspace) -> None:
        group = Group(self.group, self.last_delivered_id, self.entries_read)
        keyspace.streams[self.key].add_group(group)


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

    def apply(self, keyspace: Keyspace) -> None:
        stream = keyspace.streams[self.key]
        group: Group = stream.groups[self.group]
        stream.forget_references_from(group.last_delivered_id + 1)
        group.last_delivered_id = self.last_delivered_id
        group.entries_read = self.entries_read


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
    order_by: str | None = None
    """As `GroupSettings.order_by`."""

    def apply(self, keyspace: Keyspace) -> None:
        settings = GroupSettings(*(getattr(self, name) for name in GroupSettings.__struct_fields__))
        stream = keyspace.streams[self.key]
        group: Group = stream.groups[self.group]
        group.settings = None if settings.is_empty else settings
        key_order.configured(stream, group, settings.order_by)
        keyspace.note_settings(stream, group)


class GroupDestroyed(Effect, frozen=True):
    """A group was deleted, with its consumers and pending entries."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""

    def apply(self, keyspace: Keyspace) -> None:
        stream = keyspace.streams[self.key]
        group: Group = stream.groups.pop(self.group)
        if group.order is not None:
            stream.forget_order(group.name)
        keyspace.agenda.due.forget((stream.serial, self.group))
        stream.forget_references_from(ZERO_ID)


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

    def apply(self, keyspace: Keyspace) -> None:
        group: Group = keyspace.streams[self.key].groups[self.group]
        group.consumers[self.consumer] = Consumer(self.consumer, self.at_ms)


class ConsumerDeleted(Effect, frozen=True):
    """A consumer was deleted, with its pending entries."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    consumer: bytes
    """The consumer's name."""

    def apply(self, keyspace: Keyspace) -> None:
        stream = keyspace.streams[self.key]
        group: Group = stream.groups[self.group]
        stream.forget_references_from(ZERO_ID)
        ids = () if group.order is None else key_order.owned(group, self.consumer)
        group.remove_consumer(self.consumer)
        if ids:
            key_order.released(keyspace, self.key, group, ids)


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

    def apply(self, keyspace: Keyspace) -> None:
        consumer = keyspace.streams[self.key].groups[self.group].consumers[self.consumer]
        consumer.seen_at_ms = self.at_ms
        if self.active:
            consumer.active_at_ms = self.at_ms
