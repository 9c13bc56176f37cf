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
from tailrace.core.pending.stored import copied
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
        """The number of objects that a copy creates: the group, consumers, segments of pending entries, and
        those of its order by key. O(1)."""
        parts = 1 + len(self.consumers) + len(self.pending.table.segments)
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

    def remove_consumer(self, name: bytes) -> None:
        """Remove a consumer with its pending entries. As `PendingEntriesList.drop_consumer`."""
        self.pending.drop_consumer(self.consumers.pop(name))

    def transfer(self, name: bytes, new_name: bytes) -> None:
        """Make the consumer `new_name` the owner of all entries of the consumer `name`. As
        `PendingEntriesList.transfer`."""
        self.pending.transfer(self.consumers[name], self.consumers[new_name])

    def copy(self) -> Group:
        """Return an independent copy. O(consumers + pending entries)."""
        twin = Group(self.name, self.last_delivered_id, self.entries_read)
        twin.settings, twin.dead_letter_count = self.settings, self.dead_letter_count
        twin.order = None if self.order is None else self.order.copy()
        for consumer in self.consumers.values():
            other = twin.consumers[consumer.name] = Consumer(consumer.name, consumer.seen_at_ms)
            other.active_at_ms = consumer.active_at_ms
        twin.pending = copied(self.pending, self.consumers, twin.consumers)
        return twin
