"""The pending entries list (PEL) of one group: who was given what, when, how often, and not yet acked.

Rules this module keeps, whatever the commands above it do:

* An entry is pending once in a group, and has one owner or, after XNACK, none.
* Runs do not overlap: between a run's first and last id there may be singles and entries of bunches, never an
  entry of another run.
* The order of delivery has all unowned entries first, in order of their nack, then the owned ones by
  time of delivery, and among equals the one that got its time first (rule 35).
* A consumer's own index holds exactly what the list says is its own.

How the costs come about: a read of n entries adds one run, wherever it is looked from. Acknowledging
takes one byte of it. Claiming a stretch of a run cuts it and moves the piece; claiming scattered entries
makes a bunch of them, and claiming all of a bunch moves it as one. Nothing here ever walks all of the
list but the commands that ask for all of it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import islice
from operator import eq

from sortedcontainers import SortedDict

from tailrace.core.log.id_sequence import are_same, as_run, pack_ids
from tailrace.core.pending.consumer import Consumer, run_ids
from tailrace.core.pending.delivery_order import DeliveryOrder
from tailrace.core.pending.sorted_view import SortedView
from tailrace.core.pending.units import BUNCH_LENGTH_MAX, Bunch, Run, Single, Unit
from tailrace.core.stream_id import StreamId

RUN_OR_BUNCH_LENGTH_MIN = 4
"""Fewer entries become singles: a run or a bunch costs about as much as three of them."""


class PendingEntriesList:
    """n: pending entries, m: entries touched.

    `count`: all of them; `nacked_count`: those without an owner. `runs`: by the id at which they were
    begun. `scattered`: what is in no run, each id's single or bunch. `order`: all units by time of delivery.
    """

    __slots__ = (
        "_highest_id",
        "_last_found",
        "count",
        "nacked_count",
        "order",
        "runs",
        "scattered",
        "scattered_ids",
    )

    def __init__(self) -> None:
        self.count = 0
        self.nacked_count = 0
        self.runs: SortedDict[StreamId, Run] = SortedDict()
        self.scattered: dict[StreamId, Single | Bunch] = {}
        self.scattered_ids = SortedView(self.scattered)
        self.order = DeliveryOrder()
        # No id above this one was ever pending: what is delivered above it needs no looking up.
        self._highest_id: StreamId = 0
        self._last_found: tuple[Run, int] | None = None

    # --- looking -------------------------------------------------------------------------------

    def get(self, value: StreamId) -> Unit | None:
        """The unit that holds `value`: its owner, time and count. O(1), O(log runs) inside a run."""
        unit = self.scattered.get(value)
        if unit is not None:
            return unit
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
        found = (
            None if len(ids) < RUN_OR_BUNCH_LENGTH_MIN or ids[0] in self.scattered else self._in_run(ids[0])
        )
        if found is None:
            return None
        run, position = found
        return found if _holds(run, position, ids) else None

    def present(self, ids: Iterable[StreamId]) -> Sequence[StreamId]:
        """Those of `ids` that are pending, each once, in rising order if there are many. O(m log m)."""
        ids = ids if isinstance(ids, range) else tuple(ids)
        if len(ids) < RUN_OR_BUNCH_LENGTH_MIN:
            return [value for value in dict.fromkeys(ids) if self.get(value) is not None]
        if self.span_of(ids) is not None:
            return as_run(ids)
        return sorted(self.units_of(ids))

    def units_of(self, ids: Iterable[StreamId]) -> dict[StreamId, Unit]:
        """The unit of each of `ids` that is pending. O(m log m): neighbours in a run are found together."""
        units: dict[StreamId, Unit] = {}
        in_runs: list[StreamId] = []
        for value in ids:
            unit = self.scattered.get(value)
            if unit is None:
                in_runs.append(value)
            else:
                units[value] = unit
        for run, values, positions in self._in_runs(in_runs):
            units.update((value, run) for value, at in zip(values, positions, strict=True) if at >= 0)
        return units

    def by_unit(self, ids: Sequence[StreamId]) -> Iterator[tuple[Unit, Sequence[StreamId]]]:
        """Pending `ids`, which rise, in pieces that a unit holds each. O(pieces log runs), and O(m) in C."""
        start = 0
        while start < len(ids):
            unit: Unit | None = self.scattered.get(ids[start])
            end = start + 1
            if unit is None:
                unit, end = self._piece_of_run(ids, start)
            yield unit, ids[start:end]
            start = end

    def _piece_of_run(self, ids: Sequence[StreamId], start: int) -> tuple[Run, int]:
        """The run that holds ``ids[start]``, and where the ids end that it holds one after another."""
        found = self._in_run(ids[start])
        assert found is not None, "only pending ids are asked for"
        run = found[0]
        end = bisect_right(ids, run.last_id, start)
        if self.scattered:
            some = islice(ids, start, end)
            end = next((at for at, value in enumerate(some, start) if value in self.scattered), end)
        return run, end

    def _in_runs(self, ids: Iterable[StreamId]) -> Iterator[tuple[Run, Sequence[StreamId], list[int]]]:
        """Each run that some of `ids` may be in, those ids, rising, and their positions (-1: none).

        The run may be dropped before the next one is asked for; other changes are not allowed meanwhile.
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

    def __contains__(self, value: StreamId) -> bool:
        return self.get(value) is not None

    def ids(self, start: StreamId = 0) -> Iterator[StreamId]:
        """Pending ids at or after `start`, rising; the list must not change meanwhile. O(log n + m)."""
        ids = run_ids(self.runs, start)
        return merge(ids, self.scattered_ids.from_(start)) if self.scattered else ids

    def bounds(self) -> tuple[StreamId, StreamId] | None:
        """The least and the greatest pending id. O(log n)."""
        if not self.count:
            return None
        greatest = self.scattered_ids.last() or 0
        if self.runs:
            greatest = max(greatest, self.runs.peekitem(-1)[1].last_id)
        return next(self.ids()), greatest

    def first_from(self, start: StreamId) -> StreamId | None:
        """The least pending id at or after `start`, None where there is none. O(log n)."""
        least = next(self.scattered_ids.from_(start), None) if self.scattered else None
        for key in self.runs.islice(max(self.runs.bisect_right(start) - 1, 0)):
            found = self.runs[key].first_live_from(start)
            if found is not None:
                return found if least is None else min(found, least)
        return least

    def count_between(self, first: StreamId, last: StreamId) -> int:
        """How many ids from `first` to `last` are pending. O(log n + runs concerned)."""
        count = self.scattered_ids.count_between(first, last) if self.scattered else 0
        for run in self._runs_between(first, last):
            count += run.count_live(*run.between(first, last))
        return count

    def run_over(self, first: StreamId, last: StreamId) -> Run | None:
        """The run in whose span the ids from `first` to `last` are, if nothing is pending between runs."""
        runs = [] if self.scattered else self._runs_between(first, last)
        return runs[0] if len(runs) == 1 and runs[0].first_id <= first and last <= runs[0].last_id else None

    def _runs_between(self, first: StreamId, last: StreamId) -> list[Run]:
        """The runs whose windows meet the ids from `first` to `last`. O(log n) and those runs."""
        low = max(self.runs.bisect_right(first) - 1, 0)
        runs = [self.runs[key] for key in self.runs.islice(low, self.runs.bisect_right(last))]
        return [run for run in runs if run.last_id >= first and run.first_id <= last]

    # --- changing ------------------------------------------------------------------------------

    def deliver(self, ids: Sequence[StreamId], consumer: Consumer, at_ms: int) -> None:
        """New entries, rising, became pending for `consumer`; what stood for them before is replaced.

        O(m) to pack the ids, O(log) for the rest; where the group was moved back, O(m log n).
        """
        overlaps = ids[0] <= self._highest_id and self._clear_for(ids)
        if overlaps or len(ids) < RUN_OR_BUNCH_LENGTH_MIN:
            self._scatter(ids, consumer, at_ms, [1] * len(ids))
        else:
            self._add_run(Run(pack_ids(ids), consumer, at_ms, 1))

    def _clear_for(self, ids: Sequence[StreamId]) -> bool:
        """Remove `ids` where they are pending; True: a run still lies across their stretch."""
        self.remove_present(ids)
        index = self.runs.bisect_right(ids[-1]) - 1
        return index >= 0 and self.runs.peekitem(index)[1].last_id >= ids[0]

    def remove(self, ids: Sequence[StreamId]) -> None:
        """Take out `ids`, all pending and distinct. O(1) an entry, O(log runs) where out of order."""
        span = self.span_of(ids)
        if span is not None:
            self._remove_span(*span, len(ids), len(ids))
            return
        left = self.count - len(ids)
        self.remove_present(ids)
        assert self.count == left, "only pending entries can be removed"

    def remove_between(self, first: StreamId, last: StreamId) -> None:
        """Take out all from `first` to `last`. O(log n + runs concerned + scattered entries concerned)."""
        for run in self._runs_between(first, last):
            low, high = run.between(first, last)
            live = run.count_live(low, high)
            if live:
                self._remove_span(run, low, high - low, live)
        if self.scattered:
            self._remove_scattered(list(self.scattered_ids.between(first, last)))

    def remove_present(self, ids: Sequence[StreamId]) -> None:
        """Take out those of `ids` that are pending. O(m log m)."""
        if len(ids) < RUN_OR_BUNCH_LENGTH_MIN:
            for value in ids:
                self._remove_one(value)
        else:
            self._remove_from_runs(self._remove_scattered(ids))

    def _remove_one(self, value: StreamId) -> None:
        unit = self.scattered.pop(value, None)
        if unit is None:
            self._remove_from_run(value)
        else:
            self._take_out(value, unit)

    def _remove_scattered(self, ids: Iterable[StreamId]) -> list[StreamId]:
        """Take out those of `ids` that are in no run; the others."""
        others = []
        for value in ids:
            unit = self.scattered.pop(value, None)
            if unit is None:
                others.append(value)
            else:
                self._take_out(value, unit)
        return others

    def _remove_from_runs(self, ids: Iterable[StreamId]) -> None:
        """Take out those of `ids` that are in runs; neighbours are found together."""
        for run, _, positions in self._in_runs(ids):
            self._remove_positions(run, [position for position in positions if position >= 0])

    def _take_out(self, value: StreamId, unit: Single | Bunch) -> None:
        if isinstance(unit, Bunch) and len(unit.members) > 1:
            unit.remove(value)
        else:
            self.order.discard(unit)
        self.count -= 1
        ids = (value,)
        self.scattered_ids.note(ids)
        self._disown(ids, unit.consumer)

    def _remove_span(self, run: Run, position: int, length: int, live: int) -> None:
        if run.live == live:
            self._drop_run(run)
            return
        run.remove_span(position, length, live)
        self.count -= live
        assert run.consumer is not None
        run.consumer.pending_count -= live

    def _remove_positions(self, run: Run, positions: Sequence[int]) -> None:
        if run.live == len(positions):
            self._drop_run(run)
        elif positions:
            run.remove_all(positions)
            self.count -= len(positions)
            assert run.consumer is not None
            run.consumer.pending_count -= len(positions)

    def _remove_from_run(self, value: StreamId) -> None:
        found = self._in_run(value)
        if found is None:
            return
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
        """Make `ids`, distinct, `consumer`'s, in this order, pending before or not.

        O(1) for a stretch of a run and for a whole bunch beside looking through `ids`, else O(1) an entry.
        """
        if len(ids) < RUN_OR_BUNCH_LENGTH_MIN:
            self._gather(ids, consumer, at_ms, deliveries)
            return
        done = start = 0
        while len(ids) - start >= RUN_OR_BUNCH_LENGTH_MIN:
            stretch = self._stretch(ids, deliveries, start) if _rises(ids, start) else None
            if stretch is None:
                start += 1
                continue
            self._gather(ids[done:start], consumer, at_ms, deliveries[done:start])
            run, position, length = stretch
            self._retime(self._carve(run, position, length), consumer, at_ms, deliveries[start])
            start += length
            done = start
        self._gather(ids[done:], consumer, at_ms, deliveries[done:])

    def _stretch(
        self, ids: Sequence[StreamId], deliveries: Sequence[int], start: int
    ) -> tuple[Run, int, int] | None:
        """The run in which ``ids[start:]`` begins with a stretch worth keeping together."""
        found = None if ids[start] in self.scattered else self._in_run(ids[start])
        if found is None:
            return None
        run, position = found
        length = _stretch_length(run, position, ids, deliveries, start)
        return (run, position, length) if length >= RUN_OR_BUNCH_LENGTH_MIN else None

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

    def _gather(
        self, ids: Sequence[StreamId], consumer: Consumer | None, at_ms: int, deliveries: Sequence[int]
    ) -> None:
        """Give `ids`, distinct, this owner and time, whatever they were before, in this order."""
        if len(ids) < RUN_OR_BUNCH_LENGTH_MIN:
            for value, count in zip(ids, deliveries, strict=True):
                self._gather_one(value, consumer, at_ms, count)
            return
        self._remove_from_runs(value for value in ids if value not in self.scattered)
        for start in range(0, len(ids), BUNCH_LENGTH_MAX):
            some = ids[start : start + BUNCH_LENGTH_MAX]
            counts = deliveries[start : start + BUNCH_LENGTH_MAX]
            bunch = self._whole_bunch(some)
            if bunch is not None:
                self._move_bunch(bunch, consumer, at_ms, counts)
            else:
                self._remove_scattered(some)
                self._scatter(some, consumer, at_ms, counts)

    def _gather_one(self, value: StreamId, consumer: Consumer | None, at_ms: int, deliveries: int) -> None:
        unit = self.scattered.get(value)
        if not isinstance(unit, Single):
            self.remove_present((value,))
            self._add_single(Single(value, consumer, at_ms, deliveries))
            return
        self.order.discard(unit)
        if unit.consumer is not consumer:
            self._disown((value,), unit.consumer)
            self._own((value,), consumer)
        unit.consumer, unit.delivered_at_ms, unit.deliveries = consumer, at_ms, deliveries
        self.order.add(unit)

    def _whole_bunch(self, ids: Sequence[StreamId]) -> Bunch | None:
        """The bunch that `ids` are, in its own order; None where they are not. O(m) in C."""
        unit = self.scattered.get(ids[0])
        if not isinstance(unit, Bunch) or len(unit.members) != len(ids):
            return None
        return unit if all(map(eq, unit.members, ids)) else None

    def _move_bunch(
        self, bunch: Bunch, consumer: Consumer | None, at_ms: int, deliveries: Sequence[int]
    ) -> None:
        ids = list(bunch.members)
        self.order.discard(bunch)
        if bunch.consumer is not consumer:
            self._disown(ids, bunch.consumer)
            self._own(ids, consumer)
        bunch.consumer, bunch.delivered_at_ms = consumer, at_ms
        bunch.members.update(zip(ids, deliveries, strict=True))
        self.order.add(bunch)

    def _scatter(
        self, ids: Sequence[StreamId], consumer: Consumer | None, at_ms: int, deliveries: Sequence[int]
    ) -> None:
        """`ids`, none of them pending, become so outside of all runs."""
        if len(ids) >= RUN_OR_BUNCH_LENGTH_MIN:
            self._add_bunch(Bunch(ids, consumer, at_ms, deliveries))
            return
        for value, count in zip(ids, deliveries, strict=True):
            self._add_single(Single(value, consumer, at_ms, count))

    def _own(self, ids: Sequence[StreamId], consumer: Consumer | None) -> None:
        """Enter scattered entries with their owner, or with the unowned."""
        if consumer is None:
            self.nacked_count += len(ids)
        else:
            consumer.pending_count += len(ids)
            consumer.scattered.update(ids)
            consumer.scattered_ids.note(ids)

    def _disown(self, ids: Sequence[StreamId], consumer: Consumer | None) -> None:
        """The contrary of `_own`."""
        if consumer is None:
            self.nacked_count -= len(ids)
        else:
            consumer.pending_count -= len(ids)
            consumer.scattered.difference_update(ids)
            consumer.scattered_ids.note(ids)

    def nack(self, ids: Sequence[StreamId], deliveries: Sequence[int]) -> None:
        """Take the owner from `ids`, distinct, in this order, pending before or not. O(1) an id."""
        self._gather(ids, None, 0, deliveries)

    def drop_consumer(self, consumer: Consumer) -> None:
        """Remove all that is pending for `consumer`. O(its units)."""
        for run in list(consumer.runs.values()):
            self._drop_run(run)
        self.remove_present(list(consumer.scattered_ids.from_(0)))

    def transfer(self, consumer: Consumer, new_consumer: Consumer) -> None:
        """Make all of `consumer`'s entries `new_consumer`'s; times, counts and order stand. O(entries)."""
        for key, run in consumer.runs.items():
            run.consumer = new_consumer
            new_consumer.runs[key] = run
            new_consumer.pending_count += run.live
            consumer.pending_count -= run.live
        consumer.runs = SortedDict()
        ids = list(consumer.scattered)
        for value in ids:
            self.scattered[value].consumer = new_consumer
        self._disown(ids, consumer)
        self._own(ids, new_consumer)

    def restore(self, units: Iterable[Unit]) -> None:
        """Fill the list, which is empty, with units in order of delivery. O(log n) a unit."""
        for unit in units:
            if isinstance(unit, Run):
                self._add_run(unit)
            elif isinstance(unit, Bunch):
                self._add_bunch(unit)
            else:
                self._add_single(unit)

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
        self.scattered[single.id] = single
        self._enter((single.id,), single.id, single)

    def _add_bunch(self, bunch: Bunch) -> None:
        self.scattered.update(dict.fromkeys(bunch.members, bunch))
        self._enter(list(bunch.members), max(bunch.members), bunch)

    def _enter(self, ids: Sequence[StreamId], highest_id: StreamId, unit: Single | Bunch) -> None:
        self.count += len(ids)
        self._highest_id = max(self._highest_id, highest_id)
        self.scattered_ids.note(ids)
        self._own(ids, unit.consumer)
        self.order.add(unit)


