"""The runs of a group by id.

Runs do not overlap, so one bisection finds the run of an id. This module never changes a run.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from sortedcontainers import SortedDict

from tailrace.core.id_keys import id_key, rising
from tailrace.core.pending.consumer import Consumer, start_key
from tailrace.core.pending.run import Run
from tailrace.core.stream_id import StreamId


class RunIndex:
    """The runs of a group. n: pending entries, m: entries of one call."""

    __slots__ = ("_last_found", "_last_id", "runs")

    def __init__(self) -> None:
        # The runs by `Run.key`, the key of the first id of the run's window when the window was made.
        self.runs: SortedDict[bytes, Run] = SortedDict()
        # The run, position and id that the last search in runs found. Reset when a run is split or dropped.
        self._last_found: tuple[Run, int] | None = None
        self._last_id: StreamId = 0

    def _find_near(self, value: StreamId) -> tuple[Run, int] | None:
        """Return the run and position of `value` if the last search found it or the entry before it. O(1).

        Ids arrive in order, and a command finds an id before it removes the id.
        """
        if self._last_found is not None:
            run, position = self._last_found
            if value == self._last_id and run.is_live(position):
                return self._last_found
            if run.is_live(position + 1) and run.ids[position + 1] == value:
                self._last_found, self._last_id = (run, position + 1), value
                return self._last_found
        return None

    def _search_runs(self, value: StreamId, key: bytes) -> tuple[Run, int] | None:
        """Return the run and position of `value`, whose key is `key`. O(log runs + log n)."""
        index = self.runs.bisect_right(key) - 1
        if index < 0:
            return None
        run = self.runs.peekitem(index)[1]
        position = run.position_of(value)
        if position < 0:
            return None
        self._last_found, self._last_id = (run, position), value
        return self._last_found

    def _positions_in_runs(
        self, ids: Iterable[StreamId]
    ) -> Iterator[tuple[Run, Sequence[StreamId], list[int]]]:
        """Yield each run whose window meets some of `ids`, those ids in rising order, and their positions (-1
        if not live in the run).

        The caller may drop the run before it asks for the next one, and may change nothing else.
        """
        ordered = rising(ids) if self.runs else ()
        start = 0
        while start < len(ordered):
            index = self.runs.bisect_right(id_key(ordered[start])) - 1
            run = self.runs.peekitem(index)[1] if index >= 0 else None
            if run is not None and run.last_id >= ordered[start]:
                end = bisect_right(ordered, run.last_id, start)
                values = ordered[start:end]
                yield run, values, run.positions_of(values)
                start = end
            elif index + 1 < len(self.runs):
                start = bisect_left(ordered, self.runs.peekitem(index + 1)[1].first_id, start)
            else:
                return

    def _runs_between(self, first: StreamId, last: StreamId, consumer: Consumer | None = None) -> list[Run]:
        """Return the runs, all or those of `consumer`, whose windows meet the ids from `first` to `last`.
        O(log n + those runs)."""
        keys = self.runs if consumer is None else consumer.runs
        low = max(keys.bisect_right(start_key(first)) - 1, 0)
        runs = [self.runs[key] for key in keys.islice(low, keys.bisect_right(start_key(last)))]
        # A run is filed under the first id that it ever had.
        if runs and runs[0].last_id < first:
            del runs[0]
        if runs and runs[-1].first_id > last:
            del runs[-1]
        return runs
