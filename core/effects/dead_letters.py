"""The effects that move entries to a dead-letter stream and back.

Each effect is the whole move, so no crash can leave an entry in both places or in none.
"""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core.effects import key_order
from tailrace.core.effects.effect import Effect
from tailrace.core.effects.entries import append, delete
from tailrace.core.group import Group
from tailrace.core.keyspace import Keyspace
from tailrace.core.stream_id import StreamId


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
