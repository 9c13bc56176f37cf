"""Applying the effects on scheduled entries and on delayed retries. Only `core.apply` uses this module.

As there, applying decides nothing and cannot fail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from tailrace.core.effects import (
    Effect,
    EntriesScheduled,
    RetriesDelayed,
    RetriesReleased,
    ScheduledCancelled,
    ScheduledPublished,
)
from tailrace.core.group import Group
from tailrace.core.keyspace import Keyspace
from tailrace.core.schedule import Schedule, ScheduledId
from tailrace.core.stream import Stream


def _scheduled(keyspace: Keyspace, effect: EntriesScheduled) -> None:
    stream: Stream = keyspace.streams[effect.key]
    schedule = stream.schedule = stream.schedule or Schedule()
    schedule.add(effect.scheduled_ids, effect.fragments)
    keyspace.agenda.count(len(effect.fragments), sum(map(len, effect.fragments)))
    keyspace.agenda.note_schedule(stream)


def _published(keyspace: Keyspace, effect: ScheduledPublished) -> None:
    stream: Stream = keyspace.streams[effect.key]
    fragments = _taken(keyspace, stream, effect.scheduled_ids)
    stream.log.append(effect.ids, fragments, keyspace.node_limits)
    stream.last_id = effect.ids[-1]
    stream.entries_added += len(effect.ids)


def _cancelled(keyspace: Keyspace, effect: ScheduledCancelled) -> None:
    _taken(keyspace, keyspace.streams[effect.key], effect.scheduled_ids)


def _taken(keyspace: Keyspace, stream: Stream, ids: Sequence[ScheduledId]) -> list[bytes]:
    """Remove scheduled entries of a stream, and return their fragments."""
    assert stream.schedule is not None, "it has these entries"
    fragments = stream.schedule.remove(ids)
    keyspace.agenda.count(-len(fragments), -sum(map(len, fragments)))
    keyspace.agenda.note_schedule(stream)
    return fragments


def _retries_delayed(keyspace: Keyspace, effect: RetriesDelayed) -> None:
    stream: Stream = keyspace.streams[effect.key]
    group: Group = stream.groups[effect.group]
    group.pending.hold(effect.ids, effect.deliveries, effect.claimable_at_ms)
    keyspace.agenda.note_group(stream, group)


def _retries_released(keyspace: Keyspace, effect: RetriesReleased) -> None:
    stream: Stream = keyspace.streams[effect.key]
    group: Group = stream.groups[effect.group]
    group.pending.release(effect.ids)
    keyspace.agenda.note_group(stream, group)


APPLIERS: Final[dict[type[Effect], Callable[[Keyspace, Any], None]]] = {
    EntriesScheduled: _scheduled,
    ScheduledPublished: _published,
    ScheduledCancelled: _cancelled,
    RetriesDelayed: _retries_delayed,
    RetriesReleased: _retries_released,
}
