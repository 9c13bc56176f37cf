"""The pending entries of a group by id: which unit contains an id, and which ids are pending.

This module only finds; `core.pending.unit_table` adds and removes units. Runs do not overlap: between a run's
first and last id there may be singles and entries of bunches, but never an entry of another run.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import compress, groupby
from typing import cast

from tailrace.core.id_keys import ID_BYTES, table_of
from tailrace.core.log.id_sequence import as_run
from tailrace.core.pending.consumer import Consumer, run_ids, start_key
from tailrace.core.pending.run import Run
from tailrace.core.pending.run_index import RunIndex
from tailrace.core.pending.scattered import ScatteredTable
from tailrace.core.pending.stretches import contains_stretch
from tailrace.core.pending.units import RUN_OR_BUNCH_LENGTH_MIN, Unit
from tailrace.core.stream_id import StreamId


class PendingIndex(RunIndex):
    """The units of a group by id. n: pending entries, m: entries of one call."""

    __slots__ = ("count", "scattered")

    def __init__(self) -> None:
        super().__init__()
        # All pending entries, with and without an owner.
        self.count = 0
        # Every pending id outside of runs, and the single or bunch that contains it.
        self.scattered = ScatteredTable()

    # --- one id --------------------------------------------------------------------------------

    def get(self, value: StreamId) -> Unit | None:
        """Return the unit that contains `value`, None if `value` is not pending. O(1), O(log runs) in a
        run."""
        found = self._find_near(value)
        if found is None:
            key = value.to_bytes(ID_BYTES)
            unit = self.scattered.get(key)
            if unit is not None:
                return unit
            found = self._search_runs(value, key)
        return None if found is None else found[0].entry_at(found[1])

    def __contains__(self, value: StreamId) -> bool:
        if self._find_near(value) is not None:
            return True
        key = value.to_bytes(ID_BYTES)
        return self.scattered.get(key) is not None or self._search_runs(value, key) is not None

    def _find_in_run(self, value: StreamId) -> tuple[Run, int] | None:
        """Return the run and position of `value`, None if it is not pending or scattered. O(1), O(log runs)
        if the last search found another place."""
        found = self._find_near(value)
        if found is not None:
            return found
        key = value.to_bytes(ID_BYTES)
        return self._search_runs(value, key) if self.scattered.get(key) is None else None

    # --- many ids ------------------------------------------------------------------------------

    def span_of(self, ids: Sequence[StreamId]) -> tuple[Run, int] | None:
        """Return the run and the first position if `ids` follow each other in one run, all live; else None.

        This is the common case of an acknowledgment: a client acknowledges what one read returned. O(m) in C.
        """
        if len(ids) < RUN_OR_BUNCH_LENGTH_MIN:
            return None
        found = self._find_in_run(ids[0])
        return found if found is not None and contains_stretch(*found, ids) else None

    def present(self, ids: Iterable[StreamId]) -> Sequence[StreamId]:
        """Return the pending ones of `ids`, each once. Four or more ids are returned in rising order.
        O(m log m)."""
        ids = ids if isinstance(ids, range) else tuple(ids)
        if len(ids) == 1:
            return ids if ids[0] in self else ()
        if len(ids) < RUN_OR_BUNCH_LENGTH_MIN:
            return [value for value in dict.fromkeys(ids) if value in self]
        if self.span_of(ids) is not None:
            return as_run(ids)
        return sorted(self.units_of(ids))

    def units_of(self, ids: Iterable[StreamId]) -> Mapping[StreamId, Unit]:
        """Return the unit of each of `ids` that is pending. O(m log m): ids in one run are found together."""
        ids = ids if isinstance(ids, Sequence) else tuple(ids)
        scattered = self.scattered.get_all(ids)
        units: list[Unit] = list(filter(None, scattered))
        found = list(compress(ids, scattered))
        in_runs = [value for value, unit in zip(ids, scattered, strict=True) if unit is None]
        for run, values, positions in self._positions_in_runs(in_runs):
            live = [at for at in positions if at >= 0]
            found += compress(values, map((0).__le__, positions))
            units += [run] * len(live) if run.is_uniform else map(run.entry_at, live)
        return table_of(found, units)

    def units_at(self, ids: Sequence[StreamId]) -> list[Unit]:
        """Return the unit of each of `ids`, which are all pending. O(m) in C for singles and bunches."""
        found = self.scattered.get_all(ids)
        if None not in found:
            return cast("list[Unit]", found)
        units = self.units_of(ids)
        return [units[value] for value in ids]

    def by_run(
        self, ids: Sequence[StreamId], consumer: Consumer | None = None
    ) -> Iterator[tuple[Run | None, Sequence[StreamId]]]:
        """Divide `ids`, which are all pending ids between the first and the last of them, into pieces: those
        of one run or strip each, and those outside of these, with None. O(runs in between), and O(m) in C.

        `consumer`: if given, `ids` are all ids between them that this consumer owns.
        """
        if len(ids) == 1:
            # Monitors ask for one entry at a time.
            unit = self.get(ids[0])
            yield unit if isinstance(unit, Run) else None, ids
            return
        start, has_scattered = 0, bool(self.scattered)
        for run in self._runs_between(ids[0], ids[-1], consumer):
            first = bisect_left(ids, run.first_id, start)
            end = bisect_right(ids, run.last_id, first)
            if start < first:
                yield None, ids[start:first]
            # A consumer's strip may have entries of others only.
            if first < end and has_scattered:
                yield from self._with_scattered(run, ids[first:end])
            elif first < end:
                yield run, ids[first:end]
            start = end
        if start < len(ids):
            yield None, ids[start:]

    def _with_scattered(
        self, run: Run, ids: Sequence[StreamId]
    ) -> Iterator[tuple[Run | None, Sequence[StreamId]]]:
        """Divide `ids` between the ends of `run` into those of the run and those outside of runs."""
        if self.scattered.has_none(ids):
            yield run, ids
        else:
            for is_scattered, some in groupby(ids, self.scattered.__contains__):
                yield None if is_scattered else run, list(some)

    # --- ranges of ids -------------------------------------------------------------------------

    def ids(self, start: StreamId = 0) -> Iterator[StreamId]:
        """Return the pending ids at or after `start`, rising. O(log n + m).

        The list must not change while the iterator is in use.
        """
        if not self.runs:
            return self.scattered.from_(start)
        ids = run_ids(self.runs, start)
        return merge(ids, self.scattered.from_(start)) if self.scattered else ids

    def ids_of(self, consumer: Consumer, start: StreamId = 0) -> Iterator[StreamId]:
        """As `ids`, for the entries of `consumer`."""
        ids = run_ids(consumer.runs, start)
        return merge(ids, self.scattered.owned_from(consumer, start)) if self.scattered else ids

    def bounds(self) -> tuple[StreamId, StreamId] | None:
        """Return the lowest and the highest pending id, None if there is none. O(log n), and O(entries of a
        part of `scattered`) in C."""
        ends = [(self.scattered.first_id, self.scattered.last_id)] if self.scattered else []
        if self.runs:
            ends.append((self.runs.peekitem(0)[1].first_id, self.runs.peekitem(-1)[1].last_id))
        return (min(ends)[0], max(last for _, last in ends)) if ends else None

    def first_from(self, start: StreamId) -> StreamId | None:
        """Return the lowest pending id at or after `start`, None if there is none. O(log n)."""
        least = next(self.scattered.from_(start), None) if self.scattered else None
        for key in self.runs.islice(max(self.runs.bisect_right(start_key(start)) - 1, 0)):
            found = self.runs[key].first_live_from(start)
            if found is not None:
                return found if least is None else min(found, least)
        return least

    def has_between(self, first: StreamId, last: StreamId) -> bool:
        """Return whether an id from `first` to `last` is pending. O(log n)."""
        return (found := self.first_from(first)) is not None and found <= last

    def count_between(self, first: StreamId, last: StreamId) -> int:
        """Return how many ids from `first` to `last` are pending. O(log n + runs in between)."""
        count = self.scattered.count_between(first, last) if self.scattered else 0
        for run in self._runs_between(first, last):
            count += run.count_live(*run.between(first, last))
        return count

    def run_over(self, first: StreamId, last: StreamId) -> Run | None:
        """Return the one run whose window spans all ids from `first` to `last`; None if there is no such run,
        or if any entry of the group is pending outside of runs. O(log n)."""
        runs = [] if self.scattered else self._runs_between(first, last)
        return runs[0] if len(runs) == 1 and runs[0].first_id <= first and last <= runs[0].last_id else None
