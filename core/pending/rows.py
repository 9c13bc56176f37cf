"""What pending entries of one change have in common: owner, time, serial and delivery count.

A row is that of one segment (`Local`), or a batch: entries that were changed together, in any order, in many
segments. This module holds data only.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, repeat
from typing import Any, Final, NamedTuple, TypeAlias

from tailrace.core.id_keys import id_key, id_keys
from tailrace.core.pending.consumer import Consumer
from tailrace.core.stream_id import StreamId

UNOWNED: Final = -1
"""The time of entries without an owner: before every real time."""
HELD_FROM: Final = 1 << 62
"""The time of a delayed entry is this plus the time at which it can be claimed: after every real time."""


class Delivery(NamedTuple):
    """What the list knows of an entry."""

    consumer: Consumer | None
    """The owner; None after XNACK."""
    at_ms: int
    """Unix time of the last delivery; `UNOWNED`, or from `HELD_FROM` on while the entry is delayed."""
    deliveries: int
    """How often the entry was delivered; XCLAIM and XNACK set it, 0 included."""


def latest_idle_ms(now_ms: int, min_idle_ms: int) -> int:
    """Return the greatest `Delivery.at_ms` that is idle for `min_idle_ms`. An entry without an owner is idle
    at any threshold, unless it is delayed, and any owned one at a threshold of 0."""
    return max(now_ms - min_idle_ms, UNOWNED) if min_idle_ms > 0 else HELD_FROM - 1


Counts: TypeAlias = int | list[int]
"""The delivery count of all of some entries, or that of each."""


def counts_of(deliveries: Sequence[int]) -> Counts:
    """Return the delivery counts of some entries, at least one. O(entries) in C."""
    count = deliveries[0]
    return count if deliveries.count(count) == len(deliveries) else list(deliveries)


Stamp: TypeAlias = tuple[int, int, StreamId]
"""Time, serial and first id of a segment or batch, at or before those of its first entry in the order."""
Bound: TypeAlias = tuple[int, int, StreamId, Any]
"""A stamp, and the segment or batch itself. These do not refer to their bounds: deleted lists are freed at
once, without the garbage collector."""


class Batch:
    """A row of entries that were changed together, in any order, in many segments. Claiming all of them
    again, in this order, changes the batch and no segment."""

    __slots__ = ("_count_of", "at_ms", "bound", "consumer", "counts", "ids", "live", "serial")

    def __init__(
        self, ids: list[StreamId], consumer: Consumer | None, at_ms: int, serial: int, counts: Counts
    ) -> None:
        # In order of delivery; some may have left the batch.
        self.ids = ids
        self.consumer = consumer
        self.at_ms, self.serial = at_ms, serial
        # How often all of `ids` were delivered, or each of them.
        self.counts = counts
        # How many of them have not left it.
        self.live = len(ids)
        # The count of each by its key, made when one is asked for.
        self._count_of: dict[bytes, int] | None = None
        # Under which the order has the batch; None: not in the order.
        self.bound: Stamp | None = None

    def give(self, consumer: Consumer | None, at_ms: int, serial: int, counts: Counts) -> None:
        """Change all entries. O(1)."""
        self.consumer, self.at_ms, self.serial = consumer, at_ms, serial
        self.counts, self._count_of = counts, None

    def keep(self, is_kept: list[bool]) -> None:
        """Keep some of `ids`: those that have not left. O(entries) in C."""
        self.ids = list(compress(self.ids, is_kept))
        if not isinstance(self.counts, int):
            kept = list(compress(self.counts, is_kept))
            self.counts, self._count_of = counts_of(kept) if kept else kept, None

    def count_of(self, value: StreamId) -> int:
        """Return how often one of `ids` was delivered. O(1), O(entries) in C for the first one."""
        if isinstance(self.counts, int):
            return self.counts
        if self._count_of is None:
            self._count_of = dict(zip(id_keys(self.ids), self.counts, strict=True))
        return self._count_of[id_key(value)]

    def views(self) -> list[Delivery]:
        """Return what the list knows of each of `ids`. O(entries) in C."""
        if isinstance(self.counts, int):
            return [Delivery(self.consumer, self.at_ms, self.counts)] * len(self.ids)
        return list(map(Delivery, repeat(self.consumer), repeat(self.at_ms), self.counts))

    def all_counts(self) -> list[int]:
        """Return how often each of `ids` was delivered. O(entries) in C."""
        return [self.counts] * len(self.ids) if isinstance(self.counts, int) else self.counts

    @property
    def first(self) -> StreamId:
        """What orders a batch among segments of equal time and serial, of which there are none."""
        return 0


Local: TypeAlias = tuple[int, int, Consumer | None, int]
"""A row of a segment: time, serial, owner, count."""
Row: TypeAlias = Local | Batch