def _stretch_length(
    run: Run, position: int, ids: Sequence[StreamId], deliveries: Sequence[int], start: int
) -> int:
    """How many of ``ids[start:]`` are in `run` one after another from `position` on, with the same count.

    The pieces compared grow with what matched, so that ids in no order cost O(1) each, and a stretch of m ids
    O(m) in C.
    """
    most = min(len(ids) - start, run.high - position)
    length = 1
    if most == 1 or run.ids[position + 1] != ids[start + 1]:
        return length
    while length < most:
        piece = min(max(length, RUN_OR_BUNCH_LENGTH_MIN), most - length)
        first, end = start + length, start + length + piece
        if not _is_stretch(run, position + length, ids[first:end], deliveries[first:end], deliveries[start]):
            break
        length += piece
    while (
        length < most
        and deliveries[start + length] == deliveries[start]
        and run.is_live(position + length)
        and run.ids[position + length] == ids[start + length]
    ):
        length += 1
    return length


def _rises(ids: Sequence[StreamId], start: int) -> bool:
    """Whether the next ids rise, as those of a stretch do: a look that costs less than a search."""
    return ids[start] < ids[start + 1] < ids[start + 2] < ids[start + 3]


def _is_stretch(
    run: Run, position: int, ids: Sequence[StreamId], deliveries: Sequence[int], count: int
) -> bool:
    """Whether all of `ids` stand one after another in `run`, and were delivered `count` times. O(m) in C."""
    return _holds(run, position, ids) and all(map(count.__eq__, deliveries))


def _holds(run: Run, position: int, ids: Sequence[StreamId]) -> bool:
    """Whether `ids` stand in `run` from `position` on, one after another, all live. O(m) in C."""
    if not run.is_whole(position, len(ids)):
        return False
    return are_same(ids, run.ids[position : position + len(ids)])
