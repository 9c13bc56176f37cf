"""A consumer of a group: its activity times, and the index of the pending entries it owns.

`PendingEntriesList` is the only writer of the index. This module never imports the classes of pending units:
units point to their consumer, and a consumer needs only the ids of its runs (`IdRun`) and the owner of its
other units (`OwnedUnit`).
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from itertools import chain
from typing import Protocol, TypeVar

from sortedcontainers import SortedDict

from tailrace.core.pending.sorted_view import SortedView
from tailrace.core.stream_id import StreamId

NEVER_ACTIVE_MS = -1
"""`active_at_ms` of a consumer that never received an entry."""


class IdRun(Protocol):
    """What a consumer's index uses of a run of pending entries."""

    def live_ids(self, start: StreamId = 0, /) -> Iterator[StreamId]:
        """Return the pending ids at or after `start`, rising."""
        ...


class OwnedUnit(Protocol):
    """What a consumer's index knows of a single or a bunch."""

    consumer: Consumer | None
    """The owner."""


IdRunT = TypeVar("IdRunT", bound=IdRun)


class Consumer:
    """One consumer of one group, and the index of its pending entries.

    Each pending entry of the consumer is in one of `runs` or in `scattered`, never in both.
    """

    __slots__ = ("active_at_ms", "name", "pending_count", "runs", "scattered", "scattered_ids", "seen_at_ms")

    def __init__(self, name: bytes, seen_at_ms: int) -> None:
        self.name = name
        # Unix time of the last attempt to read or claim, successful or not (rule 33).
        self.seen_at_ms = seen_at_ms
        # Unix time of the last read or claim that returned an entry; NEVER_ACTIVE_MS before the first one.
        self.active_at_ms = NEVER_ACTIVE_MS
        # Entries that the consumer owns, in runs and scattered.
        self.pending_count = 0
        # The consumer's runs by `Run.key`: the same keys and runs as in the group's pending entries list.
        self.runs: SortedDict[StreamId, IdRun] = SortedDict()
        # The consumer's entries in singles and bunches, with their units: a part of the group's table. In the
        # order in which it got them, which is that of memory: going through them needs no lookups.
        self.scattered: dict[StreamId, OwnedUnit] = {}
        # `scattered` in rising order, sorted at the first use.
        self.scattered_ids = SortedView(self.scattered)

    def exchange_names(self, other: Consumer) -> None:
        """Exchange names and times with `other`: each consumer then has the entries of the other. O(1)."""
        self.name, other.name = other.name, self.name
        self.seen_at_ms, other.seen_at_ms = other.seen_at_ms, self.seen_at_ms
        self.active_at_ms, other.active_at_ms = other.active_at_ms, self.active_at_ms

    def take_pending(self) -> Consumer:
        """Forget all pending entries, and return a consumer that has their indexes. O(1)."""
        gone = Consumer(self.name, self.seen_at_ms)
        gone.runs, self.runs = self.runs, gone.runs
        gone.scattered, self.scattered = self.scattered, gone.scattered
        gone.scattered_ids, self.scattered_ids = self.scattered_ids, gone.scattered_ids
        gone.pending_count, self.pending_count = self.pending_count, 0
        return gone

    def keep_outside(self, first: StreamId, last: StreamId) -> int:
        """Forget the entries in singles and bunches from `first` to `last`; return how many. O(m)."""
        before = len(self.scattered)
        self.scattered = {value: unit for value, unit in self.scattered.items() if not first <= value <= last}
        self.scattered_ids = SortedView(self.scattered)
        gone = before - len(self.scattered)
        self.pending_count -= gone
        return gone

    def pending_ids(self, start: StreamId = 0) -> Iterator[StreamId]:
        """Return the consumer's pending ids at or after `start`, rising. O(log n + m).

        The list must not change while the iterator is in use.
        """
        ids = run_ids(self.runs, start)
        return merge(ids, self.scattered_ids.from_(start)) if self.scattered else ids


def run_ids(runs: SortedDict[StreamId, IdRunT], start: StreamId) -> Iterator[StreamId]:
    """Return the pending ids at or after `start` of `runs`, which do not overlap, in rising order."""
    index = max(runs.bisect_right(start) - 1, 0)
    return chain.from_iterable(runs[key].live_ids(start) for key in runs.islice(index))
