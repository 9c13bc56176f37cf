"""Adding and removing pending units and entries, with all indexes of a group kept in step.

A change to one entry touches four places: the index by id, the order of delivery, the owner's index and the
counts. This module is the only one that changes them. It never decides which entries form a unit: that is
`core.pending.pending_list`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence

from tailrace.core.id_keys import ID_BYTES, distinct, id_keys
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.orders import PendingOrders
from tailrace.core.pending.run import Run
from tailrace.core.pending.units import RUN_OR_BUNCH_LENGTH_MIN, Bunch, Single, Unit
from tailrace.core.stream_id import StreamId


class UnitTable(PendingOrders):
    """The units of a group, by id, by owner and by time of delivery. n: pending entries, m: entries of one
    call."""

    __slots__ = ("_highest_id", "nacked_count")

    def __init__(self) -> None:
        super().__init__()
        # Pending entries without an owner (XNACK); part of `count`.
        self.nacked_count = 0
        # No id above this one was ever pending, so a delivery above it needs no search. Never decreases.
        self._highest_id: StreamId = 0

    # --- removing entries ----------------------------------------------------------------------

    def remove(self, ids: Sequence[StreamId]) -> None:
        """Remove `ids`, all pending and distinct. O(1) an entry, O(log runs) if the ids are out of order."""
        span = self.span_of(ids)
        if span is not None:
            self._remove_span(*span, len(ids), len(ids))
            return
        left = self.count - len(ids)
        self.remove_present(ids)
        assert self.count == left, "only pending entries can be removed"

    def remove_present(self, ids: Sequence[StreamId]) -> None:
        """Remove those of `ids` that are pending. O(m log m)."""
        if len(ids) < RUN_OR_BUNCH_LENGTH_MIN:
            for value in ids:
                self._remove_one(value)
        else:
            self._remove_from_runs(self._remove_scattered(ids))

    def _remove_one(self, value: StreamId, key: bytes | None = None) -> None:
        """Remove `value` if it is pending. `key`: its key, if the caller has it."""
        found = self._find_near(value)
        if found is None:
            key = key or value.to_bytes(ID_BYTES)
            unit = self.scattered.get(key)
            if unit is not None:
                self._remove_from_unit(value, unit)
                self._forget_scattered((key,), unit.consumer)
                return
            found = self._search_runs(value, key)
        if found is not None:
            self._remove_from_run(*found)

    def _remove_scattered(self, ids: Sequence[StreamId]) -> list[StreamId]:
        """Remove those of `ids` that are in singles and bunches; return the others. O(1) for each."""
        others = []
        emptied: list[Unit] = []
        gone: defaultdict[Consumer | None, list[bytes]] = defaultdict(list)
        ids = distinct(ids)
        keys = tuple(id_keys(ids))
        for value, key, unit in zip(ids, keys, map(self.scattered.get, keys), strict=True):
            if unit is None:
                others.append(value)
                continue
            gone[unit.consumer].append(key)
            if isinstance(unit, Bunch) and len(unit.members) > 1:
                unit.remove(value)
            else:
                emptied.append(unit)
        self._discard_all(emptied)
        for consumer, some in gone.items():
            self._forget_scattered(some, consumer)
        return others

    def _remove_from_unit(self, value: StreamId, unit: Single | Bunch) -> None:
        if isinstance(unit, Bunch) and len(unit.members) > 1:
            unit.remove(value)
        else:
            (self.order if self.held is None else self.order_of(unit)).discard(unit)

    def _forget_scattered(self, keys: Sequence[bytes], consumer: Consumer | None) -> None:
        """Take the ids of `keys`, which left their units, out of the index by id and of the counts. O(m log
        p)."""
        self.count -= len(keys)
        self.scattered.remove(keys, consumer)
        self._count_owned(-len(keys), consumer)

    def _remove_from_runs(self, ids: Iterable[StreamId]) -> None:
        """Remove those of `ids` that are in runs; ids in one run are found together."""
        for run, _, positions in self._positions_in_runs(ids):
            self._remove_positions(run, [position for position in positions if position >= 0])

    def _remove_from_run(self, run: Run, position: int) -> None:
        if run.live == 1:
            self._drop_run(run)
            return
        run.owner_at(position).pending_count -= 1
        run.remove(position)
        self.count -= 1

    def _remove_span(self, run: Run, position: int, length: int, live: int) -> None:
        if run.live == live:
            self._drop_run(run)
            return
        self._change_run(run, live, lambda: run.remove_span(position, length, live))

    def _remove_positions(self, run: Run, positions: Sequence[int]) -> None:
        if run.live == len(positions):
            self._drop_run(run)
        elif positions:
            self._change_run(run, len(positions), lambda: run.remove_all(positions))

    def _change_run(self, run: Run, gone: int, remove: Callable[[], None]) -> None:
        """Call `remove`, which removes `gone` entries of `run` and leaves others, and count. O(1) on top of
        `remove`; O(n) in C for a strip."""
        before = None if run.is_uniform else run.owners()
        remove()
        self.count -= gone
        if before is None:
            assert run.consumer is not None
            run.consumer.pending_count -= gone
        else:
            after = run.owners()
            for owner, live in before.items():
                owner.pending_count -= live - after[owner]

    def _enlist(self, unit: Unit) -> None:
        """Add `unit` to the order of delivery, between entries of a strip if need be. O(1) at the end, else
        O(log t). A delayed unit goes to the order of these."""
        if unit.consumer is None:
            self.order_of(unit).add(unit)
            return
        if self.order.add_last(unit):
            return
        strip = self.order.strip_around(unit)
        if strip is not None:
            end = strip.end_of(unit.delivered_at_ms)
            if end < strip.high:
                self._split_run(strip, end)
            else:
                self.order.file_by_last_entry(strip)
        self.order.add(unit)

    # --- runs and strips -----------------------------------------------------------------------

    def _add_run(self, run: Run) -> None:
        self._index_run(run)
        self._enlist(run)

    def _index_run(self, run: Run) -> None:
        """Add `run` to all indexes but the order of delivery. O(log runs)."""
        self._highest_id = max(self._highest_id, run.last_id)
        self.count += run.live
        self.runs[run.key] = run
        for owner, live in run.owners().items():
            owner.runs[run.key] = run.index_for(owner)
            owner.pending_count += live

    def _move_run(self, run: Run, consumer: Consumer, at_ms: int, deliveries: int) -> None:
        """Give `run` another owner, time and count. O(log runs)."""
        self._remove_run_from_owners(run)
        run.consumer, run.delivered_at_ms, run.deliveries = consumer, at_ms, deliveries
        consumer.runs[run.key] = run
        consumer.pending_count += run.live
        self._enlist(run)

    def _remove_run_from_owners(self, run: Run) -> None:
        self.order.discard(run)
        for owner, live in run.owners().items():
            del owner.runs[run.key]
            owner.pending_count -= live

    def _drop_run(self, run: Run) -> None:
        """Remove `run` with all of its live entries. O(log runs)."""
        self._remove_run_from_owners(run)
        del self.runs[run.key]
        self.count -= run.live
        self._last_found = None

    def _cut_out(self, run: Run, position: int, length: int) -> Run:
        """Make ``[position, position + length)`` of `run`, all live, a run of its own, and return it."""
        if position + length < run.high:
            self._split_run(run, position + length)
        return self._split_run(run, position) if position > run.low else run

    def _split_run(self, run: Run, position: int) -> Run:
        """Split `run` before `position` and return the upper part. O(log runs) plus `Run.split`."""
        upper = run.split(position)
        self.runs[upper.key] = upper
        for owner in upper.owners():
            owner.runs[upper.key] = upper.index_for(owner)
        self.order.insert_after(run, upper)
        self._last_found = None
        return upper

    # --- singles and bunches -------------------------------------------------------------------

    def _add_bunch(self, bunch: Bunch) -> None:
        self._file_scattered(tuple(id_keys(bunch.members)), max(bunch.members), bunch)

    def _file_scattered(self, keys: Collection[bytes], highest_id: StreamId, unit: Single | Bunch) -> None:
        """Add `unit`, the keys of whose ids are `keys`. O(m), and as `_enlist`."""
        self.count += len(keys)
        if highest_id > self._highest_id:  # noqa: PLR1730 - a call of max costs more
            self._highest_id = highest_id
        self.scattered.add(keys, unit)
        self._count_owned(len(keys), unit.consumer)
        self._enlist(unit)

    def _change_owner(self, keys: Collection[bytes], unit: Single | Bunch, consumer: Consumer | None) -> None:
        """Make `consumer` the owner of `unit`, whose ids have `keys` and which is in no order. O(m)."""
        before, unit.consumer = unit.consumer, consumer
        if before is not consumer:
            self.scattered.change_owner(keys, unit, before)
            self._count_owned(-len(keys), before)
            self._count_owned(len(keys), consumer)

    def _count_owned(self, change: int, consumer: Consumer | None) -> None:
        """Count entries that an owner got or lost, or entries without an owner."""
        if consumer is None:
            self.nacked_count += change
        else:
            consumer.pending_count += change
