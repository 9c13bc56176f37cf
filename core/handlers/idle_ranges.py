"""XPENDING with IDLE: the pending entries of a range of ids that are idle long enough, in id order.

Few entries of a healthy group are idle. They are the first ones in the order of delivery, so the search
begins there, and its cost grows with the idle units alone. Only if these are many, the search goes through
the ids. `PENDING_LOOKS_MAX` bounds both. This module owns that search; it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from itertools import compress, dropwhile, islice, repeat, takewhile
from operator import attrgetter, itemgetter
from typing import Final, TypeAlias

from tailrace.core.commands import PendingRange
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.group import Group
from tailrace.core.idle import idle_since
from tailrace.core.limits import PENDING_LOOKS_MAX
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.run import Run
from tailrace.core.pending.units import Bunch, Single, Unit
from tailrace.core.stream_id import StreamId

IdleEntry: TypeAlias = tuple[StreamId, Unit]
"""A pending entry, and the unit that contains it."""

_LOOKUP_CHUNK: Final = 1_000
"""How many pending entries the search through the ids looks up at once."""

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
        """Return the first `count` of them in id order. O(idle units + count); if more than
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
        for unit in self._pending.order:
            if not self._is_idle(unit):
                break
            looks += len(unit.members) if isinstance(unit, Bunch) else 1
            if looks > PENDING_LOOKS_MAX:
                return None
            if self._consumer is None or unit.consumer is self._consumer:
                units.append(unit)
        return units

    def _of_units(self, units: list[Unit]) -> Iterator[IdleEntry]:
        """The entries of `units` from the start of the range on. Only those that are used are read from
        runs."""
        start = self._command.start
        runs = sorted((unit for unit in units if isinstance(unit, Run)), key=attrgetter("key"))
        in_runs = ((value, run) for run in runs for value in run.live_ids(start))
        unit_of = {value: unit for unit in units if not isinstance(unit, Run) for value in unit.live_ids()}
        if not unit_of:
            return in_runs
        scattered = dropwhile(lambda entry: entry[0] < start, sorted(unit_of.items(), key=_id_of))
        return merge(in_runs, scattered, key=_id_of) if runs else scattered

    # --- in the order of ids -------------------------------------------------------------------

    def _by_id(self) -> Iterator[IdleEntry]:
        start, end = self._command.start, self._command.end
        ids = self._pending.ids(start) if self._consumer is None else self._consumer.pending_ids(start)
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

    def _are_idle(self, units: list[Single | Bunch]) -> list[bool]:
        """As `_is_idle`, for each of `units`."""
        latest_ms = self._now_ms - self._command.min_idle_ms
        return [
            not unit.delivered_at_ms if unit.consumer is None else unit.delivered_at_ms <= latest_ms
            for unit in units
        ]

    def _idle_among(self, ids: list[StreamId]) -> Iterator[Iterator[IdleEntry]]:
        """The idle ones of `ids`, which are all pending ids between the first and the last of them."""
        for run, some in self._pending.by_run(ids, self._consumer):
            if run is None:
                units = list(map(self._pending.scattered.__getitem__, some))
                yield compress(zip(some, units, strict=True), self._are_idle(units))
            elif self._is_idle(run):
                yield zip(some, repeat(run))
