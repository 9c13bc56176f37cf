"""The effects on the order by key of groups, and what other effects do to the order.

A group whose waiting readers may now find an entry is noted in `Keyspace.freed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from operator import not_

from tailrace.core.effects.effect import Effect
from tailrace.core.group import Group
from tailrace.core.id_keys import are_among
from tailrace.core.key_order import KeyOrder
from tailrace.core.keyspace import Keyspace
from tailrace.core.pending.consumer import Consumer
from tailrace.core.stream import Stream
from tailrace.core.stream_id import StreamId


class KeysTaken(Effect, frozen=True):
    """A group with `order_by` delivered entries: they are no longer held, and their keys are in flight."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    ids: Sequence[StreamId]
    """The ids, distinct; at least one."""
    keys: Sequence[bytes | None]
    """The key of each entry; None: it has none, or the delivery did not make the entry pending."""

    def apply(self, keyspace: Keyspace) -> None:
        stream = keyspace.streams[self.key]
        group: Group = stream.groups[self.group]
        assert group.order is not None
        stream.forget_references_from(min(self.ids))
        if group.order.take(self.ids, self.keys):
            keyspace.freed.add((self.key, self.group))
        if _end_if_done(group):
            stream.note_order(group)


class EntriesHeld(Effect, frozen=True):
    """A group with `order_by` passed over entries whose keys were in flight, or had held entries."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    ids: Sequence[StreamId]
    """The ids, rising, and above all held ones; at least one."""
    keys: Sequence[bytes | None]
    """The key of each entry; None: it has none, after `order_by` was changed."""

    def apply(self, keyspace: Keyspace) -> None:
        order = keyspace.streams[self.key].groups[self.group].order
        assert order is not None
        if order.hold(self.ids, self.keys):
            keyspace.freed.add((self.key, self.group))


class HeldForgotten(Effect, frozen=True):
    """A group forgot its held entries, because XGROUP SETID moved its position."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""

    def apply(self, keyspace: Keyspace) -> None:
        stream = keyspace.streams[self.key]
        group: Group = stream.groups[self.group]
        assert group.order is not None
        stream.forget_references_from(group.needed_from)
        if group.order.forget_held():
            keyspace.freed.add((self.key, self.group))
        if _end_if_done(group):
            stream.note_order(group)


# --- what other effects do ------------------------------------------------------------------------------


def configured(stream: Stream, group: Group, order_by: str | None) -> None:
    """Begin a new order, or let the held entries of the old one be ready. O(held)."""
    order = group.order
    if order_by == (None if order is None else order.field):
        return
    if order_by is not None:
        group.order = KeyOrder(order_by)
    else:
        assert order is not None, "it has a field"
        order.drain()
        _end_if_done(group)
    stream.note_order(group)


def released(keyspace: Keyspace, key: bytes, group: Group, ids: Sequence[StreamId]) -> None:
    """Free the keys of entries of a group with an order that are no longer pending. O(ids)."""
    assert group.order is not None
    if group.order.release(ids):
        keyspace.freed.add((key, group.name))


def owned(group: Group, name: bytes) -> Sequence[StreamId]:
    """Return the entries of a consumer that may be in flight. O(entries of the consumer), or O(entries in
    flight) if these are fewer."""
    consumer: Consumer = group.consumers[name]
    assert group.order is not None
    if consumer.pending_count <= len(group.order.key_of):
        return list(group.pending.ids_of(consumer))
    ids = list(group.order.key_of)
    found = group.pending.find_all(ids)
    return [value for value in found if found[value].consumer is consumer]


def removed(keyspace: Keyspace, key: bytes, stream: Stream, ids: Sequence[StreamId]) -> None:
    """Forget deleted entries, in all groups of a stream that have an order. O(ids) a group."""
    for group in list(stream.ordered.values()):
        _remove(keyspace, key, group, ids, ids)


def trimmed(keyspace: Keyspace, key: bytes, stream: Stream, last_id: StreamId) -> None:
    """Forget the entries up to `last_id`, which were trimmed. O(entries that are forgotten) a group."""
    for group in list(stream.ordered.values()):
        assert group.order is not None
        held, in_flight = group.order.held_up_to(last_id), group.order.in_flight_up_to(last_id)
        _remove(keyspace, key, group, held, in_flight)


def forget_missing(stream: Stream) -> None:
    """Forget held entries and entries in flight that the stream does not have, after a loss. O(entries)."""
    for group in list(stream.ordered.values()):
        assert group.order is not None
        ids = [*group.order.held, *group.order.key_of]
        is_live = are_among(ids, stream.log.live_among(ids))
        missing = list(compress(ids, map(not_, is_live)))
        group.order.remove(missing)
        group.order.release(missing)


def _remove(
    keyspace: Keyspace, key: bytes, group: Group, held: Sequence[StreamId], in_flight: Sequence[StreamId]
) -> None:
    order, stream = group.order, keyspace.streams[key]
    assert order is not None
    was_full = order.is_full
    first = order.remove(held)
    if first is not None:
        stream.forget_references_from(first)
    # A deleted entry that is pending stays so, but holds nothing back.
    is_freed = order.release(in_flight)
    if is_freed or (was_full and not order.is_full):
        keyspace.freed.add((key, group.name))
    if _end_if_done(group):
        stream.note_order(group)


def _end_if_done(group: Group) -> bool:
    """Drop the order of a group that no longer has `order_by`, with its last held entry."""
    if group.order is not None and group.order.is_done:
        group.order = None
        return True
    return False
