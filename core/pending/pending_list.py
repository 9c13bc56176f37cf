"""The pending entries list (PEL) of one group: each entry's owner, delivery time and delivery count.

Rules that always hold:

* An entry is pending at most once in a group, and has one owner or, after XNACK, none.
* The order of delivery has all unowned entries first, in the order of their nacks. Owned entries follow, by
  time of delivery. Entries with equal times are in the order in which they got this time (rule 35).
* A delayed entry has no owner, and is after all others until it is released: no claim finds it.

This module decides which entries share a row. It never reads the fields of an entry, and never decides what a
command does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, compress, islice, repeat
from operator import gt, is_not
from typing import Final

from tailrace.core.id_keys import are_rising, table_of
from tailrace.core.id_keys import rising as rising_of
from tailrace.core.log.id_sequence import as_run, count_below
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.id_spans import IdSpans
from tailrace.core.pending.order import Stretch
from tailrace.core.pending.rows import HELD_FROM, UNOWNED, Batch, Delivery, Row, counts_of
from tailrace.core.pending.segment import Segment
from tailrace.core.pending.segment_table import Part, SegmentTable
from tailrace.core.stream_id import StreamId

BATCH_MIN: Final = 8
"""Fewer entries are no batch."""
BATCH_MAX: Final = 1000
"""A batch is read as a whole, and read again when some of its entries have left it."""
_SPREAD: Final = 16
"""Entries of which a segment has fewer than so many on average are scattered."""

_ROWS_PER_UNIT: Final = 8
"""Entries of so many rows cost as much as one more segment."""


class PendingEntriesList:
    """The pending entries of one group. n: pending entries, s: segments, m: entries of one call.

    Only `core.effects`, `Group` and `core.storage` call the methods that change it.
    """

    __slots__ = ("_has_passed", "latest_ms", "serial", "table")

    def __init__(self) -> None:
        self.table = SegmentTable()
        # Whether entries are passed over.
        self._has_passed = False
        # The greatest time of a delivery, and the serial of the last change.
        self.latest_ms = 0
        self.serial = 0

    @property
    def count(self) -> int:
        """The number of pending entries."""
        return self.table.count

    @property
    def nacked_count(self) -> int:
        """The number of pending entries without an owner (XNACK)."""
        return self.table.nacked_count

    def get(self, value: StreamId) -> Delivery | None:
        """Return what the list knows of `value`, None if it is not pending. O(log n)."""
        found = self.table.find(value)
        return None if found is None else found[0].view(found[1])

    def __contains__(self, value: StreamId) -> bool:
        return self.table.find(value) is not None

    def present(self, ids: Iterable[StreamId]) -> Sequence[StreamId]:
        """Return the pending ones of `ids`, rising, each once. O(m log m)."""
        ids = ids if isinstance(ids, Sequence) else tuple(ids)
        if len(ids) == 1:
            return ids if self.table.find(ids[0]) else ()
        if ids and self.table.span_of(ids) is not None:
            return as_run(ids)
        rising = ids if are_rising(ids) else rising_of(ids)
        found: list[StreamId] = []
        for _, at, low, high in self.table.parts(rising):
            if isinstance(at, range):
                if high - low == len(rising):
                    return as_run(rising)
                found += rising[low:high]
            else:
                found += compress(rising[low:high], map((0).__le__, at))
        return found

    def find_all(self, ids: Iterable[StreamId]) -> Mapping[StreamId, Delivery]:
        """Return what the list knows of those of `ids` that are pending. O(m log m)."""
        ids = ids if isinstance(ids, Sequence) else tuple(ids)
        found, deliveries = list[StreamId](), list[Delivery]()
        for batch, _ in self._whole_batches(ids):
            found += batch.ids
            deliveries += batch.views()
        rest = ids[len(found) :]
        rising = rest if are_rising(rest) else rising_of(rest)
        for segment, at, low, high in self.table.parts(rising):
            if isinstance(at, range):
                found += rising[low:high]
                deliveries += segment.views_at(at)
            else:
                found += compress(rising[low:high], map((0).__le__, at))
                deliveries += segment.views_at([position for position in at if position >= 0])
        return table_of(found, deliveries)

    def of(self, ids: Sequence[StreamId]) -> list[Delivery]:
        """Return what the list knows of each of `ids`, which rise and are all pending; neighbours that were
        changed together have the same object. O(m) in C, and O(rows) for each segment."""
        return self.described(ids)[0]

    def described(self, ids: Sequence[StreamId]) -> tuple[list[Delivery], int]:
        """As `of`, and how much work the entries are: a segment is one unit, and so are some of its rows."""
        found, parts = list[Delivery](), 0
        for segment, at, _, _ in self.table.parts(ids):
            found += segment.views_at(at)
            parts += 1
        changes = sum(map(is_not, found, islice(found, 1, None)))
        return found, parts + changes // _ROWS_PER_UNIT

    def ids(self, start: StreamId = 0) -> Iterator[StreamId]:
        """Return the pending ids at or after `start`, rising. O(log s + m).

        The list must not change while the iterator is in use.
        """
        return chain.from_iterable(each.ids_from(start) for each in self.table.segments.all_from(start))

    def ids_of(self, consumer: Consumer, start: StreamId = 0) -> Iterator[StreamId]:
        """As `ids`, for the entries of `consumer`."""
        return chain.from_iterable(self._ids_of(consumer, start))

    def _ids_of(self, consumer: Consumer, start: StreamId) -> Iterator[Iterator[StreamId]]:
        index = self.table.index_of(consumer)
        for segment in index.all_from(start):
            ids = segment.ids_of(consumer, start)
            first = next(ids, None)
            if first is not None:
                yield chain((first,), ids)
            elif start <= segment.first:
                index.discard(segment)

    def idle_ids(
        self, latest_ms: int, consumer: Consumer | None, start: StreamId, end: StreamId
    ) -> Iterator[tuple[int, Iterator[StreamId]]]:
        """Return the ids from `start` to about `end` whose time is not after `latest_ms`, those of `consumer`
        if given, by segment, and how many entries of the segment were examined. O(s), and O(entries) in C
        for segments that may have some."""
        index = self.table.segments if consumer is None else self.table.index_of(consumer)
        for segment in index.all_from(start):
            if segment.first > end:
                return
            if segment.may_be_idle(latest_ms):
                yield segment.live, segment.idle_ids(latest_ms, consumer, start)

    def first_from(self, start: StreamId) -> StreamId | None:
        """Return the lowest pending id at or after `start`, None if there is none. O(log s)."""
        return next(self.ids(start), None)

    def bounds(self) -> tuple[StreamId, StreamId] | None:
        """Return the lowest and the highest pending id, None if there is none. O(1), O(n) of a segment in
        C."""
        if not self.table.count:
            return None
        last = self.table.segments.segments[-1]
        return self.first_id, last.ids[len(last.marks.rstrip(b"\xff")) - 1]

    @property
    def first_id(self) -> StreamId:
        """The lowest pending id; at least one must be pending. O(1), O(n) of a segment in C."""
        return next(self.ids())

    def has_between(self, first: StreamId, last: StreamId) -> bool:
        """Return whether an id from `first` to `last` is pending. O(log s)."""
        return (found := self.first_from(first)) is not None and found <= last

    def count_between(self, first: StreamId, last: StreamId) -> int:
        """Return how many ids from `first` to `last` are pending. O(log s), and O(1) for each segment in
        between."""
        count = 0
        for segment in self.table.segments.between(first, last):
            if first <= segment.first and segment.last <= last:
                count += segment.live
            else:
                count += segment.count_between(
                    count_below(segment.ids, first), count_below(segment.ids, last + 1)
                )
        return count

    def walk(self, latest_ms: int, most: int, least: StreamId = 0) -> Iterator[Stretch]:
        """Return the entries whose time is not after `latest_ms`, and that are neither delayed nor passed
        over, in order of delivery, in stretches of about `most` rows at most. As `Order.walk`.

        The list must not change while the iterator is in use.
        """
        return self.table.order.walk(UNOWNED, latest_ms, most, least, self.table.refresh)

    def pass_over(self, passed: Iterable[tuple[Segment | Batch, int]]) -> None:
        """Skip entries in each later walk, because the stream has them no more: those of batches, and those
        of segments before a row. O(log s) for each."""
        for item, row in passed:
            self._has_passed = True
            self.table.order.pass_over(item, row)

    def look_again(self) -> None:
        """Forget what was passed over: ids that were deleted may be used again. O(rows), O(1) if nothing was
        passed over."""
        if self._has_passed:
            self.table.order.look_again(self.table.segments.segments)
            self._has_passed = False

    @property
    def oldest_owned_ms(self) -> int | None:
        """The earliest time of an entry that has an owner and is not passed over, None if there is none. As
        `Order.oldest_owned_ms`."""
        return self.table.order.oldest_owned_ms

    @property
    def first_held_ms(self) -> int | None:
        """The time from which on the first delayed entry can be claimed, None if there is none. O(log s)."""
        first = self.table.order.first_held
        return None if first is None else first[0] - HELD_FROM

    def due_ids(self, now_ms: int, most: int) -> list[StreamId]:
        """Return the ids of the delayed entries whose time has come, in order, about `most`. O(ids)."""
        ids: list[StreamId] = []
        for stretch in self.table.order.walk(HELD_FROM, HELD_FROM + now_ms, most, 0, self.table.refresh):
            if len(ids) >= most:
                break
            ids += stretch.ids
        return ids

    def deliver(self, ids: Sequence[StreamId], consumer: Consumer, at_ms: int) -> None:
        """Make `ids`, which rise, pending for `consumer` with a delivery count of 1. Ids that are pending
        already lose their owner, time and count.

        O(m) to pack the ids and O(log s) for the rest; as `claim` after the group's position moved back.
        """
        if ids[0] <= self.table.highest_id:
            self.claim(ids, consumer, at_ms, [1] * len(ids))
            return
        segments = self.table.segments.segments
        self.table.count_owned(consumer, len(ids))
        self.table.add_after(
            segments[-1] if segments else None, ids, (at_ms, self.next_serial(at_ms), consumer, 1)
        )

    def next_serial(self, at_ms: int) -> int:
        """Return the serial of a change of entries to this time: it is above that of each change to the same
        time before."""
        if self.latest_ms < at_ms < HELD_FROM:
            self.latest_ms = at_ms
        else:
            self.serial += 1
        return self.serial

    def claim(
        self, ids: Sequence[StreamId], consumer: Consumer | None, at_ms: int, deliveries: Sequence[int]
    ) -> None:
        """Make `consumer` the owner of `ids`, which are distinct, in this order of delivery. Ids that were
        not pending become pending.

        O(m) in C for whole batches, else O(log s) for each segment, and O(m).
        """
        if len(ids) == 1:
            row = at_ms, self.next_serial(at_ms), consumer, deliveries[0]
            found = self.table.find(ids[0])
            if found is None:
                self.table.count_owned(consumer, 1)
                self.table.place(ids, row)
            else:
                self.table.give_one(*found, row)
            return
        moved = self._move_batches(ids, consumer, at_ms, deliveries)
        if moved:
            ids, deliveries = ids[moved:], deliveries[moved:]
            if not ids:
                return
        # First, so that an owner who claims all of its own entries never counts as one without entries.
        self.table.count_owned(consumer, len(ids))
        order = None if are_rising(ids) else sorted(range(len(ids)), key=ids.__getitem__)
        rising = ids if order is None else list(map(ids.__getitem__, order))
        parts = list(self.table.parts(rising))
        missing = _missing(rising, parts)
        if missing:
            self.table.count_owned(consumer, len(missing))
            self.table.place(missing, (at_ms, self.next_serial(at_ms), consumer, 1))
            parts = list(self.table.parts(rising))
        rows = self.rows_for(ids, consumer, at_ms, deliveries, len(parts), rises=order is None)
        if isinstance(rows, list) and order is not None:
            rows = list(map(rows.__getitem__, order))
        self.table.give_all(parts, rows)

    def nack(self, ids: Sequence[StreamId], deliveries: Sequence[int]) -> None:
        """Remove the owner of `ids`, which are distinct, in this order. Ids that were not pending become
        pending. As `claim`."""
        self.claim(ids, None, UNOWNED, deliveries)

    def hold(self, ids: Sequence[StreamId], deliveries: Sequence[int], until_ms: int) -> None:
        """Do as `nack`, and keep `ids` from all claims until they are released. As `claim`."""
        self.claim(ids, None, HELD_FROM + until_ms, deliveries)

    def release(self, ids: Sequence[StreamId]) -> None:
        """End the delay of `ids`, which are delayed, in this order. As `claim`."""
        self.nack(ids, self.counts_of(ids))

    def counts_of(self, ids: Sequence[StreamId]) -> list[int]:
        """Return how often each of `ids`, which are all pending, was delivered. O(m log m)."""
        found = self.find_all(ids)
        return [found[value].deliveries for value in ids]

    def rows_for(
        self,
        ids: Sequence[StreamId],
        consumer: Consumer | None,
        at_ms: int,
        deliveries: Sequence[int],
        parts: int,
        *,
        rises: bool,
    ) -> Row | list[Row]:
        """Return a new row for all of `ids`, or one for each."""
        is_scattered = parts > BATCH_MIN and len(ids) < parts * _SPREAD
        if len(ids) >= BATCH_MIN and (is_scattered or not rises):
            made: list[Row] = []
            for start in range(0, len(ids), BATCH_MAX):
                some = list(ids[start : start + BATCH_MAX])
                counts = counts_of(deliveries[start : start + BATCH_MAX])
                batch = Batch(some, consumer, at_ms, self.next_serial(at_ms), counts)
                self.table.order.note(batch, at_ms, batch.serial)
                made += [batch] * len(some)
            return made if len(ids) > BATCH_MAX else made[0]
        serial = self.next_serial(at_ms)
        if rises and isinstance(counts := counts_of(deliveries), int):
            return at_ms, serial, consumer, counts
        # Entries of equal serials are in the order of ids.
        serials = repeat(serial) if rises else accumulate(map(gt, ids, ids[1:]), initial=serial)
        rows: list[Row] = [
            (at_ms, each, consumer, count) for each, count in zip(serials, deliveries, strict=False)
        ]
        last = rows[-1]
        assert not isinstance(last, Batch)
        self.serial = last[1]
        return rows

    def _move_batches(
        self, ids: Sequence[StreamId], consumer: Consumer | None, at_ms: int, deliveries: Sequence[int]
    ) -> int:
        """Give the whole batches with which `ids` begin another owner and time, and return how many entries
        they have. O(result) in C."""
        start = 0
        for batch, end in self._whole_batches(ids):
            before = batch.consumer
            if before is not None:
                self.table.owned[before].moved.pop(batch, None)
            if consumer is not None:
                self.table.owned[consumer].moved[batch] = None
            self.table.count_owned(consumer, batch.live)
            self.table.count_owned(before, -batch.live)
            batch.give(consumer, at_ms, self.next_serial(at_ms), counts_of(deliveries[start:end]))
            self.table.order.forget(batch)
            self.table.order.note(batch, at_ms, batch.serial)
            start = end
        return start

    def _whole_batches(self, ids: Sequence[StreamId]) -> Iterator[tuple[Batch, int]]:
        """Return the whole batches, in their order, with which `ids` begin, and the index after the last
        entry of each. O(entries) in C."""
        start = 0
        while len(ids) - start >= BATCH_MIN:
            found = self.table.find(ids[start])
            batch = None if found is None else found[0].owner_at(found[1])[1]
            if batch is None or batch.live < len(batch.ids):
                return
            end = start + batch.live
            if list(ids[start:end]) != batch.ids:
                return
            yield batch, end
            start = end

    def remove(self, ids: Sequence[StreamId]) -> None:
        """Remove `ids`, all pending and distinct. O(log s) for each segment, and O(m)."""
        if len(ids) == 1:
            found = self.table.find(ids[0])
            assert found is not None, "only pending entries can be removed"
            self.table.take_one(*found)
            return
        span = self.table.span_of(ids)
        if span is not None:
            self.table.take(*span)
            return
        left = self.table.count - len(ids)
        for segment, at, _, _ in self.table.parts(ids if are_rising(ids) else sorted(ids)):
            self.table.take(segment, at)
        assert self.table.count == left, "only pending entries can be removed"

    def remove_spans(self, spans: IdSpans) -> None:
        """Remove all entries whose ids are in `spans`. O(log s) for each segment, and `IdSpans.mask` for one
        that is not in one of them as a whole."""
        self.table.take_masked(
            (each, None if spans.contains_all(each.first, each.last) else spans.mask(each.ids))
            for each in self.table.segments.between(*spans.bounds)
        )

    def drop_consumer(self, consumer: Consumer) -> None:
        """Remove all entries of `consumer`. O(s) in C."""
        segments = list(self.table.index_of(consumer).segments)
        self.table.take_masked(
            (each, bytes(each.marks.translate(each.rows_of(consumer)))) for each in segments
        )

    def transfer(self, consumer: Consumer, heir: Consumer) -> None:
        """Make `heir` the owner of all entries of `consumer`. Times, counts and order do not change. O(s)."""
        heirs = self.table.owned[heir].segments
        for segment in self.table.index_of(consumer).segments:
            segment.transfer(consumer, heir)
            heirs.add(segment)
        self.table.count_owned(heir, consumer.pending_count)
        self.table.count_owned(consumer, -consumer.pending_count)


def _missing(ids: Sequence[StreamId], parts: Sequence[Part]) -> list[StreamId]:
    """Return those of `ids` that `parts` does not have."""
    missing, done = list[StreamId](), 0
    for _, at, low, high in parts:
        if done < low:
            missing += ids[done:low]
        if -1 in at:
            missing += (value for value, position in zip(ids[low:high], at, strict=True) if position < 0)
        done = high
    return [*missing, *ids[done:]]
