"""XPENDING with IDLE: the pending entries of a range of ids that are idle long enough, in id order.

Few entries of a healthy group are idle. They are the first ones in the order of delivery, so the search
begins there, and its cost grows with the idle units alone. Only if these are many, the search goes through
the ids. `PENDING_LOOKS_MAX` bounds both. This module owns that search; it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import chain, compress, dropwhile, islice, repeat, takewhile
from operator import attrgetter, itemgetter
from typing import Final, TypeAlias

from tailrace.core.commands import PendingRange
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.group import Group
from tailrace.core.idle import idle_since
from tailrace.core.limits import PENDING_LOOKS_MAX
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.run import Run
from tailrace.core.pending.strip import Strip
from tailrace.core.pending.units import Bunch, Unit
from tailrace.core.stream_id import StreamId

IdleEntry: TypeAlias = tuple[StreamId, Unit]
"""A pending entry, and the unit that contains it."""

_LOOKUP_CHUNK: Final = 1_000
"""How many pending entries the search through the ids looks up at once."""

_WALK_SHARE: Final = 4
"""Examining an entry in the order of delivery costs as much as this many in the order of ids: what was found
is sorted, and most of it may not be asked for."""

_id_of: Final = itemgetter(0)


class IdleRange:
    """The entries of `group`, or of one consumer, that `command` asks for.

    An entry without an owner is idle at any threshold, unless it is delayed.
    """

    def __init__(self, group: Group, consumer: Consumer | None, command: PendingRange, now_ms: int) -> None:
        self._pending = group.pending
        self._consumer = consumer
        self._command = command
        self._now_ms = now_ms

    def entries(self) -> Iterator[IdleEntry]:
        """Return the first `count` of them in id order. O(idle units + count); if more than a quarter of
        `PENDING_LOOKS_MAX` units are idle, O(entries before the last of them).

        Raises LIMIT_EXCEEDED if more than `PENDING_LOOKS_MAX` entries were examined without success as well.
        """
        units = self._idle_units()
        found = self._by_id() if units is None else self._of_units(units)
        end = self._command.end
        return islice(takewhile(lambda entry: entry[0] <= end, found), self._command.count)

    def _is_idle(self, unit: Unit) -> bool:
        if unit.consumer is None:
            return not unit.is_held
        return idle_since(unit.delivered_at_ms, self._now_ms) >= self._command.min_idle_ms

    # --- in the order of delivery --------------------------------------------------------------

    def _idle_units(self) -> list[Unit] | None:
        """The idle units in the order of delivery, None if they are too many."""
        units: list[Unit] = []
        looks = 0
        for unit in self._pending.order.units():
            first = next(unit.entries()) if isinstance(unit, Strip) else unit
            if not self._is_idle(first):
                break
            looks += _looks_at(unit)
            if looks > PENDING_LOOKS_MAX // _WALK_SHARE:
                return None
            if isinstance(unit, Strip) or self._consumer in (None, unit.consumer):
                units.append(unit)
        return units

    def _of_units(self, units: list[Unit]) -> Iterator[IdleEntry]:
        """The entries of `units` from the start of the range on. Only those that are used are read from
        runs."""
        start = self._command.start
        runs = sorted((unit for unit in units if isinstance(unit, Run)), key=attrgetter("key"))
        in_runs = chain.from_iterable(self._of_run(run, start) for run in runs)
        entries = [(value, unit) for unit in units if not isinstance(unit, Run) for value in unit.live_ids()]
        if not entries:
            return in_runs
        scattered = dropwhile(lambda entry: entry[0] < start, sorted(entries, key=_id_of))
        return merge(in_runs, scattered, key=_id_of) if runs else scattered

    def _of_run(self, run: Run, start: StreamId) -> Iterable[IdleEntry]:
        """The entries of `run`, or those of a strip that match, from `start` on."""
        if not isinstance(run, Strip):
            return zip(run.live_ids(start), repeat(run), strict=False)
        of_all = self._consumer is None
        return (
            (entry.id, entry)
            for entry in run.entries(start)
            if self._is_idle(entry) and (of_all or entry.consumer is self._consumer)
        )

    # --- in the order of ids -------------------------------------------------------------------

    def _by_id(self) -> Iterator[IdleEntry]:
        start, end = self._command.start, self._command.end
        pending, consumer = self._pending, self._consumer
        ids = pending.ids(start) if consumer is None else pending.ids_of(consumer, start)
        in_vain = 0
        while (some := list(islice(ids, _LOOKUP_CHUNK))) and some[0] <= end:
            found = [entry for entries in self._idle_among(some) for entry in entries]
            in_vain += len(some) - len(found)
            if in_vain > PENDING_LOOKS_MAX:
                raise StreamError(
                    ErrorCode.LIMIT_EXCEEDED,
                    f"ERR too many pending entries to examine: more than {PENDING_LOOKS_MAX} are not idle "
                    f"for {self._command.min_idle_ms} ms; name a narrower range of ids",
                )
            yield from found

    def _are_idle(self, units: list[Unit]) -> list[bool]:
        """As `_is_idle`, for each of `units`."""
        latest_ms = self._now_ms - self._command.min_idle_ms
        return [
            not unit.delivered_at_ms if unit.consumer is None else unit.delivered_at_ms <= latest_ms
            for unit in units
        ]

    def _idle_among(self, ids: list[StreamId]) -> Iterator[Iterator[IdleEntry]]:
        """The idle ones of `ids`, which are all pending ids between the first and the last of them."""
        for run, some in self._pending.by_run(ids, self._consumer):
            if run is None or not run.is_uniform:
                units = self._pending.units_at(some)
                yield compress(zip(some, units, strict=True), self._are_idle(units))
            elif self._is_idle(run):
                yield zip(some, repeat(run))


def _looks_at(unit: Unit) -> int:
    """How many entries of `unit` are examined one by one."""
    if isinstance(unit, Strip):
        return unit.live
    return len(unit.members) if isinstance(unit, Bunch) else 1
