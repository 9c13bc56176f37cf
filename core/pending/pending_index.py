"""The pending entries of a group by id: which unit contains an id, and which ids are pending.

This module only finds; `core.pending.unit_table` adds and removes units. Runs do not overlap: between a run's
first and last id there may be singles and entries of bunches, but never an entry of another run.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import groupby
from typing import cast

from sortedcontainers import SortedDict

from tailrace.core.log.id_sequence import as_run
from tailrace.core.pending.consumer import Consumer, run_ids
from tailrace.core.pending.run import Run
from tailrace.core.pending.scattered import ScatteredTable
from tailrace.core.pending.stretches import contains_stretch
from tailrace.core.pending.units import RUN_OR_BUNCH_LENGTH_MIN, Unit
from tailrace.core.stream_id import StreamId


class PendingIndex:
    """The units of a group by id. n: pending entries, m: entries of one call."""

    __slots__ = ("_last_found", "_last_id", "count", "runs", "scattered")

    def __init__(self) -> None:
        # All pending entries, with and without an owner.
        self.count = 0
        # The runs by `Run.key`, the first id of the run's window when the window was made.
        self.runs: SortedDict[StreamId, Run] = SortedDict()
        # Every pending id outside of runs, and the single or bunch that contains it.
        self.scattered = ScatteredTable()
        # The run, position and id that the last search in runs found. Reset when a run is split or dropped.
        self._last_found: tuple[Run, int] | None = None
        self._last_id: StreamId = 0

    # --- one id --------------------------------------------------------------------------------

    def get(self, value: StreamId) -> Unit | None:
        """Return the unit that contains `value`, None if `value` is not pending. O(1), O(log runs) in a
        run."""
        unit = self.scattered.get(value)
        if unit is not None:
            return unit
        found = self._find_in_runs(value)
        return None if found is None else found[0].entry_at(found[1])

    def __contains__(self, value: StreamId) -> bool:
        return self.scattered.get(value) is not None or self._find_in_runs(value) is not None

    def _find_in_runs(self, value: StreamId) -> tuple[Run, int] | None:
        """Return the run and position of `value`. O(log runs + log n).

        The last result and the position after it are tried first: O(1). Ids arrive in order, and a command
        finds an id before it removes the id.
        """
        if self._last_found is not None:
            run, position = self._last_found
            if value == self._last_id and run.is_live(position):
                return self._last_found
            if run.is_live(position + 1) and run.ids[position + 1] == value:
                self._last_found, self._last_id = (run, position + 1), value
                return self._last_found
        index = self.runs.bisect_right(value) - 1
        if index < 0:
            return None
        run = self.runs.peekitem(index)[1]
        position = run.position_of(value)
        if position < 0:
            return None
        self._last_found, self._last_id = (run, position), value
        return self._last_found

    # --- many ids ------------------------------------------------------------------------------

    def span_of(self, ids: Sequence[StreamId]) -> tuple[Run, int] | None:
        """Return the run and the first position if `ids` follow each other in one run, all live; else None.

        This is the common case of an acknowledgment: a client acknowledges what one read returned. O(m) in C.
        """
        if len(ids) < RUN_OR_BUNCH_LENGTH_MIN or self.scattered.get(ids[0]) is not None:
            return None
        found = self._find_in_runs(ids[0])
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

    def units_of(self, ids: Iterable[StreamId]) -> dict[StreamId, Unit]:
        """Return the unit of each of `ids` that is pending. O(m log m): ids in one run are found together."""
        units: dict[StreamId, Unit] = {}
        in_runs: list[StreamId] = []
        ids = ids if isinstance(ids, Sequence) else tuple(ids)
        for value, unit in zip(ids, self.scattered.get_all(ids), strict=True):
            if unit is None:
                in_runs.append(value)
            else:
                units[value] = unit
        for run, values, positions in self._positions_in_runs(in_runs):
            found = zip(values, positions, strict=True)
            if run.is_uniform:
                units.update((value, run) for value, at in found if at >= 0)
            else:
                units.update((value, run.entry_at(at)) for value, at in found if at >= 0)
        return units

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

    def _positions_in_runs(
        self, ids: Iterable[StreamId]
    ) -> Iterator[tuple[Run, Sequence[StreamId], list[int]]]:
        """Yield each run whose window meets some of `ids`, those ids in rising order, and their positions (-1
        if not live in the run).

        The caller may drop the run before it asks for the next one, and may change nothing else.
        """
        ordered = sorted(set(ids)) if self.runs else []
        start = 0
        while start < len(ordered):
            index = self.runs.bisect_right(ordered[start]) - 1
            run = self.runs.peekitem(index)[1] if index >= 0 else None
            if run is not None and run.last_id >= ordered[start]:
                end = bisect_right(ordered, run.last_id, start)
                values = ordered[start:end]
                yield run, values, run.positions_of(values)
                start = end
            elif index + 1 < len(self.runs):
                start = bisect_left(ordered, self.runs.peekitem(index + 1)[0], start)
            else:
                return

    # --- ranges of ids -------------------------------------------------------------------------

    def ids(self, start: StreamId = 0) -> Iterator[StreamId]:
        """Return the pending ids at or after `start`, rising. O(log n + m).

        The list must not change while the iterator is in use.
        """
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
        for key in self.runs.islice(max(self.runs.bisect_right(start) - 1, 0)):
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

    def _runs_between(self, first: StreamId, last: StreamId, consumer: Consumer | None = None) -> list[Run]:
        """Return the runs, all or those of `consumer`, whose windows meet the ids from `first` to `last`.
        O(log n + those runs)."""
        keys = self.runs if consumer is None else consumer.runs
        low = max(keys.bisect_right(first) - 1, 0)
        runs = [self.runs[key] for key in keys.islice(low, keys.bisect_right(last))]
        # A run is filed under the first id that it ever had.
        if runs and runs[0].last_id < first:
            del runs[0]
        if runs and runs[-1].first_id > last:
            del runs[-1]
        return runs
