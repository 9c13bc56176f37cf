"""The pending entries list (PEL) of one group: who was given what, when, how often, and not yet acked.

Rules this module keeps, whatever the commands above it do:

* An entry is pending once in a group, and has one owner or, after XNACK, none.
* Runs do not overlap: between a run's first and last id there may be singles, never another run.
* The order of delivery has all unowned entries first, in order of their nack, then the owned ones by
  time of delivery, and among equals the one that got its time first (rule 35).
* A consumer's own index holds exactly what the list says is its own.

How the costs come about: a read of n entries adds one run, wherever it is looked from. Acknowledging
takes one byte of it. Claiming a stretch of a run cuts it and moves the piece, O(1) an entry with a
small constant; claiming scattered entries makes singles of them. Nothing here ever walks all of the
list but the commands that ask for all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from operator import eq

from sortedcontainers import SortedDict

from core.consumer import Consumer, run_ids
from core.delivery_order import DeliveryOrder
from core.id_sequence import pack_ids
from core.lazy_sorted_ids import LazySortedIds
from core.pending_units import Run, Single, Unit
from core.stream_id import StreamId

RUN_LENGTH_MIN = 4
"""Shorter stretches become singles: a run costs about as much as three of them."""


class PendingEntriesList:
    """n: pending entries, m: entries touched.

    `count`: all of them; `nacked_count`: those without an owner. `runs`: by the id at which they were
    begun. `singles`: by id. `order`: all units by time of delivery.
    """

    __slots__ = (
        "_highest_id",
        "_last_found",
        "count",
        "nacked_count",
        "order",
        "runs",
        "single_ids",
        "singles",
    )

    def __init__(self) -> None:
        self.count = 0
        self.nacked_count = 0
        self.runs: SortedDict[StreamId, Run] = SortedDict()
        self.singles: dict[StreamId, Single] = {}
        self.single_ids = LazySortedIds()
        self.order = DeliveryOrder()
        # No id above this one was ever pending: what is delivered above it needs no looking up.
        self._highest_id: StreamId = 0
        self._last_found: tuple[Run, int] | None = None

    # --- looking -------------------------------------------------------------------------------

    def get(self, value: StreamId) -> Unit | None:
        """The unit that holds `value`: its owner, time and count. O(1), O(log runs) inside a run."""
        single = self.singles.get(value)
        if single is not None:
            return single
        found = self._in_run(value)
        return None if found is None else found[0]

    def _in_run(self, value: StreamId) -> tuple[Run, int] | None:
        """The run and position of `value`. The last one found and the one after it cost no search:
        ids come in order, and a command looks at an id before it takes it out."""
        if self._last_found is not None:
            run, position = self._last_found
            for near in (position + 1, position):
                if run.is_live(near) and run.ids[near] == value:
                    self._last_found = (run, near)
                    return run, near
        index = self.runs.bisect_right(value) - 1
        if index < 0:
            return None
        run = self.runs.peekitem(index)[1]
        position = run.position_of(value)
        if position < 0:
            return None
        self._last_found = (run, position)
        return self._last_found

    def span_of(self, ids: Sequence[StreamId]) -> tuple[Run, int] | None:
        """The run and position where `ids` stand one after another, all live; None where they do not.

        The common case of an acknowledgment: what was delivered together is done together. O(m) in C.
        """
        found = None if len(ids) < RUN_LENGTH_MIN or ids[0] in self.singles else self._in_run(ids[0])
        if found is None:
            return None
        run, position = found
        if not run.is_whole(position, len(ids)):
            return None
        return found if all(map(eq, ids, run.ids[position : position + len(ids)])) else None

    def present(self, ids: Iterable[StreamId]) -> Sequence[StreamId]:
        """Those of `ids` that are pending, each once, in their order. O(m)."""
        ids = tuple(ids)
        if self.span_of(ids) is not None:
            return ids
        return [value for value in dict.fromkeys(ids) if value in self]

    def __contains__(self, value: StreamId) -> bool:
        return self.get(value) is not None

    def ids(self, start: StreamId = 0) -> Iterator[StreamId]:
        """Pending ids at or after `start`, rising; the list must not change meanwhile. O(log n + m)."""
        return merge(run_ids(self.runs, start), self.single_ids.from_(start))

    def bounds(self) -> tuple[StreamId, StreamId] | None:
        """The least and the greatest pending id. O(log n)."""
        if not self.count:
            return None
        greatest = self.single_ids.last() or 0
        if self.runs:
            greatest = max(greatest, self.runs.peekitem(-1)[1].last_id)
        return next(self.ids()), greatest

    # --- changing ------------------------------------------------------------------------------

    def deliver(self, ids: Sequence[StreamId], consumer: Consumer, at_ms: int) -> None:
        """New entries, rising, became pending for `consumer`; what stood for them before is replaced.

        O(m) to pack the ids, O(log) for the rest; where the group was moved back, O(m log n).
        """
        overlaps = ids[0] <= self._highest_id and self._clear_for(ids)
        if overlaps or len(ids) < RUN_LENGTH_MIN:
            for value in ids:
                self._add_single(Single(value, consumer, at_ms, 1))
        else:
            self._add_run(Run(pack_ids(ids), consumer, at_ms, 1))

    def _clear_for(self, ids: Sequence[StreamId]) -> bool:
        """Remove `ids` where they are pending; True: a run still lies across their stretch."""
        self.remove([value for value in ids if value in self])
        index = self.runs.bisect_right(ids[-1]) - 1
        return index >= 0 and self.runs.peekitem(index)[1].last_id >= ids[0]

    def remove(self, ids: Sequence[StreamId]) -> None:
        """Take out `ids`, all pending and distinct. O(1) an entry, O(log runs) where out of order."""
        span = self.span_of(ids)
        if span is not None:
            self._remove_span(*span, len(ids))
            return
        for value in ids:
            single = self.singles.get(value)
            if single is not None:
                self._drop_single(single)
            else:
                self._remove_from_run(value)

    def _remove_span(self, run: Run, position: int, count: int) -> None:
        if run.live == count:
            self._drop_run(run)
            return
        run.remove_span(position, count)
        self.count -= count
        assert run.consumer is not None
        run.consumer.pending_count -= count

    def _remove_from_run(self, value: StreamId) -> None:
        found = self._in_run(value)
        assert found is not None, "only pending entries can be removed"
        run, position = found
        if run.live == 1:
            self._drop_run(run)
            return
        run.remove(position)
        self.count -= 1
        assert run.consumer is not None
        run.consumer.pending_count -= 1

    def claim(
        self, ids: Sequence[StreamId], consumer: Consumer, at_ms: int, deliveries: Sequence[int]
    ) -> None:
        """Make `ids` `consumer`'s, in this order, pending before or not. O(1) an entry for stretches."""
        start = 0
        while start < len(ids):
            stretch = self._stretch(ids, deliveries, start)
            if stretch is not None:
                run, position, length = stretch
                piece = self._carve(run, position, length)
                self._retime(piece, consumer, at_ms, deliveries[start])
                start += length
            else:
                self._put_single(ids[start], consumer, at_ms, deliveries[start])
                start += 1

    def _stretch(
        self, ids: Sequence[StreamId], deliveries: Sequence[int], start: int
    ) -> tuple[Run, int, int] | None:
        """The run in which ``ids[start:]`` begins with a stretch worth keeping together."""
        found = None if ids[start] in self.singles else self._in_run(ids[start])
        if found is None:
            return None
        run, position = found
        length = 1
        while (
            start + length < len(ids)
            and deliveries[start + length] == deliveries[start]
            and run.is_live(position + length)
            and run.ids[position + length] == ids[start + length]
        ):
            length += 1
        return (run, position, length) if length >= RUN_LENGTH_MIN else None

    def _carve(self, run: Run, position: int, length: int) -> Run:
        """Cut ``[position, position + length)``, all live, out of `run` as a unit of its own."""
        if position + length < run.high:
            self._cut(run, position + length)
        return self._cut(run, position) if position > run.low else run

    def _cut(self, run: Run, position: int) -> Run:
        upper = run.split(position)
        self.runs[upper.key] = upper
        assert run.consumer is not None
        run.consumer.runs[upper.key] = upper
        self.order.insert_after(run, upper)
        self._last_found = None
        return upper

    def _retime(self, run: Run, consumer: Consumer, at_ms: int, deliveries: int) -> None:
        self._release_run(run)
        run.consumer, run.delivered_at_ms, run.deliveries = consumer, at_ms, deliveries
        consumer.runs[run.key] = run
        consumer.pending_count += run.live
        self.order.add(run)

    def _put_single(self, value: StreamId, consumer: Consumer | None, at_ms: int, deliveries: int) -> None:
        """Make `value` a single with this owner, time and count, whatever it was before."""
        single = self.singles.get(value)
        if single is None:
            if self._in_run(value) is not None:
                self._remove_from_run(value)
            self._add_single(Single(value, consumer, at_ms, deliveries))
            return
        self.order.discard(single)
        if single.consumer is not consumer:
            self._count_for(single, -1)
            single.consumer = consumer
            self._count_for(single, 1)
        single.delivered_at_ms, single.deliveries = at_ms, deliveries
        self.order.add(single)

    def _count_for(self, single: Single, change: int) -> None:
        """Enter the single with its owner, or with the unowned, or take it out there."""
        if single.consumer is None:
            self.nacked_count += change
            return
        single.consumer.pending_count += change
        if change > 0:
            single.consumer.singles.add(single.id)
        else:
            single.consumer.singles.discard(single.id)

    def nack(self, ids: Sequence[StreamId], deliveries: Sequence[int]) -> None:
        """Take the owner from `ids`, in this order, pending before or not. O(1) an entry."""
        for value, count in zip(ids, deliveries, strict=True):
            self._put_single(value, None, 0, count)

    def drop_consumer(self, consumer: Consumer) -> None:
        """Remove all that is pending for `consumer`. O(its units)."""
        for run in list(consumer.runs.values()):
            self._drop_run(run)
        for value in list(consumer.singles.from_(0)):
            self._drop_single(self.singles[value])

    def transfer(self, consumer: Consumer, new_consumer: Consumer) -> None:
        """Make all of `consumer`'s entries `new_consumer`'s; times, counts and order stand. O(units)."""
        for key, run in consumer.runs.items():
            run.consumer = new_consumer
            new_consumer.runs[key] = run
        for value in consumer.singles.from_(0):
            self.singles[value].consumer = new_consumer
            new_consumer.singles.add(value)
        new_consumer.pending_count += consumer.pending_count
        consumer.pending_count = 0
        consumer.runs = SortedDict()
        consumer.singles = LazySortedIds()

    def restore(self, units: Iterable[Unit]) -> None:
        """Fill the list, which is empty, with units in order of delivery. O(log n) a unit."""
        for unit in units:
            if isinstance(unit, Single):
                self._add_single(unit)
            else:
                self._add_run(unit)

    # --- units ---------------------------------------------------------------------------------

    def _add_run(self, run: Run) -> None:
        assert run.consumer is not None
        self._highest_id = max(self._highest_id, run.last_id)
        self.count += run.live
        self.runs[run.key] = run
        run.consumer.runs[run.key] = run
        run.consumer.pending_count += run.live
        self.order.add(run)

    def _release_run(self, run: Run) -> None:
        assert run.consumer is not None
        self.order.discard(run)
        del run.consumer.runs[run.key]
        run.consumer.pending_count -= run.live

    def _drop_run(self, run: Run) -> None:
        self._release_run(run)
        del self.runs[run.key]
        self.count -= run.live
        self._last_found = None

    def _add_single(self, single: Single) -> None:
        self.count += 1
        self._highest_id = max(self._highest_id, single.id)
        self.singles[single.id] = single
        self.single_ids.add(single.id)
        self._count_for(single, 1)
        self.order.add(single)

    def _drop_single(self, single: Single) -> None:
        self.order.discard(single)
        self.count -= 1
        del self.singles[single.id]
        self.single_ids.discard(single.id)
        self._count_for(single, -1)
