"""Gives scattered entries another owner and time: whole bunches as they are, other entries as new bunches.

The entries of a large claim can be in thousands of units, and in all parts of the table of scattered entries.
So the tables and the order of delivery are changed for many entries at once. This module never looks at the
entries of runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import repeat
from operator import attrgetter, eq
from typing import Final

from tailrace.core.id_keys import id_key, id_keys
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.packing import Packing
from tailrace.core.pending.units import BUNCH_LENGTH_MAX, RUN_OR_BUNCH_LENGTH_MIN, Bunch, Single, Unit
from tailrace.core.stream_id import StreamId

_AT_ONCE: Final = 32 * BUNCH_LENGTH_MAX
"""At most this many entries become new bunches at once."""

_LARGE_LENGTH_MIN: Final = 32
"""Moving a bunch costs about as much as making this many entries part of a new one."""

_owner_of: Final = attrgetter("consumer")


class Regrouping(Packing):
    """The units of a group, with the changes of owner of scattered ones. m: entries of one call."""

    __slots__ = ()

    def _add_scattered(
        self, ids: Sequence[StreamId], consumer: Consumer | None, at_ms: int, deliveries: Sequence[int]
    ) -> None:
        """Make `ids`, none of them pending, pending as singles or as bunches."""
        for unit in dict.fromkeys(_units_for(ids, consumer, at_ms, deliveries)):
            if isinstance(unit, Bunch):
                self._add_bunch(unit)
            else:
                self._file_scattered((id_key(unit.id),), unit.id, unit)

    def _regroup(
        self,
        ids: Sequence[StreamId],
        units: Sequence[Single | Bunch | None],
        consumer: Consumer | None,
        at_ms: int,
        deliveries: Sequence[int],
    ) -> None:
        """Give `ids`, which are distinct and in no run, this owner, time and order. `units`: the unit of each
        one, None if it is not pending. O(m)."""
        start = 0
        while start < len(ids):
            start = self._move_bunches(ids, consumer, at_ms, deliveries, start)
            end = _next_large(ids, units, start)
            if start < end:
                self._replace(ids[start:end], units[start:end], consumer, at_ms, deliveries[start:end])
            start = end

    def _replace(
        self,
        ids: Sequence[StreamId],
        before: Sequence[Single | Bunch | None],
        consumer: Consumer | None,
        at_ms: int,
        deliveries: Sequence[int],
    ) -> None:
        """Move `ids` from their units to new ones. O(m)."""
        emptied: list[Unit] = []
        for value, unit in zip(ids, before, strict=True):
            if isinstance(unit, Bunch) and len(unit.members) > 1:
                unit.remove(value)
            elif unit is not None:
                emptied.append(unit)
        self._discard_all(emptied)
        after = _units_for(ids, consumer, at_ms, deliveries)
        owned_before = list(filter(None, before))
        for owner, count in Counter(map(_owner_of, owned_before)).items():
            self._count_owned(-count, owner)
        self._count_owned(len(ids), consumer)
        self.count += len(ids) - len(owned_before)
        self._highest_id = max(self._highest_id, *ids)
        self.scattered.replace(zip(id_keys(ids), before, after, strict=True))
        for each in dict.fromkeys(after):
            self._enlist(each)

    def _move_bunches(
        self,
        ids: Sequence[StreamId],
        consumer: Consumer | None,
        at_ms: int,
        deliveries: Sequence[int],
        start: int,
    ) -> int:
        """Give the whole bunches with which ``ids[start:]`` begins another owner and time, and return the
        index after the last of their entries. O(result) in C."""
        while start < len(ids):
            bunch = self.scattered.get(id_key(ids[start]))
            if not isinstance(bunch, Bunch) or self.is_gone(bunch):
                break
            end = start + len(bunch.members)
            if end > len(ids) or not all(map(eq, bunch.members, ids[start:end])):
                break
            self._move_bunch(bunch, consumer, at_ms, deliveries[start:end])
            start = end
        return start

    def _move_bunch(
        self, bunch: Bunch, consumer: Consumer | None, at_ms: int, deliveries: Sequence[int]
    ) -> None:
        (self.order_of(bunch) if bunch.consumer is None else self.order).discard(bunch)
        self._change_owner(tuple(id_keys(bunch.members)), bunch, consumer)
        bunch.delivered_at_ms = at_ms
        bunch.set_deliveries(deliveries)
        self._enlist(bunch)


def _units_for(
    ids: Sequence[StreamId], consumer: Consumer | None, at_ms: int, deliveries: Sequence[int]
) -> list[Single | Bunch]:
    """Return a new unit for each of `ids`, in this order. O(m)."""
    units: list[Single | Bunch] = []
    for start in range(0, len(ids), BUNCH_LENGTH_MAX):
        some = ids[start : start + BUNCH_LENGTH_MAX]
        counts = deliveries[start : start + BUNCH_LENGTH_MAX]
        if len(some) >= RUN_OR_BUNCH_LENGTH_MIN:
            units += [Bunch(some, consumer, at_ms, counts)] * len(some)
        else:
            units += map(Single, some, repeat(consumer), repeat(at_ms), counts)
    return units


def _next_large(ids: Sequence[StreamId], units: Sequence[Single | Bunch | None], start: int) -> int:
    """Return the index after `start` at which a large bunch may begin, at most `_AT_ONCE` further. O(result)
    in C if there are no bunches."""
    end = min(start + _AT_ONCE, len(ids))
    if Bunch not in set(map(type, units[start:end])):
        return end
    for at in range(start + 1, end):
        unit = units[at]
        if (
            isinstance(unit, Bunch)
            and len(unit.members) >= _LARGE_LENGTH_MIN
            and next(unit.live_ids()) == ids[at]
        ):
            return at
    return end
