"""Applying the effects of groups' settings, leases and dead letters. Only `core.apply` uses this module.

As there, applying decides nothing and cannot fail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from tailrace.core import apply_order
from tailrace.core.effects import DeadLettered, Effect, GroupConfigured, LeasesExtended, Redriven
from tailrace.core.group import Group
from tailrace.core.group_settings import GroupSettings
from tailrace.core.keyspace import Keyspace
from tailrace.core.stream_id import StreamId


def _group_configured(keyspace: Keyspace, effect: GroupConfigured) -> None:
    settings = GroupSettings(*(getattr(effect, name) for name in GroupSettings.__struct_fields__))
    stream = keyspace.streams[effect.key]
    group: Group = stream.groups[effect.group]
    group.settings = None if settings.is_empty else settings
    apply_order.configured(stream, group, settings.order_by)
    keyspace.note_settings(stream, group)


def _leases_extended(keyspace: Keyspace, effect: LeasesExtended) -> None:
    group: Group = keyspace.streams[effect.key].groups[effect.group]
    units = group.pending.units_of(effect.ids)
    counts = [units[value].deliveries_of(value) for value in effect.ids]
    group.pending.claim(effect.ids, group.consumers[effect.consumer], effect.at_ms, counts)


def _dead_lettered(keyspace: Keyspace, effect: DeadLettered) -> None:
    _append(keyspace, effect.new_key, effect.new_ids, effect.fragments)
    stream = keyspace.streams[effect.key]
    stream.forget_references_from(min(effect.ids))
    group: Group = stream.groups[effect.group]
    group.pending.remove(effect.ids)
    if group.order is not None:
        apply_order.released(keyspace, effect.key, group, effect.ids)
    group.dead_letter_count += len(effect.ids)


def _redriven(keyspace: Keyspace, effect: Redriven) -> None:
    _append(keyspace, effect.new_key, effect.new_ids, effect.fragments)
    stream = keyspace.streams[effect.key]
    stream.log.remove(effect.ids)
    if stream.ordered:
        apply_order.removed(keyspace, effect.key, stream, effect.ids)
    stream.max_deleted_id = max(stream.max_deleted_id, effect.ids[-1])


def _append(keyspace: Keyspace, key: bytes, ids: Sequence[StreamId], fragments: Sequence[bytes]) -> None:
    stream = keyspace.streams[key]
    stream.log.append(ids, fragments, keyspace.node_limits)
    stream.last_id = ids[-1]
    stream.entries_added += len(ids)


APPLIERS: Final[dict[type[Effect], Callable[[Keyspace, Any], None]]] = {
    GroupConfigured: _group_configured,
    LeasesExtended: _leases_extended,
    DeadLettered: _dead_lettered,
    Redriven: _redriven,
}
