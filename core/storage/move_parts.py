"""The parts of an effect that moves entries, for a salvage: either stream of the move may be lost.

A salvage carries out each part alone, so that an entry which was moved survives in the stream that is intact.
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


def parts_of(effect: Effect) -> tuple[Effect, ...]:
    """Return effects that together do the same; the effect itself if it concerns one stream only."""
    if isinstance(effect, DeadLettered | Redriven):
        appended = EntriesAppended(effect.new_key, effect.new_ids, effect.fragments)
        if isinstance(effect, DeadLettered):
            return (appended, PendingRemoved(effect.key, effect.group, effect.ids))
        return (appended, EntriesRemoved(effect.key, effect.ids, tombstone=True))
    return (effect,)
