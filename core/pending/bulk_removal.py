"""Removing many entries of a pending entries list: those in spans of ids, or those of one consumer.

If a large share of the entries goes, the tables are made again without them, which costs less than removing
each entry. Taking each of many singles and bunches out of the order of delivery would cost most, so they
stay there for a while, and iterating skips them. `core.garbage` unlinks them later, some at a time. A caller
that removes all entries replaces the list instead (`core.group`). This module never decides which entries go.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Final, cast

from sortedcontainers import SortedDict

from tailrace.core.id_keys import id_key, id_keys
from tailrace.core.pending.consumer import Consumer, IdRunT
from tailrace.core.pending.id_spans import IdSpans
from tailrace.core.pending.run import Run
from tailrace.core.pending.scattered_part import Removed, Units
from tailrace.core.pending.strip import Strip
from tailrace.core.pending.unit_table import UnitTable
from tailrace.core.pending.units import BUNCH_LENGTH_MAX, Bunch, Single, Unit
from tailrace.core.stream_id import StreamId

_IDS_PER_SPAN: Final = 64
"""Looking a span up in a run costs about as much as this many ids of a mask."""

_SHARE: Final = 4
"""Removing more than one in this many keys of a sorted table costs more than making it again."""

UNLINKED_AT_ONCE_MAX: Final = 5_000
"""Scattered entries of one removal that are taken out of their units at once, in about 3 ms."""


def without(runs: SortedDict[bytes, IdRunT], keys: Collection[bytes]) -> SortedDict[bytes, IdRunT]:
    """Return `runs` without `keys`, which it has: the same table, or a new one. O(keys log n), or O(n) in C
    if there are many keys."""
    if len(keys) * _SHARE > len(runs):
        return SortedDict(item for item in runs.items() if item[0] not in keys)
    for key in keys:
        del runs[key]
    return runs


def _is_left(run: Run, consumer: Consumer) -> bool:
    """Remove the entries of `consumer` from a strip with entries of others, and return whether it is one."""
    return isinstance(run, Strip) and run.remove_owner(consumer)


def _removes_last(key: bytes, unit: Single | Bunch) -> bool:
    """Remove the id of `key` from a bunch, and return whether it was the last member. False for a single."""
    value = int.from_bytes(key)
    if isinstance(unit, Single) or value not in unit.members:
        return False
    if len(unit.members) > 1:
        unit.remove(value)
        return False
    return True


class BulkRemoval(UnitTable):
    """n: pending entries, m: entries that are removed."""

    __slots__ = ("_unlinked_later",)

    def __init__(self) -> None:
        super().__init__()
        # How many removals left entries in their units, to be unlinked later.
        self._unlinked_later = 0

    def is_gone(self, unit: Unit) -> bool:
        """Whether no entry of `unit` is pending any more. A bunch forgets those that are not. O(1), O(m log
        p) for a bunch."""
        if not self._unlinked_later or isinstance(unit, Run):
            return False
        if unit.consumer is not None and unit.consumer.is_gone:
            return True
        if isinstance(unit, Single):
            key = id_key(unit.id)
            return self.scattered.part_of(key).units.get(key) is not unit
        bunch = cast("Bunch", unit)
        filed = zip(bunch.members.items(), self.scattered.get_all(bunch.members), strict=True)
        members = dict(item for item, found in filed if found is bunch)
        if 0 < len(members) < len(bunch.members):
            bunch.keep(members)
        return not members

    def is_within(self, spans: IdSpans) -> bool:
        """Whether one of `spans` surely contains the ids of all entries, at least one. O(log n), and
        `ScatteredTable.first_id`."""
        return bool(self.count) and spans.contains_all(self.first_id, self._highest_id)

    @property
    def first_id(self) -> StreamId:
        """The lowest pending id; at least one must be pending. O(log n), and `ScatteredTable.first_id`."""
        first: StreamId = self.runs.peekitem(0)[1].first_id if self.runs else self._highest_id
        return min(first, self.scattered.first_id) if self.scattered else first

    def remove_spans(self, spans: IdSpans) -> list[Removed]:
        """Remove all entries whose ids are in `spans`. Return those that are to be unlinked later. O(log
        n) for each run, `IdSpans.mask` for a run that meets many spans, and `ScatteredTable.take_spans`."""
        first, last = spans.bounds
        whole: list[Run] = []
        for run in self._runs_between(first, last):
            ends = run.first_id, run.last_id
            count = spans.count_meeting(*ends)
            if count == 1 and spans.contains_all(*ends):
                whole.append(run)
            elif count == 1 or count * _IDS_PER_SPAN < run.high - run.low:
                for span in spans.meeting(*ends):
                    self._remove_between(run, *span)
            else:
                self._remove_masked(run, spans.mask(run.window()))
        self._drop_runs(whole)
        taken = self.scattered.take_spans(spans) if self.scattered else []
        for part in taken:
            gone = len(part.units)
            self.count -= gone
            for consumer, units in part.owned.items():
                self._count_owned(-len(units), consumer)
                gone -= len(units)
            self.nacked_count -= gone
        return self._left([Removed(part.units, owned=part.owned) for part in taken])

    def _left(self, taken: list[Removed]) -> list[Removed]:
        """Unlink the entries `taken` if they are few; if not, return them."""
        if sum(len(each.units) for each in taken) > UNLINKED_AT_ONCE_MAX:
            self._unlinked_later += 1
            self._note_gone()
            return taken
        for each in taken:
            self._unlink(each.units)
        return []

    def _note_gone(self) -> None:
        """Let iterating skip units without pending entries, as long as there may be some."""
        for order in filter(None, (self.order, self.held)):
            order.is_gone = self.is_gone if self._unlinked_later else None

    def unlink(self, removed: list[Removed], most: int) -> int:
        """Take up to `most` entries out of their units, and units without entries out of the order of
        delivery. Return how many, 0 if none is left. O(most)."""
        while removed and not removed[-1].units:
            removed.pop().end()
        if not removed:
            self._unlinked_later -= 1
            if not self._unlinked_later:
                self.scattered.end_leaving()
            self._note_gone()
            return 0
        some = removed[-1].pop(most)
        self._unlink(some)
        return len(some)

    def _unlink(self, units: Units) -> None:
        distinct = dict.fromkeys(units.values())
        emptied: list[Unit] = [unit for unit in distinct if isinstance(unit, Single)]
        bunches = [unit for unit in distinct if isinstance(unit, Bunch)]
        if len(units) * _SHARE > len(bunches) * BUNCH_LENGTH_MAX:
            for bunch in bunches:
                keys = id_keys(bunch.members)
                members = zip(keys, bunch.members.items(), strict=True)
                kept = {value: count for key, (value, count) in members if key not in units}
                if kept:
                    bunch.keep(kept)
                else:
                    emptied.append(bunch)
        else:
            emptied += (bunch for key, bunch in units.items() if _removes_last(key, bunch))
        self._discard_all(emptied)

    def _remove_between(self, run: Run, first: StreamId, last: StreamId) -> None:
        low, high = run.between(first, last)
        live = run.count_live(low, high)
        if live > 0:
            self._remove_span(run, low, high - low, live)

    def _remove_masked(self, run: Run, mask: bytes) -> None:
        flags = run.flags_with(mask)
        gone = run.live - flags.count(0)
        if gone == run.live:
            self._drop_run(run)
        elif gone:
            self._change_run(run, gone, lambda: run.set_flags(flags))

    def drop_consumer(self, consumer: Consumer) -> list[Removed]:
        """Remove all entries of `consumer`, which is used no more and keeps its own index. Return those that
        are to be unlinked later. O(its units)."""
        runs = [run for run in map(self.runs.__getitem__, consumer.runs) if not _is_left(run, consumer)]
        self.order.discard_all(runs)
        for run in runs:
            # A strip without entries is still in the indexes of its other owners.
            for owner in run.owners().keys() - {consumer}:
                del owner.runs[run.key]
        self.runs = without(self.runs, {run.key for run in runs})
        self.count -= consumer.pending_count
        self._last_found = None
        if self.scattered.count_of(consumer) <= UNLINKED_AT_ONCE_MAX:
            return self._left([Removed(units) for units in self.scattered.take_consumer(consumer)])
        consumer.is_gone = True
        return self._left(self.scattered.let_go(consumer))

    def _drop_runs(self, runs: Sequence[Run]) -> None:
        """As `_drop_run`, for many runs. O(runs), or O(all runs) in C if these are many of them."""
        if not runs:
            return
        self.order.discard_all(runs)
        keys_of: defaultdict[Consumer, set[bytes]] = defaultdict(set)
        for run in runs:
            for owner, live in run.owners().items():
                keys_of[owner].add(run.key)
                owner.pending_count -= live
        for consumer, keys in keys_of.items():
            consumer.runs = without(consumer.runs, keys)
        self.runs = without(self.runs, set().union(*keys_of.values()))
        self.count -= sum(run.live for run in runs)
        self._last_found = None
