"""A consumer group: its position in the stream, its consumers, its pending entries list.

This module never decides what a command does, and never reads the stream.
"""

from __future__ import annotations

from sortedcontainers import SortedDict

from tailrace.core.group_settings import GroupSettings
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.pending_list import PendingEntriesList
from tailrace.core.stream_id import StreamId


class Group:
    """One group. Only `core.apply` and `core.storage` change it."""

    __slots__ = (
        "consumers",
        "dead_letter_count",
        "entries_read",
        "last_delivered_id",
        "name",
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
        # How many entries were ever moved to a dead-letter stream.
        self.dead_letter_count = 0

    @property
    def part_count(self) -> int:
        """The number of objects that a copy creates: the group, consumers, runs, scattered entries. O(1)."""
        return 1 + len(self.consumers) + len(self.pending.runs) + len(self.pending.scattered)

    def take_pending(self) -> Group:
        """Remove all pending entries, and return a group that has them, to be freed. O(consumers)."""
        gone = Group(self.name, self.last_delivered_id, self.entries_read)
        gone.pending, self.pending = self.pending, gone.pending
        for consumer in self.consumers.values():
            gone.consumers[consumer.name] = consumer.take_pending()
        return gone

    def take_consumer(self, name: bytes) -> Group | Consumer:
        """Remove a consumer with its pending entries. Return what is to be freed: the consumer, or a group
        that has the consumer if it owns all pending entries. O(1) in the second case, else as
        `PendingEntriesList.drop_consumer`."""
        consumer: Consumer = self.consumers.pop(name)
        if consumer.pending_count < self.pending.count:
            self.pending.drop_consumer(consumer)
            return consumer
        gone = Group(self.name, self.last_delivered_id, self.entries_read)
        gone.pending, self.pending = self.pending, gone.pending
        gone.consumers[name] = consumer
        return gone

    def transfer(self, name: bytes, new_name: bytes) -> None:
        """Make the consumer `new_name` the owner of all entries of the consumer `name`. O(entries of the one
        that has fewer)."""
        consumer, new_consumer = self.consumers[name], self.consumers[new_name]
        if consumer.pending_count > new_consumer.pending_count:
            consumer.exchange_names(new_consumer)
            self.consumers[name], self.consumers[new_name] = new_consumer, consumer
            consumer, new_consumer = new_consumer, consumer
        self.pending.transfer(consumer, new_consumer)

    def copy(self) -> Group:
        """Return an independent copy. O(consumers + pending units)."""
        twin = Group(self.name, self.last_delivered_id, self.entries_read)
        twin.settings, twin.dead_letter_count = self.settings, self.dead_letter_count
        for consumer in self.consumers.values():
            copied = twin.consumers[consumer.name] = Consumer(consumer.name, consumer.seen_at_ms)
            copied.active_at_ms = consumer.active_at_ms
        twin.pending.restore(unit.copy(self._twin_of(unit.consumer, twin)) for unit in self.pending.units())
        return twin

    @staticmethod
    def _twin_of(consumer: Consumer | None, twin: Group) -> Consumer | None:
        return None if consumer is None else twin.consumers[consumer.name]
