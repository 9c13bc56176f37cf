"""The parts of an effect that moves entries, for a salvage: either stream of the move may be lost.

A salvage carries out each part alone where the whole move does not fit, so that an entry which was moved
survives in the stream that is intact.
"""

from __future__ import annotations

from tailrace.core.effects import (
    DeadLettered,
    Effect,
    EntriesAppended,
    EntriesRemoved,
    PendingRemoved,
    Redriven,
)
from tailrace.core.keyspace import Keyspace


def parts_of(keyspace: Keyspace, effect: Effect) -> tuple[Effect, ...]:
    """Return the effect itself if it fits `keyspace` or moves no entries, else effects that together do the
    same, apart from the count of dead letters. O(entries log n) for a move."""
    if not isinstance(effect, DeadLettered | Redriven) or _fits(keyspace, effect):
        return (effect,)
    appended = EntriesAppended(effect.new_key, effect.new_ids, effect.fragments)
    if isinstance(effect, DeadLettered):
        return (appended, PendingRemoved(effect.key, effect.group, effect.ids))
    return (appended, EntriesRemoved(effect.key, effect.ids, tombstone=True))


def _fits(keyspace: Keyspace, effect: DeadLettered | Redriven) -> bool:
    stream = keyspace.streams.get(effect.key)
    if stream is None or effect.new_key not in keyspace.streams:
        return False
    if isinstance(effect, Redriven):
        return len(stream.log.live_among(effect.ids)) == len(effect.ids)
    group = stream.groups.get(effect.group)
    return group is not None and len(group.pending.present(effect.ids)) == len(effect.ids)
