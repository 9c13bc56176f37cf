"""The effects on pending entries."""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core.effects import key_order
from tailrace.core.effects.effect import Effect
from tailrace.core.group import Group
from tailrace.core.keyspace import Keyspace
from tailrace.core.pending.id_spans import IdSpans
from tailrace.core.stream_id import StreamId


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

    def apply(self, keyspace: Keyspace) -> None:
        group: Group = keyspace.streams[self.key].groups[self.group]
        group.pending.deliver(self.ids, group.consumers[self.consumer], self.at_ms)


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

    def apply(self, keyspace: Keyspace) -> None:
        group: Group = keyspace.streams[self.key].groups[self.group]
        consumer = group.consumers[self.consumer]
        group.pending.claim(self.ids, consumer, self.delivered_at_ms, self.deliveries)


class LeasesExtended(Effect, frozen=True):
    """A consumer keeps entries that it owns: their time of delivery changed, their counts did not."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    consumer: bytes
    """The owner's name, before and after."""
    ids: Sequence[StreamId]
    """The ids, distinct, in their new order of delivery; at least one."""
    at_ms: int
    """Unix time of delivery of all of them."""

    def apply(self, keyspace: Keyspace) -> None:
        group: Group = keyspace.streams[self.key].groups[self.group]
        counts = group.pending.counts_of(self.ids)
        group.pending.claim(self.ids, group.consumers[self.consumer], self.at_ms, counts)


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

    def apply(self, keyspace: Keyspace) -> None:
        group: Group = keyspace.streams[self.key].groups[self.group]
        group.transfer(self.consumer, self.new_consumer)


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

    def apply(self, keyspace: Keyspace) -> None:
        group: Group = keyspace.streams[self.key].groups[self.group]
        group.pending.nack(self.ids, self.deliveries)


class PendingRemoved(Effect, frozen=True):
    """Entries left a pending entries list: they were acknowledged, or their entry was deleted."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    ids: Sequence[StreamId]
    """The ids, distinct and all pending; at least one."""

    def apply(self, keyspace: Keyspace) -> None:
        stream = keyspace.streams[self.key]
        if stream.referenced_below:
            stream.forget_references_from(min(self.ids))
        group: Group = stream.groups[self.group]
        group.pending.remove(self.ids)
        if group.order is not None:
            key_order.released(keyspace, self.key, group, self.ids)


class ReferencesTrimmed(Effect, frozen=True):
    """All entries in some spans of ids left the pending entries lists of all groups, because they are trimmed
    next. Entries that were deleted before stay pending."""

    key: bytes
    """The stream's key."""
    first_ids: Sequence[StreamId]
    """The lowest id of each span, included. The spans rise and do not overlap; at least one."""
    last_ids: Sequence[StreamId]
    """The highest id of each span, included; ``last_ids[i]`` belongs to ``first_ids[i]``."""

    def apply(self, keyspace: Keyspace) -> None:
        stream = keyspace.streams[self.key]
        stream.forget_references_from(self.first_ids[0])
        spans = IdSpans(self.first_ids, self.last_ids)
        for group in stream.groups.values():
            group.pending.remove_spans(spans)


class PendingBetweenRemoved(Effect, frozen=True):
    """All entries in some spans of ids left a pending entries list, because their entries are gone."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    first_ids: Sequence[StreamId]
    """The lowest id of each span, included. The spans rise and do not overlap; at least one."""
    last_ids: Sequence[StreamId]
    """The highest id of each span, included; ``last_ids[i]`` belongs to ``first_ids[i]``."""

    def apply(self, keyspace: Keyspace) -> None:
        stream = keyspace.streams[self.key]
        stream.forget_references_from(self.first_ids[0])
        group: Group = stream.groups[self.group]
        group.pending.remove_spans(IdSpans(self.first_ids, self.last_ids))
