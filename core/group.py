"""A consumer group: its position in the stream, its consumers, its pending entries list.

This module never decides what a command does, and never reads the stream.
"""

from __future__ import annotations

from collections.abc import Iterable

from sortedcontainers import SortedDict

from tailrace.core.filters import Filter
from tailrace.core.group_settings import GroupSettings
from tailrace.core.id_keys import id_keys, ids_of_keys
from tailrace.core.key_order import KeyOrder
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.pending_list import PendingEntriesList
from tailrace.core.pending.scattered_part import Removed
from tailrace.core.pending.strip import Strip
from tailrace.core.pending.units import Unit
from tailrace.core.stream_id import StreamId


class Group:
    """One group. Only `core.effects` and `core.storage` change it."""

    __slots__ = (
        "compiled_filter",
        "consumers",
        "dead_letter_count",
        "entries_read",
        "last_delivered_id",
        "name",
        "order",
        "pending",
        "settings",
    )

    def __init__(self, name: bytes, last_delivered_id: StreamId, entries_read: int | None) -> None:
        self.name = name
        # The position: a read of new entries starts after this id. XGROUP SETID may move it back.
        self.last_delivered_id = last_delivered_id
        # How many of all entries ever added are at or before the position; None: unknown (rules 56 and 57).
        self.entries_read = entries_read
        # The consumers by name, in byte order.
        self.consumers: SortedDict[bytes, Consumer] = SortedDict()
        # The delivered entries that are not acknowledged yet.
        self.pending = PendingEntriesList()
        # The settings; None if no setting is set.
        self.settings: GroupSettings | None = None
        # The filter in the settings, compiled by the first read that needs it; it may be that of earlier
        # settings. Not a part of the state: a copy compiles it again.
        self.compiled_filter: Filter | None = None
        # The order by key; None without `order_by`, unless entries are still held after its removal.
        self.order: KeyOrder | None = None
        # How many entries were ever moved to a dead-letter stream.
        self.dead_letter_count = 0

    @property
    def part_count(self) -> int:
        """The number of objects that a copy creates: the group, consumers, runs, scattered entries, and those
        of its order by key. O(1)."""
        parts = 1 + len(self.consumers) + len(self.pending.runs) + len(self.pending.scattered)
        return parts if self.order is None else parts + self.order.part_count

    @property
    def held_count(self) -> int:
        """The number of entries at or before the position that the group holds back. O(1)."""
        return 0 if self.order is None else len(self.order.held)

    @property
    def ready_count(self) -> int:
        """The number of held entries that the next read can deliver. O(1)."""
        return 0 if self.order is None else len(self.order.ready)

    def held_among(self, ids: Iterable[StreamId]) -> list[StreamId]:
        """Return those of `ids` that the group, which has an order by key, holds back. O(ids)."""
        assert self.order is not None
        return list(ids_of_keys(filter(self.order.held.by_key.__contains__, id_keys(ids))))

    @property
    def needed_from(self) -> StreamId:
        """The id below which the group has delivered all entries. O(1)."""
        return self.last_delivered_id + 1 if not self.held_count else self._first_held_id

    @property
    def _first_held_id(self) -> StreamId:
        assert self.order is not None
        return next(iter(self.order.held))

    def take_pending(self) -> Group:
        """Remove all pending entries, and return a group that has them, to be freed. O(consumers)."""
        gone = Group(self.name, self.last_delivered_id, self.entries_read)
        gone.pending, self.pending = self.pending, gone.pending
        for consumer in self.consumers.values():
            gone.consumers[consumer.name] = consumer.take_pending()
        return gone

    def take_consumer(self, name: bytes) -> tuple[Group | Consumer, list[Removed]]:
        """Remove a consumer with its pending entries. Return what is to be freed: the consumer, or a group
        that has the consumer if it owns all pending entries; and the entries that are to be unlinked.
        O(consumers) in the second case, else as `PendingEntriesList.drop_consumer`."""
        consumer: Consumer = self.consumers.pop(name)
        if consumer.pending_count < self.pending.count:
            return consumer, self.pending.drop_consumer(consumer)
        gone = Group(self.name, self.last_delivered_id, self.entries_read)
        gone.pending, self.pending = self.pending, gone.pending
        gone.consumers[name] = consumer
        for other in self.consumers.values():
            # The strips of the list are also in the indexes of consumers without entries in them.
            if other.runs:
                other.runs.clear()
        return gone, []

    def transfer(self, name: bytes, new_name: bytes) -> None:
        """Make the consumer `new_name` the owner of all entries of the consumer `name`. O(runs and
        scattered entries of the one that has fewer entries)."""
        consumer, new_consumer = self.consumers[name], self.consumers[new_name]
        if consumer.pending_count > new_consumer.pending_count:
            consumer.exchange_names(new_consumer)
            self.consumers[name], self.consumers[new_name] = new_consumer, consumer
            consumer, new_consumer = new_consumer, consumer
        self.consumers[consumer.name] = consumer.without_entries()
        self.pending.transfer(consumer, new_consumer)

    def copy(self) -> Group:
        """Return an independent copy. O(consumers + pending units)."""
        twin = Group(self.name, self.last_delivered_id, self.entries_read)
        twin.settings, twin.dead_letter_count = self.settings, self.dead_letter_count
        twin.order = None if self.order is None else self.order.copy()
        for consumer in self.consumers.values():
            copied = twin.consumers[consumer.name] = Consumer(consumer.name, consumer.seen_at_ms)
            copied.active_at_ms = consumer.active_at_ms
        twin.pending.restore(_copied(unit, twin.consumers) for unit in self.pending.units())
        return twin


def _copied(unit: Unit, twins: SortedDict[bytes, Consumer]) -> Unit:
    if isinstance(unit, Strip):
        return unit.copy_among(twins)
    return unit.copy(None if unit.consumer is None else twins[unit.consumer.name])
