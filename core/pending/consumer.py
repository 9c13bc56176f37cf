"""A consumer of a group: when it was seen, and which pending units are its own.

`pending.PendingEntriesList` keeps the index of a consumer in step with its own; nothing else writes to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from itertools import chain

from sortedcontainers import SortedDict

from tailrace.core.pending.sorted_view import SortedView
from tailrace.core.pending.units import Run
from tailrace.core.stream_id import StreamId

NEVER_ACTIVE_MS = -1
"""`active_at_ms` of a consumer to whom nothing was ever delivered."""


class Consumer:
    """`seen_at_ms`: Unix time of its last attempt to read or claim. `active_at_ms`: of the last one
    that gave it something (rule 33). `pending_count`: entries it owns."""

    __slots__ = ("active_at_ms", "name", "pending_count", "runs", "scattered", "scattered_ids", "seen_at_ms")

    def __init__(self, name: bytes, seen_at_ms: int) -> None:
        self.name = name
        self.seen_at_ms = seen_at_ms
        self.active_at_ms = NEVER_ACTIVE_MS
        self.pending_count = 0
        self.runs: SortedDict[StreamId, Run] = SortedDict()
        self.scattered: set[StreamId] = set()
        self.scattered_ids = SortedView(self.scattered)

    def pending_ids(self, start: StreamId = 0) -> Iterator[StreamId]:
        """Its pending ids at or after `start`, rising. O(log n + m)."""
        ids = run_ids(self.runs, start)
        return merge(ids, self.scattered_ids.from_(start)) if self.scattered else ids


def run_ids(runs: SortedDict[StreamId, Run], start: StreamId) -> Iterator[StreamId]:
    """The live ids at or after `start` of runs that do not overlap, by their first ids."""
    index = max(runs.bisect_right(start) - 1, 0)
    return chain.from_iterable(runs[first_id].live_ids(start) for first_id in runs.islice(index))
