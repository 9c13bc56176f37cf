"""Applying effects: the one place that changes a keyspace, and the way to rebuild one.

Applying an effect decides nothing and cannot fail: the effect contains every id, time and count. Executing
commands and replaying their journal make the same calls in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tailrace.core import apply_dead_letters, apply_delay, apply_idempotency, apply_order, apply_retention
from tailrace.core.effects import (
    Claimed,
    ConfigChanged,
    ConsumerCreated,
    ConsumerDeleted,
    ConsumerSeen,
    Delivered,
    Effect,
    EntriesAppended,
    EntriesRemoved,
    EntriesTrimmed,
    GroupCreated,
    GroupDestroyed,
    GroupMoved,
    KeyspaceFlushed,
    Nacked,
    PendingBetweenRemoved,
    PendingRemoved,
    ReferencesTrimmed,
    StreamCopied,
    StreamCreated,
    StreamDeleted,
    StreamPositionSet,
    StreamRenamed,
    Transferred,
)
from tailrace.core.group import Group
from tailrace.core.keyspace import Keyspace
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.id_spans import IdSpans
from tailrace.core.stream_id import ZERO_ID


def apply(keyspace: Keyspace, effect: Effect) -> None:
    """Apply one effect to the keyspace, which must be in the state for which the effect was made."""
    APPLIERS[type(effect)](keyspace, effect)


def _entries_appended(keyspace: Keyspace, effect: EntriesAppended) -> None:
    stream, ids = keyspace.streams[effect.key], effect.ids
    if len(ids) == 1:
        # Nearly every append. The general form takes half as long again.
        last_id = ids[0]
        stream.log.append_one(last_id, effect.fragments[0], keyspace.node_limits)
        stream.entries_added += 1
    else:
        last_id = ids[-1]
        stream.log.append(ids, effect.fragments, keyspace.node_limits)
        stream.entries_added += len(ids)
    stream.last_id = last_id


def _entries_trimmed(keyspace: Keyspace, effect: EntriesTrimmed) -> None:
    stream = keyspace.streams[effect.key]
    last_id = stream.log.trim_front(effect.count)
    stream.max_trimmed_id = max(stream.max_trimmed_id, last_id)
    if stream.ordered:
        apply_order.trimmed(keyspace, effect.key, stream, last_id)


def _entries_removed(keyspace: Keyspace, effect: EntriesRemoved) -> None:
    stream = keyspace.streams[effect.key]
    stream.log.remove(effect.ids)
    if stream.ordered:
        apply_order.removed(keyspace, effect.key, stream, effect.ids)
    if effect.tombstone:
        stream.max_deleted_id = max(stream.max_deleted_id, effect.ids[-1])
    else:
        stream.max_trimmed_id = max(stream.max_trimmed_id, effect.ids[-1])


def _stream_created(keyspace: Keyspace, effect: StreamCreated) -> None:
    keyspace.create(effect.key)


def _stream_deleted(keyspace: Keyspace, effect: StreamDeleted) -> None:
    keyspace.delete(effect.key)


def _stream_renamed(keyspace: Keyspace, effect: StreamRenamed) -> None:
    keyspace.rename(effect.key, effect.new_key)


def _stream_copied(keyspace: Keyspace, effect: StreamCopied) -> None:
    keyspace.copy(effect.key, effect.new_key)


def _flushed(keyspace: Keyspace, _: KeyspaceFlushed) -> None:
    keyspace.clear()


def _config_changed(keyspace: Keyspace, effect: ConfigChanged) -> None:
    keyspace.configure(effect.name, effect.value)


def _position_set(keyspace: Keyspace, effect: StreamPositionSet) -> None:
    stream = keyspace.streams[effect.key]
    stream.last_id = effect.last_id
    stream.entries_added = effect.entries_added
    stream.max_deleted_id = effect.max_deleted_id
    keyspace.agenda.note_schedule(stream)
    for group in stream.groups.values():
        group.pending.order.look_again()


def _group_created(keyspace: Keyspace, effect: GroupCreated) -> None:
    group = Group(effect.group, effect.last_delivered_id, effect.entries_read)
    keyspace.streams[effect.key].add_group(group)


def _group_moved(keyspace: Keyspace, effect: GroupMoved) -> None:
    stream = keyspace.streams[effect.key]
    group: Group = stream.groups[effect.group]
    stream.forget_references_from(group.last_delivered_id + 1)
    group.last_delivered_id = effect.last_delivered_id
    group.entries_read = effect.entries_read


def _group_destroyed(keyspace: Keyspace, effect: GroupDestroyed) -> None:
    stream = keyspace.streams[effect.key]
    group: Group = stream.groups.pop(effect.group)
    if group.order is not None:
        stream.forget_order(group.name)
    keyspace.garbage.add_group(group)
    keyspace.agenda.due.forget((stream.serial, effect.group))
    stream.forget_references_from(ZERO_ID)


def _consumer_created(keyspace: Keyspace, effect: ConsumerCreated) -> None:
    _group(keyspace, effect).consumers[effect.consumer] = Consumer(effect.consumer, effect.at_ms)


def _consumer_deleted(keyspace: Keyspace, effect: ConsumerDeleted) -> None:
    stream = keyspace.streams[effect.key]
    group: Group = stream.groups[effect.group]
    stream.forget_references_from(ZERO_ID)
    ids = () if group.order is None else apply_order.owned(group, effect.consumer)
    gone, entries = group.take_consumer(effect.consumer)
    if ids:
        apply_order.released(keyspace, effect.key, group, ids)
    if isinstance(gone, Group):
        keyspace.garbage.add_group(gone)
    else:
        keyspace.garbage.add_consumer(gone)
    keyspace.garbage.add_entries(group.pending, entries)


def _consumer_seen(keyspace: Keyspace, effect: ConsumerSeen) -> None:
    consumer = keyspace.streams[effect.key].groups[effect.group].consumers[effect.consumer]
    consumer.seen_at_ms = effect.at_ms
    if effect.active:
        consumer.active_at_ms = effect.at_ms


def _delivered(keyspace: Keyspace, effect: Delivered) -> None:
    group: Group = keyspace.streams[effect.key].groups[effect.group]
    group.pending.deliver(effect.ids, group.consumers[effect.consumer], effect.at_ms)


def _claimed(keyspace: Keyspace, effect: Claimed) -> None:
    group: Group = keyspace.streams[effect.key].groups[effect.group]
    consumer = group.consumers[effect.consumer]
    group.pending.claim(effect.ids, consumer, effect.delivered_at_ms, effect.deliveries)


def _transferred(keyspace: Keyspace, effect: Transferred) -> None:
    _group(keyspace, effect).transfer(effect.consumer, effect.new_consumer)


def _nacked(keyspace: Keyspace, effect: Nacked) -> None:
    _group(keyspace, effect).pending.nack(effect.ids, effect.deliveries)


def _pending_removed(keyspace: Keyspace, effect: PendingRemoved) -> None:
    stream = keyspace.streams[effect.key]
    if stream.referenced_below:
        stream.forget_references_from(min(effect.ids))
    group: Group = stream.groups[effect.group]
    group.pending.remove(effect.ids)
    if group.order is not None:
        apply_order.released(keyspace, effect.key, group, effect.ids)


def _pending_between_removed(keyspace: Keyspace, effect: PendingBetweenRemoved) -> None:
    stream = keyspace.streams[effect.key]
    stream.forget_references_from(effect.first_ids[0])
    group: Group = stream.groups[effect.group]
    entries = group.pending.remove_spans(IdSpans(effect.first_ids, effect.last_ids))
    keyspace.garbage.add_entries(group.pending, entries)


def _references_trimmed(keyspace: Keyspace, effect: ReferencesTrimmed) -> None:
    stream = keyspace.streams[effect.key]
    stream.forget_references_from(effect.first_ids[0])
    spans = IdSpans(effect.first_ids, effect.last_ids)
    for group in stream.groups.values():
        if group.pending.is_within(spans):
            keyspace.garbage.add_group(group.take_pending())
        elif group.pending.count:
            keyspace.garbage.add_entries(group.pending, group.pending.remove_spans(spans))


def _group(keyspace: Keyspace, effect: Any) -> Group:
    group: Group = keyspace.streams[effect.key].groups[effect.group]
    return group


APPLIERS: Final[dict[type[Effect], Callable[[Keyspace, Any], None]]] = {
    EntriesAppended: _entries_appended,
    EntriesTrimmed: _entries_trimmed,
    EntriesRemoved: _entries_removed,
    StreamCreated: _stream_created,
    StreamDeleted: _stream_deleted,
    StreamRenamed: _stream_renamed,
    StreamCopied: _stream_copied,
    KeyspaceFlushed: _flushed,
    ConfigChanged: _config_changed,
    StreamPositionSet: _position_set,
    GroupCreated: _group_created,
    GroupMoved: _group_moved,
    GroupDestroyed: _group_destroyed,
    ConsumerCreated: _consumer_created,
    ConsumerDeleted: _consumer_deleted,
    ConsumerSeen: _consumer_seen,
    Delivered: _delivered,
    Claimed: _claimed,
    Transferred: _transferred,
    Nacked: _nacked,
    PendingRemoved: _pending_removed,
    PendingBetweenRemoved: _pending_between_removed,
    ReferencesTrimmed: _references_trimmed,
    **apply_dead_letters.APPLIERS,
    **apply_delay.APPLIERS,
    **apply_idempotency.APPLIERS,
    **apply_order.APPLIERS,
    **apply_retention.APPLIERS,
}
