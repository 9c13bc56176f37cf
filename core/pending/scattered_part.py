"""One part of the table of scattered entries: those in one range of ids, by id and by owner.

This module never changes a unit. `core.pending.scattered` decides which ids a part has.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import compress
from typing import Any, Final, TypeAlias

from tailrace.core.id_keys import id_key, ids_of_keys
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.id_spans import IdSpans
from tailrace.core.pending.sorted_view import SortedView
from tailrace.core.pending.units import Bunch, Single
from tailrace.core.stream_id import StreamId

_FEW_SPANS: Final = 16
"""Comparing all ids of a part with this many spans costs about as much as sorting them."""

_SHARE: Final = 8
"""Sorting the entries of an owner costs less than looking for them among this many times as many."""

Units: TypeAlias = dict[bytes, Single | Bunch]
"""The keys of ids, and the unit of each."""

Row: TypeAlias = tuple[bytes, Single | Bunch | None, Single | Bunch]
"""The key of an id, its unit before a change, None for a new id, and its unit after the change."""


def drop_keys(table: dict[bytes, Any], keys: Iterable[bytes]) -> None:
    """Remove `keys`, which `table` has. O(keys): a loop costs less than `map` if there is one key."""
    for key in keys:
        del table[key]


def _moved(table: Units, keys: Collection[bytes]) -> Units:
    """Take `keys` out of `table`, and return them with their units. O(keys) in C."""
    return dict(zip(keys, map(table.pop, keys), strict=True))


class Part:
    """The scattered entries in one range of ids. n: their number, m: entries of one call."""

    __slots__ = ("keys", "leaving", "owned", "units")

    def __init__(self, units: Units) -> None:
        self.units = units
        # The entries of each owner, in the order in which it got them; no entry without an owner.
        self.owned: dict[Consumer, Units] = {}
        # The keys of `units` in rising order, sorted at the first use.
        self.keys = SortedView(units)
        # Entries that were removed with their owner, but are still in `units`. Entries of others are in
        # `units` as well, and every use of the part needs a `purge` first.
        self.leaving: list[Units] = []

    def purge(self) -> Part:
        """Take out of `units` what is leaving, and return the part. O(m) in C, about 5 ms for a full part."""
        for units in self.leaving:
            drop_keys(self.units, units)
            self.keys.note(units)
        self.leaving = []
        return self

    @property
    def count(self) -> int:
        """The number of entries, without those that are leaving."""
        return len(self.units) - sum(map(len, self.leaving))

    def file(self, keys: Collection[bytes], unit: Single | Bunch) -> None:
        """Add `keys` of `unit` to the entries of its owner. O(m) in C."""
        consumer = unit.consumer
        if consumer is None:
            return
        owned = self.owned.get(consumer)
        if owned is None:
            owned = self.owned[consumer] = {}
        for key in keys:
            owned[key] = unit

    def unfile(self, keys: Collection[bytes], consumer: Consumer | None) -> None:
        """The inverse of `file`. O(m) in C."""
        if consumer is not None:
            owned = self.owned[consumer]
            drop_keys(owned, keys)
            if not owned:
                del self.owned[consumer]

    def replace(self, rows: Sequence[Row]) -> int:
        """Change the units of some ids, all to those of one owner. Return how many entries the part has.
        O(m)."""
        consumer = rows[0][2].consumer
        gone: defaultdict[Consumer | None, list[bytes]] = defaultdict(list)
        new: list[bytes] = []
        for key, before, _ in rows:
            if before is None:
                new.append(key)
            else:
                gone[before.consumer].append(key)
                # The table and that of the owner share the object of the key.
                del self.units[key]
        for owner, keys in gone.items():
            self.unfile(keys, owner)
        changed = {key: unit for key, _, unit in rows}
        self.units.update(changed)
        if consumer is not None:
            self.owned.setdefault(consumer, {}).update(changed)
        self.keys.note(new)
        return len(self.units)

    def take(self, keys: Collection[bytes]) -> Part:
        """Move `keys` to a new part and return it. O(m) in C, and O(owners)."""
        taken = Part(_moved(self.units, keys))
        for consumer, owned in list(self.owned.items()):
            if some := owned.keys() & taken.units.keys():
                taken.owned[consumer] = _moved(owned, some)
                if not owned:
                    del self.owned[consumer]
        self.keys.note(taken.units)
        return taken

    def keys_in(self, spans: IdSpans, first: StreamId, last: StreamId) -> list[bytes]:
        """Return the keys of the ids that are in `spans`; all ids are from `first` to `last`. O(n) in C."""
        meeting = [(id_key(low), id_key(high)) for low, high in spans.meeting(first, last)]
        if len(meeting) <= _FEW_SPANS:
            return [key for low, high in meeting for key in self.units if low <= key <= high]
        keys = list(self.keys.from_(id_key(first)))
        return list(compress(keys, spans.fresh_mask(list(ids_of_keys(keys)))))

    def owned_from(self, consumer: Consumer, start: bytes) -> Iterable[bytes]:
        """Return the keys of the ids of `consumer` at or after that of the key `start`, rising. O(m log m) in
        C for m entries of the consumer if they are few, else O(result)."""
        owned = self.owned.get(consumer, {})
        if len(owned) * _SHARE < len(self.units):
            return sorted(filter(start.__le__, owned))
        return filter(owned.__contains__, self.keys.from_(start))


def find(parts: list[Part], starts: list[bytes], key: bytes) -> Single | Bunch | None:
    """Return the unit of `key` in the part that has it by `starts`, which rise. O(log p) for p parts."""
    return parts[bisect_right(starts, key) - 1].units.get(key)


def find_purged(parts: list[Part], starts: list[bytes], key: bytes) -> Single | Bunch | None:
    """As `find`, after a `purge` of the part."""
    return parts[bisect_right(starts, key) - 1].purge().units.get(key)


class Removed:
    """Entries that were removed from a table, but are still in their units. n: their number."""

    __slots__ = ("_part", "owned", "units")

    def __init__(
        self, units: Units, part: Part | None = None, owned: dict[Consumer, Units] | None = None
    ) -> None:
        """`part`: where the entries are leaving, None if they left. `owned`: the entries of each owner again,
        if their tables are to be freed as well."""
        self.units = units
        self.owned = owned or {}
        self._part = part

    def pop(self, most: int) -> Units:
        """Take up to `most` of the entries out, and return them. O(most)."""
        some = dict(self.units.popitem() for _ in range(min(most, len(self.units))))
        part = self._part
        if part is not None and any(each is self.units for each in part.leaving):
            drop_keys(part.units, some)
            part.keys.note(some)
        return some

    def end(self) -> None:
        """Forget the part, because all entries were taken out. O(1)."""
        if self._part is not None:
            self._part.leaving = [each for each in self._part.leaving if each is not self.units]
