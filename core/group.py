"""A consumer group: its position in the stream, its consumers, its pending entries list."""

from __future__ import annotations

from sortedcontainers import SortedDict

from core.consumer import Consumer
from core.pending import PendingEntriesList
from core.stream_id import StreamId


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
