"""The effects on scheduled entries and on delayed retries."""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core.effects.effect import Effect
from tailrace.core.effects.entries import append
from tailrace.core.group import Group
from tailrace.core.keyspace import Keyspace
from tailrace.core.schedule import Schedule, ScheduledId
from tailrace.core.stream import Stream
from tailrace.core.stream_id import StreamId


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
