"""A consumer group: its position in the stream, its consumers, its pending entries list."""

from __future__ import annotations

from sortedcontainers import SortedDict

from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.pending_list import PendingEntriesList
from tailrace.core.stream_id import StreamId


class Group:
    """`last_delivered_id`: entries above it were never delivered to anyone in the group.
    `entries_read`: how many of all entries ever added lie at or below that position, None where that
    is not known (rules 56 and 57). `consumers`: by name, in byte order.
    """

    __slots__ = ("consumers", "entries_read", "last_delivered_id", "name", "pending")

    def __init__(self, name: bytes, last_delivered_id: StreamId, entries_read: int | None) -> None:
        self.name = name
        self.last_delivered_id = last_delivered_id
        self.entries_read = entries_read
        self.consumers: SortedDict[bytes, Consumer] = SortedDict()
        self.pending = PendingEntriesList()

    @property
    def part_count(self) -> int:
        """How many things a copy makes anew: a run of pending entries is one, a scattered entry another."""
        return 1 + len(self.consumers) + len(self.pending.runs) + len(self.pending.scattered)

    def copy(self) -> Group:
        """The same group, to be changed apart. O(consumers + pending units)."""
        twin = Group(self.name, self.last_delivered_id, self.entries_read)
        for consumer in self.consumers.values():
            copied = twin.consumers[consumer.name] = Consumer(consumer.name, consumer.seen_at_ms)
            copied.active_at_ms = consumer.active_at_ms
        twin.pending.restore(unit.copy(self._twin_of(unit.consumer, twin)) for unit in self.pending.order)
        return twin

    @staticmethod
    def _twin_of(consumer: Consumer | None, twin: Group) -> Consumer | None:
        return None if consumer is None else twin.consumers[consumer.name]
