"""The segments of a group: by id, in the order of delivery and by owner, with all counters in step.

A change to entries touches the marks of their segment, the index by id, the order, the owner's index and the
counters. This module is the only one that changes them. It never decides which entries share a row: that is
`core.pending.pending_list`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress, repeat
from operator import itemgetter
from typing import Final, TypeAlias

from tailrace.core.id_keys import membership
from tailrace.core.log.id_sequence import pack_ids, position_of
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.order import Order
from tailrace.core.pending.rows import HELD_FROM, Batch, Local, Row
from tailrace.core.pending.segment import GONE, LAST, ROWS_MAX, SEGMENT_MAX, Segment, Tally
from tailrace.core.pending.segment_index import SegmentIndex
from tailrace.core.stream_id import StreamId

_SPARSE: Final = 8
"""A segment of which one in so many entries is left is made again."""
_JOINED_MAX: Final = 128
"""Neighbours with so many entries together become one segment then."""

_ROWS_MAX: Final = 192
"""The most rows of a segment that is made again."""
_FEW: Final = 4
"""So many entries are given a row one by one."""
_THIN: Final = 4
_THINNED_MIN: Final = 32
"""A batch of so many ids forgets those that have left when it has less than one in `_THIN` of them left."""

Part: TypeAlias = tuple[Segment, Sequence[int], int, int]
"""A segment, positions in it, -1 where an id is not pending, and which ids they are for."""


class Owned:
    """Where one consumer has entries."""

    __slots__ = ("moved", "segments")

    def __init__(self) -> None:
        # The segments in which the consumer has entries, and perhaps others: reading removes these.
        self.segments = SegmentIndex()
        # Batches of the consumer whose segments the index may lack.
        self.moved: dict[Batch, None] = {}


class SegmentTable:
    """The segments of one group. n: pending entries, s: segments, m: entries of one call."""

    __slots__ = (
        "_near",
        "_near_at",
        "_near_id",
        "count",
        "highest_id",
        "nacked_count",
        "order",
        "owned",
        "segments",
    )

    def __init__(self) -> None:
        # All pending entries, and those of them without an owner.
        self.count = 0
        self.nacked_count = 0
        self.segments = SegmentIndex()
        self.order = Order()
        # Of the consumers that have entries.
        self.owned: defaultdict[Consumer, Owned] = defaultdict(Owned)
        # No id above this one was ever pending, so a delivery above it needs no search. Never decreases.
        self.highest_id: StreamId = 0
        # What the last search found: ids arrive in order, and an entry is looked up before it changes.
        self._near: Segment | None = None
        self._near_at = 0
        self._near_id: StreamId = -1

    def find(self, value: StreamId) -> tuple[Segment, int] | None:
        """Return the segment and position of `value`, None if it is not pending. O(log n), O(1) if it follows
        the last one that was found."""
        segment = self._near
        if segment is not None:
            at, ids = self._near_at, segment.ids
            if value != self._near_id or at >= len(ids):
                at += 1
                if at >= len(ids) or ids[at] != value:
                    segment = None
        if segment is None:
            segment = self.segments.at(value)
            if segment is None or segment.last < value or (at := position_of(segment.ids, value)) < 0:
                return None
        self._near, self._near_at, self._near_id = segment, at, value
        return None if segment.marks[at] == GONE else (segment, at)

    def span_of(self, ids: Sequence[StreamId]) -> tuple[Segment, range] | None:
        """Return the segment and positions of `ids` if they follow each other in one segment, all pending:
        most clients acknowledge what one read returned. O(log n), and `Segment.has_span`."""
        found = self.find(ids[0])
        if found is None or not found[0].has_span(found[1], ids):
            return None
        return found[0], range(found[1], found[1] + len(ids))

    def parts(self, ids: Sequence[StreamId]) -> Iterator[Part]:
        """Return each segment that may have some of the rising `ids`. The caller may replace the segment."""
        start, end = 0, len(ids)
        firsts, segments = self.segments.firsts, self.segments.segments
        while start < end:
            after = bisect_right(firsts, ids[start])
            segment = segments[after - 1] if after else None
            if segment is None or segment.last < ids[start]:
                if after == len(segments):
                    return
                start = bisect_left(ids, firsts[after], start)
                continue
            high = end if ids[-1] <= segment.last else bisect_right(ids, segment.last, start)
            yield segment, segment.positions_of(ids[start:high]), start, high
            start = high

    def index_of(self, consumer: Consumer) -> SegmentIndex:
        """Return the segments in which `consumer` has entries, and perhaps others. O(s) in C at most, after
        claims of batches."""
        owned = self.owned.get(consumer)
        if owned is None:
            return SegmentIndex()
        index, moved = owned.segments, owned.moved
        index.sweep()
        if moved:
            few = sum(batch.live for batch in moved) < len(self.segments)
            for segment in self._segments_of(moved) if few else self.segments.segments:
                if not moved.keys().isdisjoint(segment.batches):
                    index.add(segment)
            owned.moved = {}
        return index

    def _segments_of(self, batches: Iterable[Batch]) -> Iterator[Segment]:
        for batch in batches:
            for segment, _, _, _ in self.parts(sorted(batch.ids)):
                yield segment

    def refresh(self, batch: Batch) -> None:
        """Take the ids that have left `batch` out of it. O(m log s), O(1) if none have."""
        if batch.live == len(batch.ids):
            return
        rising, kept = sorted(batch.ids), list[StreamId]()
        for segment, at, low, high in self.parts(rising):
            kept += (
                value
                for value, position in zip(rising[low:high], at, strict=True)
                if position >= 0 and segment.owner_at(position)[1] is batch
            )
        batch.keep(list(map(membership(kept), batch.ids)))

    def place(self, ids: Sequence[StreamId], row: Row) -> None:
        """Make `ids`, which rise and are not pending, pending. The caller counts them for their owner."""
        start = 0
        while start < len(ids):
            segment = self.segments.at(ids[start])
            if segment is not None and ids[start] <= segment.last:
                end = bisect_right(ids, segment.last, start)
                self._add_within(segment, ids[start:end], row)
            else:
                following = self.segments.after(ids[start])
                end = len(ids) if following is None else bisect_left(ids, following.first, start)
                self.add_after(segment, ids[start:end], row)
            start = end

    def add_after(self, segment: Segment | None, ids: Sequence[StreamId], row: Row) -> None:
        """Add `ids`, all between `segment` and the one that follows it."""
        self.count += len(ids)
        self.highest_id = max(self.highest_id, ids[-1])
        if segment is not None and segment.takes(ids) and self._made_room(segment, 1):
            segment.extend(ids, row)
            self._note(segment, row)
            return
        if segment is not None:
            segment.trim()
        packed = pack_ids(ids)
        for low in range(0, len(packed), SEGMENT_MAX):
            some = packed if len(packed) <= SEGMENT_MAX else packed[low : low + SEGMENT_MAX]
            made = Segment(some, row)
            self.segments.add(made)
            self._note(made, row)

    def _add_within(self, segment: Segment, ids: Sequence[StreamId], row: Row) -> None:
        """Add `ids`, all between the ends of `segment`: in place those that were acknowledged there."""
        own = segment.ids
        at = [position_of(own, value) for value in ids]
        if -1 not in at and self._made_room(segment, 1):
            segment.put(at, segment.add_row(row))
            segment.live += len(ids)
            self._note(segment, row)
        elif len(ids) == 1 and len(own) < SEGMENT_MAX and self._made_room(segment, 1):
            self._near = None
            segment.insert(ids[0], row)
            self._note(segment, row)
        else:
            before, rows = segment.entries()
            merged = sorted(
                zip(chain(before, ids), chain(rows, repeat(row)), strict=False), key=itemgetter(0)
            )
            self.replace([segment], segments_of([each for each, _ in merged], [each for _, each in merged]))
        self.count += len(ids)

    def _note(self, segment: Segment, row: Row) -> None:
        """File `segment`, which got `row`, in the order and in the index of its owner."""
        if isinstance(row, Batch):
            consumer = row.consumer
        else:
            at_ms, serial, consumer, _ = row
            if segment.bound is None or at_ms <= segment.bound[0] or at_ms >= HELD_FROM:
                self.order.note(segment, at_ms, serial)
        if consumer is not None:
            self.owned[consumer].segments.add(segment)

    def count_owned(self, consumer: Consumer | None, change: int) -> None:
        """Count entries that an owner got or lost, or entries without an owner."""
        if consumer is None:
            self.nacked_count += change
            return
        consumer.pending_count += change
        if not consumer.pending_count:
            self.owned.pop(consumer, None)

    def give_one(self, segment: Segment, at: int, row: Local) -> None:
        """Give the pending entry at the position `at` of `segment` a row, and count it for its owner."""
        if segment.live == 1 or not (segment.has_room(1) or self._made_room(segment, 1)):
            self.count_owned(row[2], 1)
            self.give(segment, (at,), row)
            return
        owner, batch = segment.owner_at(at)
        segment.marks[at] = segment.add_row(row)
        if owner is not row[2]:
            self.count_owned(row[2], 1)
            self.count_owned(owner, -1)
        if batch is not None:
            self._shorten(batch, 1)
        self._note(segment, row)

    def give(self, segment: Segment, at: Sequence[int], rows: Row | list[Row]) -> None:
        """Give the pending entries at the positions `at` of `segment` a row, or each its own."""
        if len(at) == 1 < segment.live and not isinstance(rows, list) and segment.has_room(1):
            # Most claims of entries that are far from each other.
            self._move(segment, at, segment.add_row(rows))
            self._note(segment, rows)
            return
        groups: dict[Row, Sequence[int]]
        if isinstance(rows, list):
            lists: dict[Row, list[int]] = {}
            for row, position in zip(rows, at, strict=True):
                lists.setdefault(row, []).append(position)
            groups = {**lists}
        else:
            groups = {rows: at}
        if not segment.has_room(len(groups)) and not self._made_room(segment, len(groups)):
            values = list(map(segment.ids.__getitem__, at))
            self._split(segment, at[0])
            self.give_all(self.parts(values), rows)
            return
        for row, positions in groups.items():
            if len(positions) == segment.live:
                lost = list(segment.tally(segment.live_marks()))
                segment.set_all(row)
                self._count_lost(lost)
            else:
                self._move(segment, positions, segment.add_row(row))
            self._note(segment, row)

    def give_all(self, parts: Iterable[Part], rows: Row | list[Row]) -> None:
        """Give pending entries in segments a row, or each its own."""
        if isinstance(rows, Batch):
            self._give_batch(parts, rows)
            return
        for segment, at, low, high in parts:
            self.give(segment, at, rows[low:high] if isinstance(rows, list) else rows)

    def _give_batch(self, parts: Iterable[Part], batch: Batch) -> None:
        """As `give_all`, for a new batch: most of its segments have few of its entries."""
        lost: list[tuple[Consumer | None, Batch | None]] = []
        for segment, at, _, _ in parts:
            if len(at) > _FEW or len(at) == segment.live or not segment.has_room(1):
                self.give(segment, at, batch)
                continue
            segment.batches.append(batch)
            marks, mark = segment.marks, LAST + 1 - len(segment.batches)
            for position in at:
                lost.append(segment.owner_at(position))
                marks[position] = mark
        if batch.consumer is not None:
            self.owned[batch.consumer].moved[batch] = None
        self._count_lost((*left, count) for left, count in Counter(lost).items())

    def _move(self, segment: Segment, at: Sequence[int], mark: int) -> None:
        """Set the marks of the entries at the positions `at` of `segment`, and count them for the rows that
        they leave."""
        if len(at) == 1:
            consumer, batch = segment.owner_at(at[0])
            segment.marks[at[0]] = mark
            self.count_owned(consumer, -1)
            if batch is not None:
                self._shorten(batch, 1)
            return
        marks = segment.marks
        lost = bytes(marks[at.start : at.stop] if isinstance(at, range) else map(marks.__getitem__, at))
        segment.put(at, mark)
        self._count_lost(segment.tally(lost))

    def _count_lost(self, lost: Iterable[Tally]) -> None:
        """Count entries that have left their rows."""
        for consumer, batch, count in lost:
            self.count_owned(consumer, -count)
            if batch is not None:
                self._shorten(batch, count)

    def _shorten(self, batch: Batch, count: int) -> None:
        """Count entries that have left `batch`; it forgets them when most have."""
        batch.live -= count
        if not batch.live:
            self.order.forget(batch)
            batch.keep([])
            if batch.consumer is not None and batch.consumer in self.owned:
                self.owned[batch.consumer].moved.pop(batch, None)
        elif batch.live * _THIN < len(batch.ids) >= _THINNED_MIN:
            self.refresh(batch)

    def take_one(self, segment: Segment, at: int) -> None:
        """Remove the entry at the position `at` of `segment`."""
        if segment.live == 1:
            self._drop([segment])
            return
        owner, batch = segment.owner_at(at)
        segment.marks[at] = GONE
        segment.live -= 1
        self.count -= 1
        self.count_owned(owner, -1)
        if batch is not None:
            self._shorten(batch, 1)
        if segment.live * _SPARSE < len(segment.marks):
            self._shrink((segment,))

    def take(self, segment: Segment, at: Sequence[int]) -> None:
        """Remove the entries at the positions `at` of `segment`."""
        if len(at) == segment.live:
            self._drop([segment])
            return
        self._move(segment, at, GONE)
        segment.live -= len(at)
        self.count -= len(at)
        if segment.live * _SPARSE < len(segment.ids):
            self._shrink((segment,))

    def take_masked(self, masks: Iterable[tuple[Segment, bytes | None]]) -> None:
        """Remove the entries where a mask is 1, all entries of a segment without a mask. O(s) in C."""
        emptied, thinned = list[Segment](), list[Segment]()
        for segment, mask in masks:
            if mask is None:
                emptied.append(segment)
                continue
            lost = bytes(compress(segment.marks, mask)).translate(None, bytes([GONE]))
            if len(lost) == segment.live:
                emptied.append(segment)
            elif lost:
                tallies = list(segment.tally(lost))
                segment.take_masked(mask)
                segment.live -= len(lost)
                self.count -= len(lost)
                self._count_lost(tallies)
                thinned.append(segment)
        self._drop(emptied)
        self._shrink(thinned)

    def _shrink(self, segments: Iterable[Segment]) -> None:
        """Make those of `segments` of which few entries are left again, neighbours together, and with the
        segment before them, if that has few as well."""
        joined, live = list[Segment](), 0
        for segment in segments:
            if not 0 < segment.live * _SPARSE < len(segment.ids):
                continue
            before = self.segments.at(segment.first - 1)
            if not joined or before is not joined[-1] or live + segment.live > _JOINED_MAX:
                self._join(joined)
                before = self.segments.at(segment.first - 1)
                joined, live = [], 0
                if before is not None and before.live + segment.live <= _JOINED_MAX:
                    joined, live = [before], before.live
            joined.append(segment)
            live += segment.live
        self._join(joined)

    def _join(self, segments: Sequence[Segment]) -> None:
        """Make neighbours again, as one if there is room. O(entries)."""
        ids, rows = list[StreamId](), list[Row]()
        for segment in segments:
            some, of_some = segment.entries()
            ids += some
            rows += of_some
        if segments:
            self.replace(segments, segments_of(ids, rows))

    def _made_room(self, segment: Segment, rows: int) -> bool:
        """Whether `rows` can be added to `segment`, perhaps after its rows without entries are forgotten."""
        if segment.has_room(rows):
            return True
        segment.compact()
        return segment.has_room(rows)

    def _split(self, segment: Segment, at: int) -> None:
        """Divide `segment`, whose rows have many entries each: before the position `at` if one side has few
        of the rows, else where half of the rows are on each side. O(n) in C, and O(rows)."""
        marks = segment.marks
        if at == 0 or min(len({*marks[:at]}), len({*marks[at:]})) * 2 > ROWS_MAX:
            first_of = sorted(map(marks.find, {*marks} - {GONE}))
            at = first_of[len(first_of) // 2] or len(marks) // 2
        self.replace([segment], segment.parts_at(at))

    def replace(self, old: Sequence[Segment], new: Iterable[Segment]) -> None:
        """Put `new` in the place of `old`, which have the same entries."""
        made = [segment for segment in new if segment.live]
        self._forget(old)
        for segment in made:
            self.segments.add(segment)
            self.order.file(segment)
            for owner in segment.all_owners():
                self.owned[owner].segments.add(segment)

    def _drop(self, segments: Sequence[Segment]) -> None:
        """Remove `segments`, in order of their ids, with their entries. O(s) in C at most."""
        lost: Counter[tuple[Consumer | None, Batch | None]] = Counter()
        for segment in segments:
            for consumer, batch, count in segment.tally(segment.live_marks()):
                lost[consumer, batch] += count
            self.count -= segment.live
        self._forget(segments)
        self._count_lost((*left, count) for left, count in lost.items())

    def _forget(self, segments: Sequence[Segment]) -> None:
        """Take `segments`, in order of their ids, out of the order and the index by id. The indexes of owners
        drop segments without entries themselves."""
        self._near = None
        self.segments.discard_all(segments)
        for segment in segments:
            segment.live, segment.marks = 0, bytearray()
        self.order.forget_all(segments)


def segments_of(ids: Sequence[StreamId], rows: Sequence[Row]) -> Iterator[Segment]:
    """Make segments of the rising `ids`; `rows`: the row of each. O(n), and O(r log r) for r rows."""
    distinct = dict.fromkeys(rows)
    local = sorted((row for row in distinct if not isinstance(row, Batch)), key=_stamp_of)
    batches = [row for row in distinct if isinstance(row, Batch)]
    if len(ids) > SEGMENT_MAX or len(distinct) > _ROWS_MAX:
        half = SEGMENT_MAX if len(ids) > SEGMENT_MAX else len(ids) // 2
        for start in range(0, len(ids), half):
            yield from segments_of(ids[start : start + half], rows[start : start + half])
        return
    made = Segment(pack_ids(ids), rows[0])
    if len(distinct) > 1:
        del made.times[:], made.serials[:], made.kinds[:]
        made.owners, made.counts, made.batches = [], [], []
        marks: dict[Row, int] = {row: made.add_row(row) for row in local}
        marks.update((batch, made.add_row(batch)) for batch in batches)
        made.marks = bytearray(map(marks.__getitem__, rows))
    yield made


def _stamp_of(row: Local) -> tuple[int, int]:
    return row[:2]
