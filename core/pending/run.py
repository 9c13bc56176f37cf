"""A run: pending entries of one delivery, as a window on a packed, immutable sequence of ids.

    ids      [i0 i1 i2 i3 i4 i5 i6 i7]      shared by all windows cut from one delivery
    window        [lo ......... hi)
    removed   .  .  .  X  .  .  .  .        acknowledged or claimed, one byte each, shared as well

All entries of a run share owner, time and delivery count. Removing an entry sets one byte. The window shrinks
when the entries at its ends are removed, so its first and last entries are always live, and there is at least
one. An entry that gets another owner, time or count moves to another unit.

This module never changes an index: the caller drops a run instead of removing its last live entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy as shallow_copy
from itertools import compress
from operator import not_
from typing import Final

from tailrace.core.id_keys import id_key, id_keys
from tailrace.core.log.id_sequence import IdSequence, are_same, count_below, ids_within, pack_ids, position_of
from tailrace.core.pending.consumer import Consumer, IdRun
from tailrace.core.pending.units import Unit
from tailrace.core.stream_id import StreamId

_SEARCHES_PER_TABLE: Final = 4
"""One binary search costs about as much as adding this many ids to a table."""


class Run(Unit):
    """Some entries of one delivery. A position is an index into `ids`; n: the length of `ids`."""

    __slots__ = ("_removed", "deliveries", "high", "ids", "key", "live", "low")

    is_uniform = True  # All entries share owner and time: not so in a strip.

    def __init__(self, ids: IdSequence, consumer: Consumer, delivered_at_ms: int, deliveries: int) -> None:
        """Make a run of all of `ids`, which rise; at least one."""
        # The ids of the whole delivery, rising. Shared and never changed.
        self.ids = ids
        # The key of the id at `low` when the window was made: the indexes' key, even if `low` moves up.
        self.key = id_key(ids[0])
        # The window is the positions from `low` up to but not including `high`.
        self.low = 0
        self.high = len(ids)
        # Entries in the window that were not removed; at least one.
        self.live = len(ids)
        self.consumer = consumer
        self.delivered_at_ms = delivered_at_ms
        # How often each of the entries was delivered.
        self.deliveries = deliveries
        # One byte per position of `ids`, 1 where the entry was removed. None until the first removal.
        self._removed: bytearray | None = None
        self.prev = None
        self.next = None

    @property
    def first_id(self) -> StreamId:
        """The lowest live id. O(1)."""
        return self.ids[self.low]

    @property
    def last_id(self) -> StreamId:
        """The highest live id. O(1)."""
        return self.ids[self.high - 1]

    # --- finding -------------------------------------------------------------------------------

    def position_of(self, value: StreamId) -> int:
        """Return the position of the live entry `value`, or -1. O(log n), O(1) for consecutive ids."""
        position = position_of(self.ids, value)
        if self.low <= position < self.high and not (self._removed and self._removed[position]):
            return position
        return -1

    def positions_of(self, ids: Sequence[StreamId]) -> list[int]:
        """Return the position of each of the rising `ids`, -1 where it is not live here. O(m log n), or
        O(n) with a table of the window if they are many."""
        low, high = self.between(ids[0], ids[-1])
        if isinstance(self.ids, range):
            first, removed = self.ids.start, self._removed
            at = [value - first for value in ids]
            if low <= at[0] and at[-1] < high and removed is None:
                return at
            return [p if low <= p < high and not (removed and removed[p]) else -1 for p in at]
        if len(ids) * _SEARCHES_PER_TABLE < high - low:
            return [self.position_of(value) for value in ids]
        some = self.ids[low:high]
        if are_same(ids, some):
            positions: Iterable[int] = range(low, high)
        else:
            table = dict(zip(id_keys(some), range(low, high), strict=True))
            positions = [table.get(key, -1) for key in id_keys(ids)]
        removed = self._removed
        if removed is None:
            return list(positions)
        return [-1 if position < 0 or removed[position] else position for position in positions]

    def between(self, first: StreamId, last: StreamId) -> tuple[int, int]:
        """Return the positions ``(low, high)`` of the ids from `first` to `last` in the window. O(log n)."""
        return max(self.low, count_below(self.ids, first)), min(self.high, count_below(self.ids, last + 1))

    def is_live(self, position: int) -> bool:
        """Whether `position` is in the window and its entry was not removed. O(1)."""
        return self.low <= position < self.high and not (self._removed and self._removed[position])

    def is_whole(self, position: int, count: int) -> bool:
        """Whether `count` positions from `position` on are in the window and all live. O(count) in C."""
        end, removed = position + count, self._removed
        return end <= self.high and (removed is None or removed.find(1, position, end) < 0)

    def count_live(self, low: int, high: int) -> int:
        """Return how many of the window's positions ``[low, high)`` are live. O(high - low) in C."""
        are_live = self._removed is None or self.live == self.high - self.low
        return high - low if are_live else self._removed_bytes().count(0, low, high)

    def first_live_from(self, start: StreamId) -> StreamId | None:
        """Return the first live id at or after `start`, or None. O(log n), O(n) in C at most."""
        low = max(self.low, count_below(self.ids, start))
        if low >= self.high:
            return None
        return self.ids[low if self._removed is None else self._removed.find(0, low)]

    # --- removing ------------------------------------------------------------------------------

    def remove(self, position: int) -> None:
        """Remove the live entry at `position`; another one must stay. O(1) amortised."""
        removed = self._removed or self._removed_bytes()
        removed[position] = 1
        self.live -= 1
        if position == self.low:
            self.low = removed.find(0, position)
        elif position == self.high - 1:
            self.high = removed.rfind(0, self.low, position) + 1

    def remove_all(self, positions: Sequence[int]) -> None:
        """Remove the live entries at `positions`; another one must stay. O(positions)."""
        removed = self._removed_bytes()
        for position in positions:
            removed[position] = 1
        self.live -= len(positions)
        self._shrink()

    def remove_span(self, position: int, length: int, live: int) -> None:
        """Remove `length` positions, `live` of them live; another live entry must stay. O(length) in C."""
        self._removed_bytes()[position : position + length] = b"\x01" * length
        self.live -= live
        self._shrink()

    def window(self) -> IdSequence:
        """The ids of the window, removed ones included. O(n) in C, O(1) for consecutive ids."""
        return self.ids[self.low : self.high]

    def flags_with(self, mask: bytes) -> bytes:
        """Return one byte for each position of the window: 0 where the entry is live and `mask` is 0, too.
        O(n) in C."""
        if self._removed is None:
            return mask
        flags = int.from_bytes(self._removed[self.low : self.high], "little") | int.from_bytes(mask, "little")
        return flags.to_bytes(self.high - self.low, "little")

    def set_flags(self, flags: bytes) -> None:
        """Replace the removals by `flags`, as of `flags_with`; an entry must stay. O(n) in C."""
        self._removed_bytes()[self.low : self.high] = flags
        self.live = flags.count(0)
        self._shrink()

    def _removed_bytes(self) -> bytearray:
        if self._removed is None:
            self._removed = bytearray(len(self.ids))
        return self._removed

    def _shrink(self) -> None:
        """Move the window's ends inward to live entries."""
        removed = self._removed_bytes()
        self.low = removed.find(0, self.low)
        self.high = removed.rfind(0, self.low, self.high) + 1

    def split(self, position: int) -> Run:
        """Split the window before `position` and return the upper part; both parts must have live entries.
        O(shorter part), and O(n) once per delivery."""
        # Both parts mark removals in one array, since their windows do not overlap.
        self._removed_bytes()
        upper: Run = shallow_copy(self)
        upper.key = id_key(self.ids[position])
        upper.low, upper.high = position, self.high
        upper.live = self._live_from(position)
        self.high = position
        self.live -= upper.live
        self._shrink()
        upper._shrink()
        return upper

    def _live_from(self, position: int) -> int:
        if self.live == self.high - self.low:
            return self.high - position
        if position - self.low < self.high - position:
            return self.live - self._removed_bytes().count(0, self.low, position)
        return self._removed_bytes().count(0, position, self.high)

    def owner_at(self, _position: int) -> Consumer:
        """Return the owner of a live entry. O(1)."""
        assert self.consumer is not None, "a run always has an owner"
        return self.consumer

    def owners(self) -> dict[Consumer, int]:
        """Return how many live entries each owner has. O(1)."""
        return {self.owner_at(self.low): self.live}

    def index_for(self, _consumer: Consumer) -> IdRun:
        """Return what the owner's index has of this run."""
        return self

    def entry_at(self, _position: int) -> Unit:
        """Return the unit that describes a live entry."""
        return self

    # --- reading -------------------------------------------------------------------------------

    def copy(self, consumer: Consumer | None) -> Run:
        """Return the same entries for `consumer` of a copied group. O(1), or as `packed_live_ids`."""
        assert consumer is not None, "a run always has an owner"
        ids = self.ids if self.live == len(self.ids) else self.packed_live_ids()
        return Run(ids, consumer, self.delivered_at_ms, self.deliveries)

    def packed_live_ids(self) -> IdSequence:
        """Return the live ids in the smallest form. O(1) for consecutive ids, O(window) otherwise."""
        return pack_ids(self.window() if self.live == self.high - self.low else list(self.live_ids()))

    def live_ids(self, start: StreamId = 0) -> Iterator[StreamId]:
        """Return the live ids at or after `start`, rising. O(log n + m)."""
        low = max(self.low, count_below(self.ids, start)) if start else self.low
        ids = ids_within(self.ids, low, self.high)
        if self.live == self.high - self.low:
            return ids
        return compress(ids, map(not_, self._removed_bytes()[low : self.high]))

    def first_ids(self, most: int) -> list[StreamId]:
        return [self.ids[self.low]] if most == 1 else super().first_ids(most)

    def is_below(self, value: StreamId) -> bool:
        return self.last_id < value

    def deliveries_of(self, _value: StreamId) -> int:
        return self.deliveries

    def counts_of(self, ids: Sequence[StreamId]) -> list[int]:
        return [self.deliveries] * len(ids)
