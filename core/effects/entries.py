"""The effects on the entries of a stream."""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core.effects import key_order
from tailrace.core.effects.effect import Effect
from tailrace.core.keyspace import Keyspace
from tailrace.core.stream import Stream
from tailrace.core.stream_id import StreamId


def append(keyspace: Keyspace, stream: Stream, ids: Sequence[StreamId], fragments: Sequence[bytes]) -> None:
    """Append entries to a stream. O(entries)."""
    if len(ids) == 1:
        # Nearly every append. The general form takes half as long again.
        stream.log.append_one(ids[0], fragments[0], keyspace.node_limits)
    else:
        stream.log.append(ids, fragments, keyspace.node_limits)
    stream.last_id = ids[-1]
    stream.entries_added += len(ids)


def delete(keyspace: Keyspace, key: bytes, ids: Sequence[StreamId]) -> None:
    """Delete live entries of a stream, whose ids rise. O(entries)."""
    stream = _without(keyspace, key, ids)
    stream.max_deleted_id = max(stream.max_deleted_id, ids[-1])


def _without(keyspace: Keyspace, key: bytes, ids: Sequence[StreamId]) -> Stream:
    """Remove live entries, and return their stream."""
    stream: Stream = keyspace.streams[key]
    stream.log.remove(ids)
    if stream.ordered:
        key_order.removed(keyspace, key, stream, ids)
    return stream


def _trim(keyspace: Keyspace, key: bytes, count: int) -> Stream:
    """Remove the first entries, and return their stream."""
    stream: Stream = keyspace.streams[key]
    last_id = stream.log.trim_front(count)
    stream.max_trimmed_id = max(stream.max_trimmed_id, last_id)
    if stream.ordered:
        key_order.trimmed(keyspace, key, stream, last_id)
    return stream


class EntriesAppended(Effect, frozen=True):
    """Entries were appended to an existing stream."""

    key: bytes
    """The stream's key."""
    ids: Sequence[StreamId]
    """The ids, rising, all above the stream's last id; at least one."""
    fragments: Sequence[bytes]
    """The entries in their stored form (`core.log.entry`); ``fragments[i]`` belongs to ``ids[i]``."""

    def apply(self, keyspace: Keyspace) -> None:
        append(keyspace, keyspace.streams[self.key], self.ids, self.fragments)


class EntriesTrimmed(Effect, frozen=True):
    """The first entries were trimmed. The greatest deleted id does not change (rule 17)."""

    key: bytes
    """The stream's key."""
    count: int
    """How many live entries were trimmed; at least 1."""

    def apply(self, keyspace: Keyspace) -> None:
        _trim(keyspace, self.key, self.count)


class EntriesRemoved(Effect, frozen=True):
    """Live entries were deleted, or trimmed by id."""

    key: bytes
    """The stream's key."""
    ids: Sequence[StreamId]
    """The ids of the entries, rising; at least one."""
    tombstone: bool
    """True: the entries were deleted, and the greatest deleted id rises to the last of them. False: they were
    trimmed, and the greatest trimmed id rises (rule 17)."""

    def apply(self, keyspace: Keyspace) -> None:
        if self.tombstone:
            delete(keyspace, self.key, self.ids)
        else:
            stream = _without(keyspace, self.key, self.ids)
            stream.max_trimmed_id = max(stream.max_trimmed_id, self.ids[-1])


class EntriesRetired(Effect, frozen=True):
    """The retention of a stream, which it has, removed the first entries, as a trim does (rule 17)."""

    key: bytes
    """The stream's key."""
    count: int
    """How many live entries were removed; at least 1."""
    reason: str
    """A `Reason`."""
    at_ms: int
    """When, in Unix milliseconds."""

    def apply(self, keyspace: Keyspace) -> None:
        retention = _trim(keyspace, self.key, self.count).retention
        assert retention is not None, "only retention removes them"
        retention.removed[self.reason] += self.count
        retention.removed_at_ms = self.at_ms
