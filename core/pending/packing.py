"""Packs singles into strips: entries that were delivered or claimed alone, one after another
(`core.pending.strip`).

An entry that is acknowledged soon is never packed: only one delivery or claim in `PACK_LENGTH` looks for
entries to pack, among the last ones. This module decides which singles are packed. It never changes what a
group has pending.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from tailrace.core.id_keys import ID_BYTES, id_key
from tailrace.core.pending.bulk_removal import BulkRemoval
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.run import Run
from tailrace.core.pending.strip import DELIVERIES_MAX, Strip
from tailrace.core.pending.units import Bunch, Single, Unit
from tailrace.core.stream_id import StreamId

PACK_LENGTH: Final = 1024
"""The entries of a strip. Packing them takes about a millisecond, and a removal of many entries takes a few
microseconds for each strip."""

PACK_LENGTH_MIN: Final = 32
"""Fewer singles stay as they are: a strip takes about as much memory as two of them."""


class Packing(BulkRemoval):
    """The units of a group, of which those that are packed and restored. m: entries of one call."""

    __slots__ = ("_unpacked_count",)

    def __init__(self) -> None:
        super().__init__()
        # Entries that were added as singles since the last attempt to pack some.
        self._unpacked_count = 0

    def restore(self, units: Iterable[Unit]) -> None:
        """Fill the empty list with `units`, which are in order of delivery. O(log n) a unit."""
        for unit in units:
            if isinstance(unit, Run):
                self._add_run(unit)
            elif isinstance(unit, Bunch):
                self._add_bunch(unit)
            else:
                assert isinstance(unit, Single)
                self._file_scattered((id_key(unit.id),), unit.id, unit)
        if len(self.scattered) >= PACK_LENGTH_MIN:
            # Runs stay as they were stored: the next checkpoint stores them again.
            self._pack_from(self.order.head, divide_runs=False)

    def _pack_after(self, count: int) -> None:
        """Pack singles near the end of the order of delivery, once in `PACK_LENGTH` of them. `count`: how
        many were added. O(1) amortised."""
        self._unpacked_count += count
        if self._unpacked_count < PACK_LENGTH:
            return
        self._unpacked_count = 0
        unit = self.order.tail
        for _ in range(PACK_LENGTH):
            if unit is None or unit.prev is None:
                break
            unit = unit.prev
        self._pack_from(unit, divide_runs=True)

    def _pack_from(self, unit: Unit | None, *, divide_runs: bool) -> None:
        """Pack singles that follow each other in order of delivery and of ids, from `unit` on. O(units)."""
        some: list[Single] = []
        last_id, is_gone = -1, self.order.is_gone
        while unit is not None:
            following = unit.next
            if isinstance(unit, Single) and _fits(unit) and (is_gone is None or not is_gone(unit)):
                if unit.id <= last_id or len(some) == PACK_LENGTH:
                    self._pack(some, divide_runs=divide_runs)
                    some = []
                some.append(unit)
                last_id = unit.id
            elif some:
                self._pack(some, divide_runs=divide_runs)
                some, last_id = [], -1
            unit = following
        self._pack(some, divide_runs=divide_runs)

    def _pack(self, singles: Sequence[Single], *, divide_runs: bool) -> None:
        """Replace `singles` by a strip, unless they are few or among the ids of a run. O(m), and as
        `_make_room`."""
        if len(singles) < PACK_LENGTH_MIN:
            return
        first, last = singles[0].id, singles[-1].id
        if self._meets_run(first, last) and not (divide_runs and self._make_room(first, last)):
            return
        strip = Strip.of(singles)
        if strip is not None:
            before = singles[0].prev
            self._take_out(singles)
            self._index_run(strip)
            self.order.insert(before, strip)

    def _take_out(self, singles: Sequence[Single]) -> None:
        """Remove `singles`. O(m), with fewer steps for each than a removal of any ids."""
        keys_of: defaultdict[Consumer | None, list[bytes]] = defaultdict(list)
        for single in singles:
            keys_of[single.consumer].append(single.id.to_bytes(ID_BYTES))
        self._discard_all(singles)
        for consumer, keys in keys_of.items():
            self._forget_scattered(keys, consumer)

    def _make_room(self, first: StreamId, last: StreamId) -> bool:
        """Whether no run has an entry from `first` to `last`. If so, no run that once had any is in the way
        any more: claims in the order of ids take the entries from the front or from the middle of a run.
        O(log runs) for each such run, and `Run.split`."""
        while self._meets_run(first, last):
            run = self.runs.peekitem(self.runs.bisect_right(id_key(last)) - 1)[1]
            low, high = run.between(first, last)
            if run.count_live(low, high) > 0:
                return False
            if run.first_id > last:
                self._file_again(run)
            else:
                self._split_run(run, high)
        return True

    def _file_again(self, run: Run) -> None:
        """File `run`, whose first entries were removed, under the id of its first live entry. O(log runs)."""
        key = id_key(run.first_id)
        self.runs[key] = self.runs.pop(run.key)
        for owner in run.owners():
            owner.runs[key] = owner.runs.pop(run.key)
        run.key = key

    def _meets_run(self, first: StreamId, last: StreamId) -> bool:
        """Whether a run has, or once had, an id from `first` to `last`. O(log runs)."""
        index = self.runs.bisect_right(id_key(last)) - 1
        return index >= 0 and self.runs.peekitem(index)[1].last_id >= first


def _fits(single: Single) -> bool:
    """Whether a strip may have `single`."""
    return single.consumer is not None and single.deliveries <= DELIVERIES_MAX
