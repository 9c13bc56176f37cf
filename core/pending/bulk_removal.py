"""Removing many entries of a pending entries list: those in spans of ids, or those of one consumer.

If a large share of the entries goes, the tables are made again without them, which costs less than removing
each entry. A caller that removes all entries replaces the list instead (`core.group`). This module never
decides which entries go.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import compress, islice
from typing import Final, cast

from sortedcontainers import SortedDict

from tailrace.core.pending.consumer import Consumer, IdRunT
from tailrace.core.pending.id_spans import IdSpans
from tailrace.core.pending.run import Run
from tailrace.core.pending.sorted_view import SortedView
from tailrace.core.pending.strip import Strip
from tailrace.core.pending.unit_table import UnitTable, drop_keys
from tailrace.core.pending.units import Bunch, Single, Unit
from tailrace.core.stream_id import StreamId

_IDS_PER_SPAN: Final = 64
"""Looking a span up in a run costs about as much as this many ids of a mask."""

_SHARE: Final = 4
"""Removing more than one in this many keys of a sorted table costs more than making it again."""

_SAMPLE: Final = 64
"""How many entries show which kind of units a table has."""

_MOST: Final = 2
"""The same for a table that is not sorted."""


def without(runs: SortedDict[StreamId, IdRunT], keys: Collection[StreamId]) -> SortedDict[StreamId, IdRunT]:
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


class BulkRemoval(UnitTable):
    """n: pending entries, m: entries that are removed."""

    __slots__ = ()

    def is_within(self, spans: IdSpans) -> bool:
        """Whether one of `spans` surely contains the ids of all entries, at least one. O(log n), and O(n) in
        C if that is likely."""
        if not self.count:
            return False
        first_ids = [self.runs.peekitem(0)[1].first_id] if self.runs else []
        # The entry that became pending first is likely to have the lowest id.
        first_ids += islice(self.scattered, 1)
        if not spans.contains_all(min(first_ids), self._highest_id):
            return False
        return not self.scattered or spans.contains_all(min(self.scattered), self._highest_id)

    def remove_spans(self, spans: IdSpans) -> None:
        """Remove all entries whose ids are in `spans`. O(log n) for each run and O(1) for each scattered
        entry between the ends of the spans, and `IdSpans.mask` for a run that meets many spans."""
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
        if self.scattered:
            self._remove_scattered_in(spans)

    def _remove_scattered_in(self, spans: IdSpans) -> None:
        """As `remove_spans`, for the scattered entries, at least one."""
        first, last = spans.bounds
        if spans.contains_all(first, last) and (many := self._large_share(first, last)) is not None:
            if self._has_many_bunches():
                self._keep_scattered_outside(first, last)
            else:
                self._remove_scattered(many)
            return
        ids = list(self.scattered_ids.between(first, last))
        if ids:
            self._remove_scattered(compress(ids, spans.fresh_mask(ids)))

    def _has_many_bunches(self) -> bool:
        """Whether most of the scattered entries seem to be in bunches: their ids are in no order, so that
        going through all costs less than sorting and looking up many. Singles mostly are in order. O(1)."""
        some = list(islice(self.scattered.values(), _SAMPLE))
        return sum(isinstance(unit, Bunch) for unit in some) * 2 > len(some)

    def _large_share(self, first: StreamId, last: StreamId) -> list[StreamId] | None:
        """Return the scattered ids from `first` to `last`, in the order in which they became pending, if they
        are many of all; otherwise None.

        O(log n) if they are few and the ids are sorted, else O(n), which costs less than sorting the ids, and
        than visiting many entries in an order that is not that of memory.
        """
        least = len(self.scattered) // _SHARE
        if self.scattered_ids.is_sorted and self.scattered_ids.count_between(first, last) <= least:
            return None
        some = [value for value in self.scattered if first <= value <= last]
        return some if len(some) > least else None

    def _keep_scattered_outside(self, first: StreamId, last: StreamId) -> None:
        """Remove all scattered entries from `first` to `last`, by making all tables again without them.
        O(n)."""
        before = len(self.scattered)
        self.scattered = {value: unit for value, unit in self.scattered.items() if not first <= value <= last}
        self.scattered_ids = SortedView(self.scattered)
        emptied, owners = self._shrunk_units(first, last)
        self._discard_all(emptied)
        gone = before - len(self.scattered)
        self.count -= gone
        owners.discard(None)
        for consumer in cast("set[Consumer]", owners):
            gone -= consumer.keep_outside(first, last)
        self.nacked_count -= gone

    def _shrunk_units(self, first: StreamId, last: StreamId) -> tuple[list[Unit], set[Consumer | None]]:
        """Remove the entries from `first` to `last` from all bunches. Return the singles and bunches that are
        not needed any more, and the owners of all units that lost entries."""
        emptied: list[Unit] = []
        owners: set[Consumer | None] = set()
        for unit in self.units():
            if isinstance(unit, Single):
                if first <= unit.id <= last:
                    emptied.append(unit)
                    owners.add(unit.consumer)
            elif isinstance(unit, Bunch):
                members = unit.members
                kept = {value: count for value, count in members.items() if not first <= value <= last}
                if len(kept) < len(members):
                    owners.add(unit.consumer)
                    if kept:
                        unit.keep(kept)
                    else:
                        emptied.append(unit)
        return emptied, owners

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

    def drop_consumer(self, consumer: Consumer) -> None:
        """Remove all entries of `consumer`, which is used no more and keeps its own index. O(its units), and
        O(m) in C; O(n) in C if it has most of the scattered entries."""
        ids = consumer.scattered
        runs = [run for run in map(self.runs.__getitem__, consumer.runs) if not _is_left(run, consumer)]
        self.order.discard_all(runs)
        self.order.discard_all(dict.fromkeys(cast("Iterable[Unit]", ids.values())))
        for run in runs:
            # A strip without entries is still in the indexes of its other owners.
            for owner in run.owners().keys() - {consumer}:
                del owner.runs[run.key]
        self.runs = without(self.runs, {run.key for run in runs})
        if len(ids) * _MOST > len(self.scattered):
            kept = {value: unit for value, unit in self.scattered.items() if unit.consumer is not consumer}
            self.scattered, self.scattered_ids = kept, SortedView(kept)
        else:
            drop_keys(self.scattered, ids)
            self.scattered_ids.note(ids)
        self.count -= consumer.pending_count
        self._last_found = None

    def _drop_runs(self, runs: Sequence[Run]) -> None:
        """As `_drop_run`, for many runs. O(runs), or O(all runs) in C if these are many of them."""
        if not runs:
            return
        self.order.discard_all(runs)
        keys_of: defaultdict[Consumer, set[StreamId]] = defaultdict(set)
        for run in runs:
            for owner, live in run.owners().items():
                keys_of[owner].add(run.key)
                owner.pending_count -= live
        for consumer, keys in keys_of.items():
            consumer.runs = without(consumer.runs, keys)
        self.runs = without(self.runs, set().union(*keys_of.values()))
        self.count -= sum(run.live for run in runs)
        self._last_found = None
