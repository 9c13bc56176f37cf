"""The scattered entries of a group: each pending id outside of runs, and the single or bunch that has it.

    part 0 [ids below 700]    part 1 [700 .. 1999]    part 2 [ids from 2000 on]
      by id, by owner           by id, by owner         by id, by owner

The table is divided by id into parts of limited size. Reading in the order of ids sorts only the parts that
it reaches. Removing a span of ids takes most parts out whole, and removing a consumer takes its table out of
each part, so both cost little for each entry. A group with few scattered entries has one part. This module
never changes a unit, and never counts what an owner has.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Final

from tailrace.core.id_keys import id_key, id_keys, ids_of_keys
from tailrace.core.pending.consumer import Consumer, start_key
from tailrace.core.pending.id_spans import IdSpans
from tailrace.core.pending.scattered_part import Part, Removed, Row, Units, drop_keys, find, find_purged
from tailrace.core.pending.units import Bunch, Single
from tailrace.core.stream_id import StreamId

PART_LENGTH_MAX: Final = 32_768
"""A part with more entries is divided, which takes about 20 ms: most of it sorts the ids."""


class ScatteredTable:
    """The scattered entries of a group by id, in parts. n: their number, m: entries of one call, p: parts."""

    __slots__ = ("_is_purged", "_starts", "get", "parts")

    def __init__(self) -> None:
        # Each has the ids from its start up to the start of the next one. Only the first one may be empty.
        self.parts: list[Part] = [Part({})]
        # The start of each part; the first one is empty, which is below all keys.
        self._starts: list[bytes] = [b""]
        # Whether no part has entries that are leaving.
        self._is_purged = True
        # Returns the unit that contains the id of a key, or None. O(log p), O(1) in C for one part.
        self.get: Callable[[bytes], Single | Bunch | None]
        self._note_parts()

    def _note_parts(self) -> None:
        """Choose the fastest way to find a unit. It has no reference to the table, which would be a cycle."""
        if not self._is_purged:
            self.get = partial(find_purged, self.parts, self._starts)
        elif len(self.parts) > 1:
            self.get = partial(find, self.parts, self._starts)
        else:
            self.get = self.parts[0].units.get

    def end_leaving(self) -> None:
        """Note that no part has entries that are leaving any more. O(1)."""
        self._is_purged = True
        self._note_parts()

    def __len__(self) -> int:
        return sum(part.count for part in self.parts)

    def __bool__(self) -> bool:
        return bool(self.parts[0].units)

    # --- finding -------------------------------------------------------------------------------

    def _index(self, key: bytes) -> int:
        return bisect_right(self._starts, key) - 1 if len(self.parts) > 1 else 0

    def part_of(self, key: bytes) -> Part:
        """Return the part for the id of `key`. It may have entries that are leaving. O(log p)."""
        return self.parts[self._index(key)]

    def _purged(self, index: int) -> Part:
        return self.parts[index] if self._is_purged else self.parts[index].purge()

    def __contains__(self, value: StreamId) -> bool:
        return self.get(id_key(value)) is not None

    def get_all(self, ids: Iterable[StreamId]) -> list[Single | Bunch | None]:
        """As `get`, for each of `ids`. O(m log p), O(m) in C for one part."""
        return list(map(self.get, id_keys(ids)))

    def has_none(self, ids: Sequence[StreamId]) -> bool:
        """Whether none of `ids`, which rise, is in the table. O(m) in C for each part between their ends."""
        keys = list(id_keys(ids))
        indexes = range(self._index(keys[0]), self._index(keys[-1]) + 1)
        return all(self._purged(index).units.keys().isdisjoint(keys) for index in indexes)

    def from_(self, start: StreamId) -> Iterator[StreamId]:
        """Return the ids at or after `start`, rising. The table must not change during the iteration."""
        key = start_key(start)
        parts = self.parts[self._index(key) :]
        return ids_of_keys(chain.from_iterable(part.purge().keys.from_(key) for part in parts))

    def owned_from(self, consumer: Consumer, start: StreamId) -> Iterator[StreamId]:
        """As `from_`, for the entries of `consumer`."""
        key = start_key(start)
        parts = self.parts[self._index(key) :]
        return ids_of_keys(chain.from_iterable(part.purge().owned_from(consumer, key) for part in parts))

    @property
    def first_id(self) -> StreamId:
        """The lowest id; the table must not be empty. O(entries of a part) in C."""
        part = self._purged(0)
        return int.from_bytes(next(part.keys.from_(b"")) if part.keys.is_sorted else min(part.units))

    @property
    def last_id(self) -> StreamId:
        """The highest id; the table must not be empty. O(entries of a part) in C."""
        part = self._purged(-1)
        return int.from_bytes((part.keys.last() if part.keys.is_sorted else None) or max(part.units))

    def count_between(self, first: StreamId, last: StreamId) -> int:
        """Return how many ids are from `first` to `last`. O(p)."""
        least, most = start_key(first), start_key(last)
        low, high = self._index(least), self._index(most)
        inner = sum(part.count for part in self.parts[low + 1 : high])
        return inner + sum(self._purged(at).keys.count_between(least, most) for at in {low, high})

    # --- changing ------------------------------------------------------------------------------

    def _by_part(self, keys: Collection[bytes]) -> Iterable[tuple[int, Collection[bytes]]]:
        """Divide `keys` by part, the last part first. O(m log p)."""
        if len(self.parts) == 1:
            return ((0, keys),)
        by_index: defaultdict[int, list[bytes]] = defaultdict(list)
        for key in keys:
            by_index[bisect_right(self._starts, key) - 1].append(key)
        return sorted(by_index.items(), reverse=True)

    def add(self, keys: Collection[bytes], unit: Single | Bunch) -> None:
        """Add the ids of `keys`, which the table does not have, as entries of `unit`. O(m log p)."""
        for index, some in self._by_part(keys):
            part = self._purged(index)
            for key in some:
                part.units[key] = unit
            part.file(some, unit)
            part.keys.note(some)
            if len(part.units) > PART_LENGTH_MAX:
                self._divide(index)

    def _divide(self, index: int) -> None:
        """Divide a part in the middle. O(n log n)."""
        part = self.parts[index]
        keys = list(part.keys.from_(b""))
        upper = keys[len(keys) // 2 :]
        self.parts.insert(index + 1, part.take(upper))
        self._starts.insert(index + 1, upper[0])
        self._note_parts()

    def remove(self, keys: Collection[bytes], consumer: Consumer | None) -> None:
        """Remove the ids of `keys`, which are in units of `consumer`. O(m log p)."""
        for index, some in self._by_part(keys):
            part = self._purged(index)
            drop_keys(part.units, some)
            part.unfile(some, consumer)
            part.keys.note(some)
            if not part.units:
                self._drop_if_empty(index)

    def _drop_if_empty(self, index: int) -> None:
        if len(self.parts) > 1 and not self.parts[index].units:
            del self.parts[index], self._starts[index]
            self._starts[0] = b""
            self._note_parts()

    def change_owner(self, keys: Collection[bytes], unit: Single | Bunch, consumer: Consumer | None) -> None:
        """File `keys` of `unit` under its new owner; `consumer` was the one before. O(m log p)."""
        for index, some in self._by_part(keys):
            self.parts[index].unfile(some, consumer)
            self.parts[index].file(some, unit)

    def replace(self, changes: Iterable[Row]) -> None:
        """Give some ids other units, all of one owner. O(m log p)."""
        by_index: defaultdict[int, list[Row]] = defaultdict(list)
        for row in changes:
            by_index[bisect_right(self._starts, row[0]) - 1].append(row)
        for index, rows in sorted(by_index.items(), reverse=True):
            if self._purged(index).replace(rows) > PART_LENGTH_MAX:
                self._divide(index)

    # --- removing many -------------------------------------------------------------------------

    def take_spans(self, spans: IdSpans) -> list[Part]:
        """Remove all entries whose ids are in `spans`, and return them. O(1) for a part in one span, O(n) in
        C for another one that meets a span."""
        starts = list(ids_of_keys(self._starts[1:]))
        firsts = [self.first_id, *starts]
        lasts = [*(start - 1 for start in starts), self.last_id]
        taken: list[Part] = []
        for index in reversed(range(len(self.parts))):
            part, first, last = self._purged(index), firsts[index], lasts[index]
            if spans.contains_all(first, last):
                taken.append(part)
                self.parts[index] = Part({})
            elif gone := part.keys_in(spans, first, last):
                taken.append(self._cut(index, gone))
            self._drop_if_empty(index)
        self._note_parts()
        return taken

    def _cut(self, index: int, gone: Sequence[bytes]) -> Part:
        """Take the keys `gone` out of a part. O(n) in C, O(the fewer of those that go and that stay)."""
        part = self.parts[index]
        if len(gone) * 2 < len(part.units):
            return part.take(gone)
        self.parts[index] = part.take(part.units.keys() - gone)
        return part

    def count_of(self, consumer: Consumer) -> int:
        """Return how many entries `consumer` has. O(p)."""
        return sum(len(part.owned.get(consumer, ())) for part in self.parts)

    def take_consumer(self, consumer: Consumer) -> list[Units]:
        """Remove all entries of `consumer`, and return them. O(p), and O(m) in C."""
        taken = [part.owned[consumer].copy() for part in self.parts if consumer in part.owned]
        for units in taken:
            self.remove(units, consumer)
        return taken

    def let_go(self, consumer: Consumer) -> list[Removed]:
        """Remove all entries of `consumer`, and let them leave their parts later. Return them. O(p)."""
        taken: list[Removed] = []
        for index in reversed(range(len(self.parts))):
            part = self.parts[index]
            owned = part.owned.pop(consumer, None)
            if owned is None:
                continue
            if part.count == len(owned):
                self.parts[index] = Part({})
                self._drop_if_empty(index)
                taken.append(Removed(owned))
            else:
                part.leaving.append(owned)
                taken.append(Removed(owned, part))
        self._is_purged = False
        self._note_parts()
        return taken

    def transfer(self, consumer: Consumer, new_consumer: Consumer) -> Iterator[Units]:
        """File the entries of `consumer` under `new_consumer`. Return them. O(p), O(m) in C."""
        for part in self.parts:
            owned = part.owned.pop(consumer, None)
            if owned is not None:
                part.owned.setdefault(new_consumer, {}).update(owned)
                yield owned
