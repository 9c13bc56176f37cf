"""The effects on pending entries: deliveries, claims, removals, delays and moves to dead-letter streams."""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core.effects import key_order
from tailrace.core.effects.effect import Effect
from tailrace.core.effects.entries import append, delete
from tailrace.core.group import Group
from tailrace.core.keyspace import Keyspace
from tailrace.core.pending.id_spans import IdSpans
from tailrace.core.schedule import Schedule, ScheduledId
from tailrace.core.stream import Stream
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


class EntriesScheduled(Effect, frozen=True):
    """Entries were stored that become visible later. The stream exists."""

    key: bytes
    """The stream's key."""
    scheduled_ids: Sequence[StreamId]
    """The scheduled ids, rising, with their times (`core.schedule`); at least one, and all new."""
    fragments: Sequence[bytes]
    """The entries in their stored form (`core.log.entry`); ``fragments[i]`` is that of
    ``scheduled_ids[i]``."""

    def apply(self, keyspace: Keyspace) -> None:
        stream: Stream = keyspace.streams[self.key]
        schedule = stream.schedule = stream.schedule or Schedule()
        schedule.add(self.scheduled_ids, self.fragments)
        keyspace.agenda.count(len(self.fragments), sum(map(len, self.fragments)))
        keyspace.agenda.note_schedule(stream)


class ScheduledPublished(Effect, frozen=True):
    """The time of scheduled entries has come: they were appended to their stream."""

    key: bytes
    """The stream's key."""
    scheduled_ids: Sequence[StreamId]
    """The scheduled ids, rising, which exist; at least one."""
    ids: Sequence[StreamId]
    """The ids of the entries, rising, all above the stream's last id; ``ids[i]`` is that of
    ``scheduled_ids[i]``."""

    def apply(self, keyspace: Keyspace) -> None:
        stream: Stream = keyspace.streams[self.key]
        append(keyspace, stream, self.ids, _taken(keyspace, stream, self.scheduled_ids))


class ScheduledCancelled(Effect, frozen=True):
    """Scheduled entries were removed before their time."""

    key: bytes
    """The stream's key."""
    scheduled_ids: Sequence[StreamId]
    """The scheduled ids, rising, which exist; at least one."""

    def apply(self, keyspace: Keyspace) -> None:
        _taken(keyspace, keyspace.streams[self.key], self.scheduled_ids)


class RetriesDelayed(Effect, frozen=True):
    """Entries lost their owner, pending before or not, and cannot be claimed before a time."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    ids: Sequence[StreamId]
    """The ids, distinct, in the order in which CLAIM takes them."""
    deliveries: Sequence[int]
    """The new delivery count of each id."""
    claimable_at_ms: int
    """The time, in Unix milliseconds; at least 1."""

    def apply(self, keyspace: Keyspace) -> None:
        stream: Stream = keyspace.streams[self.key]
        group: Group = stream.groups[self.group]
        group.pending.hold(self.ids, self.deliveries, self.claimable_at_ms)
        keyspace.agenda.note_group(stream, group)


class RetriesReleased(Effect, frozen=True):
    """The time of delayed retries has come: they can be claimed, as after XNACK."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    ids: Sequence[StreamId]
    """The ids, distinct, which cannot be claimed so far, in the order in which CLAIM takes them."""

    def apply(self, keyspace: Keyspace) -> None:
        stream: Stream = keyspace.streams[self.key]
        group: Group = stream.groups[self.group]
        group.pending.release(self.ids)
        keyspace.agenda.note_group(stream, group)


def _taken(keyspace: Keyspace, stream: Stream, ids: Sequence[ScheduledId]) -> list[bytes]:
    """Remove scheduled entries of a stream, and return their fragments."""
    assert stream.schedule is not None, "it has these entries"
    fragments = stream.schedule.remove(ids)
    keyspace.agenda.count(-len(fragments), -sum(map(len, fragments)))
    keyspace.agenda.note_schedule(stream)
    return fragments


class DeadLettered(Effect, frozen=True):
    """Pending entries were appended to a dead-letter stream, which exists, and left the pending entries list
    of their group. The entries stay in their own stream."""

    key: bytes
    """The key of the group's stream."""
    group: bytes
    """The group's name."""
    ids: Sequence[StreamId]
    """The ids in the group's stream, distinct and all pending; at least one."""
    new_key: bytes
    """The key of the dead-letter stream; never `key`."""
    new_ids: Sequence[StreamId]
    """The ids in the dead-letter stream, rising, all above its last id; ``new_ids[i]`` is that of
    ``ids[i]``."""
    fragments: Sequence[bytes]
    """The dead letters in their stored form (`core.log.entry`); ``fragments[i]`` has the id
    ``new_ids[i]``."""

    def apply(self, keyspace: Keyspace) -> None:
        append(keyspace, keyspace.streams[self.new_key], self.new_ids, self.fragments)
        stream = keyspace.streams[self.key]
        stream.forget_references_from(min(self.ids))
        group: Group = stream.groups[self.group]
        group.pending.remove(self.ids)
        if group.order is not None:
            key_order.released(keyspace, self.key, group, self.ids)
        group.dead_letter_count += len(self.ids)


class Redriven(Effect, frozen=True):
    """Dead letters were appended to the stream that they came from, and deleted from the dead-letter
    stream."""

    key: bytes
    """The key of the dead-letter stream."""
    ids: Sequence[StreamId]
    """The ids in the dead-letter stream, rising and all live; at least one."""
    new_key: bytes
    """The key of the stream that the entries came from; never `key`."""
    new_ids: Sequence[StreamId]
    """The ids in that stream, rising, all above its last id; ``new_ids[i]`` is that of ``ids[i]``."""
    fragments: Sequence[bytes]
    """The entries with their own fields, in their stored form; ``fragments[i]`` has the id ``new_ids[i]``."""

    def apply(self, keyspace: Keyspace) -> None:
        append(keyspace, keyspace.streams[self.new_key], self.new_ids, self.fragments)
        delete(keyspace, self.key, self.ids)
