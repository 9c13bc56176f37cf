"""The pending entries list (PEL) of one group: each entry's owner, delivery time and delivery count.

Rules that always hold:

* An entry is pending at most once in a group, and has one owner or, after XNACK, none.
* Runs do not overlap (see `core.pending.pending_index`).
* The order of delivery has all unowned entries first, in the order of their nacks. Owned entries follow, by
  time of delivery. Entries with equal times are in the order in which they got this time (rule 35).
* A delayed entry has no owner, and is in an order of its own until it is released: no claim finds it.
* A consumer's own index contains exactly the entries that the list says the consumer owns.

Costs: a read of n entries adds one run to each index. An acknowledgment sets one byte of a run. Claiming a
stretch of a run splits the run and moves the piece; claiming scattered entries makes a bunch, and claiming
all of a bunch again moves it as one. Only commands that ask for all entries walk the whole list.

This module decides which entries form a unit. It never reads the fields of an entry, and never decides what a
command does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import repeat
from typing import Any, Final

from tailrace.core.id_keys import ID_BYTES
from tailrace.core.log.id_sequence import pack_ids
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.regrouping import Regrouping
from tailrace.core.pending.run import Run
from tailrace.core.pending.stretches import may_begin_stretch, stretch_length
from tailrace.core.pending.strip import Strip
from tailrace.core.pending.units import RUN_OR_BUNCH_LENGTH_MIN, Single, Unit
from tailrace.core.stream_id import StreamId

_set_consumer: Final[Any] = vars(Unit)["consumer"].__set__
"""Sets the owner of a unit, without a step of the interpreter for each of many units."""


class PendingEntriesList(Regrouping):
    """The pending entries of one group. n: pending entries, m: entries of one call.

    Only `core.effects`, and `Group.copy` and `core.storage` through `restore`, call methods that change it.
    """

    __slots__ = ()

    def deliver(self, ids: Sequence[StreamId], consumer: Consumer, at_ms: int) -> None:
        """Make `ids`, which rise, pending for `consumer` with a delivery count of 1. Ids that are pending
        already lose their owner, time and count.

        O(m) to pack the ids and O(log n) for the rest; O(m log n) after the group's position moved back.
        """
        overlaps = ids[0] <= self._highest_id and self._clear_for(ids)
        if overlaps or len(ids) < RUN_OR_BUNCH_LENGTH_MIN:
            self._add_scattered(ids, consumer, at_ms, [1] * len(ids))
            self._pack_after(len(ids))
        else:
            self._add_run(Run(pack_ids(ids), consumer, at_ms, 1))

    def _clear_for(self, ids: Sequence[StreamId]) -> bool:
        """Remove `ids` if they are pending; return whether a run of other entries still overlaps their
        span."""
        self.remove_present(ids)
        return self._meets_run(ids[0], ids[-1])

    # --- claiming ------------------------------------------------------------------------------

    def claim(
        self, ids: Sequence[StreamId], consumer: Consumer, at_ms: int, deliveries: Sequence[int]
    ) -> None:
        """Make `consumer` the owner of `ids`, which are distinct, in this order of delivery. Ids that were
        not pending become pending.

        O(m) in C, and O(log n) for each stretch of a run and for a whole bunch; O(1) for each other entry.
        """
        if len(ids) < RUN_OR_BUNCH_LENGTH_MIN:
            self._assign(ids, consumer, at_ms, deliveries)
            self._pack_after(len(ids))
            return
        # Before any search among all scattered entries: this is the most common claim of many.
        moved = self._move_bunches(ids, consumer, at_ms, deliveries, 0)
        if moved:
            ids, deliveries = ids[moved:], deliveries[moved:]
        units = self.scattered.get_all(ids)
        if None not in units:
            self._regroup(ids, units, consumer, at_ms, deliveries)
            return
        done = start = 0
        while len(ids) - start >= RUN_OR_BUNCH_LENGTH_MIN:
            found = self._find_in_run(ids[start]) if may_begin_stretch(ids, start) else None
            if found is None:
                start += 1
                continue
            run, position = found
            if isinstance(run, Strip):
                # Its entries leave it one by one, as the others do.
                start = _rising_until(ids, start, run.last_id)
                continue
            length = stretch_length(run, position, ids, deliveries, start)
            if length < RUN_OR_BUNCH_LENGTH_MIN:
                start += 1
                continue
            self._assign(ids[done:start], consumer, at_ms, deliveries[done:start])
            self._move_run(self._cut_out(run, position, length), consumer, at_ms, deliveries[start])
            start += length
            done = start
        self._assign(ids[done:], consumer, at_ms, deliveries[done:])

    def nack(self, ids: Sequence[StreamId], deliveries: Sequence[int]) -> None:
        """Remove the owner of `ids`, which are distinct, in this order. Ids that were not pending become
        pending. O(1) an id."""
        self._assign(ids, None, 0, deliveries)

    def hold(self, ids: Sequence[StreamId], deliveries: Sequence[int], until_ms: int) -> None:
        """Do as `nack`, and keep `ids` from all claims until they are released. O(1) an id, or O(log t) if
        another time is later."""
        self._assign(ids, None, until_ms, deliveries)

    def release(self, ids: Sequence[StreamId]) -> None:
        """End the delay of `ids`, which are delayed, in this order. O(1) an id."""
        self.nack(
            ids, [unit.deliveries_of(value) for value, unit in zip(ids, self.units_at(ids), strict=True)]
        )

    def _assign(
        self, ids: Sequence[StreamId], consumer: Consumer | None, at_ms: int, deliveries: Sequence[int]
    ) -> None:
        """Make `ids`, which are distinct, singles or bunches with this owner and time, in this order."""
        if len(ids) < RUN_OR_BUNCH_LENGTH_MIN:
            for at, value in enumerate(ids):
                self._assign_one(value, consumer, at_ms, deliveries[at])
            return
        units = self.scattered.get_all(ids)
        self._remove_from_runs(value for value, unit in zip(ids, units, strict=True) if unit is None)
        self._regroup(ids, units, consumer, at_ms, deliveries)

    def _assign_one(self, value: StreamId, consumer: Consumer | None, at_ms: int, deliveries: int) -> None:
        key = value.to_bytes(ID_BYTES)
        unit = self.scattered.get(key)
        if not isinstance(unit, Single):
            self._remove_one(value, key)
            self._file_scattered((key,), value, Single(value, consumer, at_ms, deliveries))
            return
        (self.order_of(unit) if unit.consumer is None else self.order).discard(unit)
        self._change_owner((key,), unit, consumer)
        unit.delivered_at_ms, unit.deliveries = at_ms, deliveries
        self._enlist(unit)

    # --- all entries of a consumer -------------------------------------------------------------

    def transfer(self, consumer: Consumer, new_consumer: Consumer) -> None:
        """Make `new_consumer` the owner of all entries of `consumer`, which is used no more. Times, counts
        and order do not change. O(runs log runs), and O(m) in C for m scattered entries.
        """
        runs = list(map(self.runs.__getitem__, consumer.runs))
        strips = [run for run in runs if isinstance(run, Strip)]
        uniform = [run for run in runs if run.is_uniform] if strips else runs
        deque(map(_set_consumer, uniform, repeat(new_consumer)), maxlen=0)
        new_consumer.runs.update(zip(consumer.runs, runs, strict=True))
        for strip in strips:
            strip.replace_owner(consumer, new_consumer)
            new_consumer.runs[strip.key] = strip.index_for(new_consumer)
        new_consumer.pending_count += consumer.pending_count
        for units in self.scattered.transfer(consumer, new_consumer):
            deque(map(_set_consumer, units.values(), repeat(new_consumer)), maxlen=0)


def _rising_until(ids: Sequence[StreamId], start: int, last: StreamId) -> int:
    """Return the index after the last of the ids that rise from ``ids[start]`` up to `last`. O(result)."""
    end = start + 1
    while end < len(ids) and ids[end - 1] < ids[end] <= last:
        end += 1
    return end
