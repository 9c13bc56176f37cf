"""A consumer of a group: its activity times, and the index of the pending entries it owns.

`PendingEntriesList` is the only writer of the index. This module never imports the classes of pending units:
units point to their consumer, and a consumer needs only the ids of its runs (`IdRun`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Final, Protocol, TypeVar

from sortedcontainers import SortedDict

from tailrace.core.id_keys import id_key
from tailrace.core.stream_id import MAX_ID, StreamId

NEVER_ACTIVE_MS = -1
"""`active_at_ms` of a consumer that never received an entry."""


_ABOVE_ALL: Final = id_key(MAX_ID) + b"\0"


class IdRun(Protocol):
    """What a consumer's index uses of a run of pending entries."""

    def live_ids(self, start: StreamId = 0, /) -> Iterator[StreamId]:
        """Return the pending ids at or after `start`, rising."""
        ...


IdRunT = TypeVar("IdRunT", bound=IdRun)


class Consumer:
    """One consumer of one group, and the index of its runs; `core.pending.scattered` has its other
    entries."""

    __slots__ = ("active_at_ms", "is_gone", "name", "pending_count", "runs", "seen_at_ms")

    def __init__(self, name: bytes, seen_at_ms: int) -> None:
        self.name = name
        # Unix time of the last attempt to read or claim, successful or not (rule 33).
        self.seen_at_ms = seen_at_ms
        # Whether the consumer was removed, while units of it may still be in the order of delivery.
        self.is_gone = False
        # Unix time of the last read or claim that returned an entry; NEVER_ACTIVE_MS before the first one.
        self.active_at_ms = NEVER_ACTIVE_MS
        # Entries that the consumer owns, in runs and scattered.
        self.pending_count = 0
        # The consumer's runs by `Run.key`: the same keys and runs as in the group's pending entries list.
        self.runs: SortedDict[bytes, IdRun] = SortedDict()

    def exchange_names(self, other: Consumer) -> None:
        """Exchange names and times with `other`: each consumer then has the entries of the other. O(1)."""
        self.name, other.name = other.name, self.name
        self.seen_at_ms, other.seen_at_ms = other.seen_at_ms, self.seen_at_ms
        self.active_at_ms, other.active_at_ms = other.active_at_ms, self.active_at_ms

    def take_pending(self) -> Consumer:
        """Forget all pending entries, and return a consumer that has the index of runs. O(1)."""
        gone = Consumer(self.name, self.seen_at_ms)
        gone.runs, self.runs = self.runs, gone.runs
        gone.pending_count, self.pending_count = self.pending_count, 0
        return gone

    def without_entries(self) -> Consumer:
        """Return a consumer with the same name and times that owns nothing. O(1)."""
        other = Consumer(self.name, self.seen_at_ms)
        other.active_at_ms = self.active_at_ms
        return other


def start_key(start: StreamId) -> bytes:
    """Return the key of `start`, or a key above those of all ids if `start` is above them. O(1)."""
    return id_key(start) if start <= MAX_ID else _ABOVE_ALL


def run_ids(runs: SortedDict[bytes, IdRunT], start: StreamId) -> Iterator[StreamId]:
    """Return the pending ids at or after `start` of `runs`, which do not overlap, in rising order."""
    index = max(runs.bisect_right(start_key(start)) - 1, 0)
    return chain.from_iterable(runs[key].live_ids(start) for key in runs.islice(index))
