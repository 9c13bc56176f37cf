"""The order of delivery of the segments and batches of a group: by the stamp of the first entry of each.

    UNOWNED ...  |  t1 t1 t2 t5 ...  |  HELD_FROM + until ...
    nacked          oldest first        delayed, by the time at which they can be claimed

A stamp is time, serial and first id: a serial rises with each change among equal times. A segment is filed
under the stamp of its first entry or one before it, so that most changes leave it where it is; the walk
repairs this. A segment with delayed entries is filed once more, under the first of these. Entries that the
stream has no more are skipped once: `pass_over` files their segment under its next entry.

This module never changes an entry.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import compress
from typing import Any, TypeAlias

from msgspec import Struct

from tailrace.core.pending.rows import HELD_FROM, UNOWNED, Batch, Bound, Stamp
from tailrace.core.pending.segment import Segment
from tailrace.core.stream_id import StreamId


class Stretch(Struct, frozen=True, gc=False):
    """Entries that follow each other in the order of delivery, as columns; none at all if all have left."""

    item: Segment | Batch
    """The segment or the batch that has them."""
    end: int
    """The row of the segment after theirs."""
    rows: Sequence[int]
    """The row of each in the segment."""
    ids: list[StreamId]
    times: list[int]
    counts: list[int]

    def among(self, is_wanted: Callable[[StreamId], bool]) -> Stretch:
        """Return the stretch with some of its entries alone."""
        wanted = list(map(is_wanted, self.ids))
        if all(wanted):
            return self
        rows, ids = list(compress(self.rows, wanted)), list(compress(self.ids, wanted))
        columns = list(compress(self.times, wanted)), list(compress(self.counts, wanted))
        return Stretch(self.item, self.end, rows, ids, *columns)


_Begun: TypeAlias = tuple[int, int, StreamId, int, Segment]
"""The time, serial and first id of the next entry of a segment, its row, and the segment."""


class Order:
    """The segments and batches of one group by the stamps of their first entries. s: their number."""

    __slots__ = ("bounds",)

    def __init__(self) -> None:
        self.bounds: list[Bound] = []

    # --- filing --------------------------------------------------------------------------------

    def note(self, item: Segment | Batch, at_ms: int, serial: int) -> None:
        """File `item`, which got an entry of this time and serial. O(log s), O(1) if it was filed before
        it."""
        bound = item.held_bound if at_ms >= HELD_FROM and isinstance(item, Segment) else item.bound
        if bound is None or (at_ms, serial) < bound[:2]:
            self._file(item, (at_ms, serial, item.first))

    def file(self, segment: Segment) -> None:
        """File `segment`, which is new. O(log s)."""
        for row in segment.first_row(0), segment.first_row(segment.held_row):
            if row < len(segment.times):
                self.note(segment, segment.times[row], segment.serials[row])

    def _file(self, item: Segment | Batch, stamp: Stamp) -> None:
        bounds, bound = self.bounds, (*stamp, item)
        if isinstance(item, Segment) and stamp[0] >= HELD_FROM:
            before, item.held_bound = item.held_bound, stamp
        else:
            before, item.bound = item.bound, stamp
        if before is not None:
            del bounds[bisect_left(bounds, before)]
        if not bounds or bounds[-1] < bound:
            bounds.append(bound)
        else:
            insort(bounds, bound)

    def forget(self, item: Segment | Batch) -> None:
        """Remove `item`. O(log s)."""
        for bound in (item.bound, item.held_bound if isinstance(item, Segment) else None):
            if bound is not None:
                del self.bounds[bisect_left(self.bounds, bound)]
        item.bound = None
        if isinstance(item, Segment):
            item.held_bound = None

    def forget_all(self, segments: Sequence[Segment]) -> None:
        """Remove `segments`, which have no entry. O(log s) for each, O(s) in C for many."""
        if len(segments) * 8 < len(self.bounds):
            for segment in segments:
                self.forget(segment)
            return
        self.bounds = [bound for bound in self.bounds if bound[3].live]
        for segment in segments:
            segment.bound = segment.held_bound = None

    # --- in order ------------------------------------------------------------------------------

    def walk(
        self, first_ms: int, latest_ms: int, most: int, least: StreamId, refresh: Callable[[Batch], None]
    ) -> Iterator[Stretch]:
        """Return the entries with times from `first_ms` to `latest_ms` in order of delivery, in stretches of
        about `most` rows at most. A stretch may have only the first `most` entries of its rows: for
        more, pass at least `SEGMENT_MAX`. O(log s) for each stretch and `Segment.in_order`.

        `least`: the stretches of segments that are below this id have no entries. `refresh`: takes the ids
        that have left a batch out of it. The list must not change while the iterator is in use.
        """
        # The segments of which more entries follow, by the stamp of the next entry of each, and its row.
        begun: list[_Begun] = []
        bounds = self.bounds
        end: tuple[Any, ...] = (latest_ms + 1,)
        at = bisect_left(bounds, (first_ms,))
        while True:
            bound: tuple[Any, ...] = bounds[at] if at < len(bounds) else end
            if begun and begun[0] < bound:
                row, item = heappop(begun)[3:]
            elif bound[0] > latest_ms:
                return
            elif isinstance(batch := bound[3], Batch):
                at += 1
                refresh(batch)
                times, counts = [batch.at_ms] * batch.live, batch.all_counts()
                yield Stretch(batch, 0, range(batch.live), batch.ids, times, counts)
                continue
            elif (first := self._first_row(bounds[at], at)) is None:
                continue
            else:
                row, item, at = first, bound[3], at + 1
            # The segment ends its stretch before what is next after its entries.
            stop = bounds[at] if at < len(bounds) else end
            if begun and begun[0] < stop:
                stop = begun[0]
            stretch = _stretch_of(item, row, min(end, stop), most, least)
            yield stretch
            row = stretch.end
            if row < len(item.times) and item.times[row] <= latest_ms:
                _push(begun, item, row, latest_ms)

    def _first_row(self, bound: Bound, at: int) -> int | None:
        """Return the row of the first entry of the segment that is filed under `bound`, the one at `at`. If
        that is not where the segment belongs, file it there, and return None."""
        at_ms, serial, first, item = bound
        assert isinstance(item, Segment)
        is_held = at_ms >= HELD_FROM
        times, marks = item.times, item.marks
        row, most = item.held_row if is_held else item.passed, len(times)
        while row < most and row not in marks:
            row += 1
        if not is_held:
            item.passed = row
        if row < most and times[row] == at_ms and item.serials[row] == serial:
            return row
        del self.bounds[at]
        found: Stamp | None = None
        if row < most and (is_held or times[row] < HELD_FROM):
            found = times[row], item.serials[row], first
            insort(self.bounds, (*found, item), at)
        if is_held:
            item.held_bound = found
        else:
            item.bound = found
        return None

    def pass_over(self, item: Segment | Batch, row: int) -> None:
        """Skip the entries of `item`, those before `row` of a segment, in each walk from now on. O(log s)."""
        if isinstance(item, Batch):
            self.forget(item)
        else:
            item.passed = max(item.passed, row)
            if item.bound is not None:
                at = bisect_left(self.bounds, item.bound)
                self._first_row(self.bounds[at], at)

    def look_again(self, segments: Iterable[Segment]) -> None:
        """Skip no entry of `segments`, which are all: ids that were deleted may be used again. O(rows)."""
        for segment in segments:
            segment.passed = 0
            self.file(segment)
            for batch in segment.batches:
                if batch.live:
                    self.note(batch, batch.at_ms, batch.serial)

    @property
    def oldest_owned_ms(self) -> int | None:
        """The earliest time of an entry that has an owner and is not passed over, None if there is none.
        O(1), O(items) of those that have unowned entries or were filed too early."""
        oldest: int | None = None
        for at_ms, _, _, item in self.bounds:
            if at_ms >= HELD_FROM or (oldest is not None and at_ms >= oldest):
                break
            found = item.at_ms if isinstance(item, Batch) else item.first_owned_ms
            if found != UNOWNED and (oldest is None or found < oldest):
                oldest = found
        return oldest

    # --- delayed entries -----------------------------------------------------------------------

    @property
    def first_held(self) -> Bound | None:
        """The first delayed item, None if there is none. O(log s)."""
        while (at := bisect_left(self.bounds, (HELD_FROM,))) < len(self.bounds):
            bound = self.bounds[at]
            if isinstance(bound[3], Batch) or self._first_row(bound, at) is not None:
                return bound
        return None


def _stretch_of(item: Segment, low: int, stop: tuple[Any, ...], most: int, least: StreamId) -> Stretch:
    """Return the entries of a segment from the row `low` on that are before `stop`, none of them if they are
    below `least`; as `Order.walk`."""
    high, times = low + 1, item.times
    is_below = item.last < least
    if high < len(times) and times[high] <= stop[0]:
        high = item.rows_before(stop, low, len(times) if is_below else low + most)
    if is_below:
        return Stretch(item, high, (), [], [], [])
    return Stretch(item, high, *item.in_order(low, high, most))


def _push(begun: list[_Begun], item: Segment, row: int, latest_ms: int) -> None:
    if item.marks.find(row) < 0:
        row = item.first_row(row)
    if row < len(item.times) and item.times[row] <= latest_ms:
        heappush(begun, (item.times[row], item.serials[row], item.first, row, item))
