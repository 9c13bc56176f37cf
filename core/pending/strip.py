"""A strip: entries that were delivered or claimed one or a few at a time, packed, with an owner and a time
for each.

    ids      [i0 i1 i2 i3 i4 i5]      a window with removals, as in a run
    numbers  [ 0  1  0  0  2  1]      each entry's owner, as an index into `owners`
    times    [t0 t1 t1 t2 t2 t5]      never fall, because the order of delivery is the order of ids
    counts   [ 1  1  1  2  1  1]      how often each entry was delivered

A single takes several hundred bytes and a step for each change; an entry of a strip takes about 30 bytes, and
most changes are made for many at once. A claim moves an entry out. The order of delivery has the strip as one
unit, filed under the time of its last entry, and shows its entries one by one. A unit with a time between
those of the entries divides the strip (`core.pending.unit_table`).

This module never changes an index.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from copy import copy as shallow_copy
from itertools import compress
from operator import not_
from typing import Final, cast

from tailrace.core.log.id_sequence import IdSequence, pack_ids
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.run import Run
from tailrace.core.pending.units import Single
from tailrace.core.stream_id import StreamId

OWNERS_MAX: Final = 255
"""The number of an owner takes one byte."""

DELIVERIES_MAX: Final = 255
"""The delivery count of an entry takes one byte."""

_SEVERAL: Final = Consumer(b"", 0)
_SEVERAL_COUNTS: Final = -1
"""Take the places of the owner and of the delivery count, which each entry has for itself."""


class Strip(Run):
    """Some entries of several deliveries. A position is an index into `ids`; n: the length of `ids`."""

    __slots__ = ("_counts", "_numbers", "_owners", "_times")

    is_uniform = False

    def __init__(
        self,
        ids: IdSequence,
        owners: Sequence[Consumer | None],
        numbers: bytes,
        times: array[int],
        counts: bytes,
    ) -> None:
        """Make a strip of all of `ids`. `numbers`: each entry's index into `owners`, at most `OWNERS_MAX`."""
        super().__init__(ids, _SEVERAL, times[-1], _SEVERAL_COUNTS)
        # The owners, each for itself or twice after a transfer; None where all entries of one were removed.
        self._owners = list(owners)
        # By position. Shared by the parts of a divided strip, and never changed.
        self._numbers = numbers
        self._times = times
        self._counts = counts

    @classmethod
    def of(cls, singles: Sequence[Single]) -> Strip | None:
        """Return the entries of `singles`, which all have an owner and whose ids rise, as a strip; None if
        they have too many owners. Each was delivered `DELIVERIES_MAX` times at most. O(n)."""
        numbers: dict[Consumer | None, int] = {}
        owner_numbers = [numbers.setdefault(single.consumer, len(numbers)) for single in singles]
        if len(numbers) > OWNERS_MAX:
            return None
        times = array("Q", [single.delivered_at_ms for single in singles])
        ids = pack_ids([single.id for single in singles])
        counts = bytes([single.deliveries for single in singles])
        return cls(ids, list(numbers), bytes(owner_numbers), times, counts)

    # --- owners and times ----------------------------------------------------------------------

    def owners(self) -> dict[Consumer, int]:
        """Return how many live entries each owner has, 0 included. O(n) in C for each owner."""
        numbers = self._numbers[self.low : self.high]
        if self.live < len(numbers):
            numbers = bytes(compress(numbers, map(not_, self._removed_bytes()[self.low : self.high])))
        counts: dict[Consumer, int] = {}
        for number, owner in enumerate(self._owners):
            if owner is not None:
                counts[owner] = counts.get(owner, 0) + numbers.count(number)
        return counts

    def owner_at(self, position: int) -> Consumer:
        """Return the owner of the live entry at `position`. O(1)."""
        owner = self._owners[self._numbers[position]]
        assert owner is not None, "a live entry has an owner"
        return owner

    @property
    def first_at_ms(self) -> int:
        """The time of the first live entry. O(1)."""
        return self._times[self.low]

    @property
    def last_at_ms(self) -> int:
        """The time of the last live entry; the order may have the strip under a later one. O(1)."""
        return self._times[self.high - 1]

    def end_of(self, time: int) -> int:
        """Return the position after the last entry at or before `time`, at most `high`. O(log n)."""
        return bisect_right(self._times, time, self.low, self.high)

    def columns(self, ids: Sequence[StreamId]) -> tuple[list[Consumer], list[int], list[int]]:
        """Return the owners, the times and the delivery counts of `ids`, which rise and are all live here.
        O(m), O(m log n) if they are few."""
        positions = self.positions_of(ids)
        owners = list(map(self._owners.__getitem__, map(self._numbers.__getitem__, positions)))
        times = list(map(self._times.__getitem__, positions))
        return cast("list[Consumer]", owners), times, list(map(self._counts.__getitem__, positions))

    def deliveries_of(self, value: StreamId) -> int:
        """Return how often the live entry `value` was delivered. O(log n)."""
        return self._counts[self.position_of(value)]

    def counts_of(self, ids: Sequence[StreamId]) -> list[int]:
        return self.columns(ids)[2]

    def index_for(self, consumer: Consumer) -> Share:
        """Return what the index of `consumer` has of this strip."""
        return Share(self, consumer)

    def replace_owner(self, consumer: Consumer, new_consumer: Consumer) -> None:
        """Make `new_consumer` the owner of all entries of `consumer`. O(owners)."""
        self._owners = [new_consumer if owner is consumer else owner for owner in self._owners]

    def remove_owner(self, consumer: Consumer) -> bool:
        """Remove all entries of `consumer`, which is used no more; return whether an entry is left. If none
        is, the caller drops the strip, which stays as it was. O(n) in C."""
        flags = self.flags_with(self._mask_of(consumer)[self.low : self.high])
        if 0 not in flags:
            return False
        self.set_flags(flags)
        self._owners = [None if owner is consumer else owner for owner in self._owners]
        return True

    def _mask_of(self, consumer: Consumer) -> bytes:
        """Return a byte for each position, 1 if `consumer` got the entry."""
        table = bytearray(256)
        for number, owner in enumerate(self._owners):
            table[number] = owner is consumer
        return self._numbers.translate(table)

    def forget_owners(self) -> None:
        """Cut the references to the owners, so that the memory of both is released."""
        self._owners = []

    # --- entries -------------------------------------------------------------------------------

    def entry_at(self, position: int) -> StripEntry:
        """Return the live entry at `position`. O(1)."""
        owner, at_ms = self.owner_at(position), self._times[position]
        return StripEntry(self.ids[position], owner, at_ms, self._counts[position])

    def entries(self, start: StreamId = 0) -> Iterator[StripEntry]:
        """Return the live entries at or after `start`, in order of delivery. The caller may remove the entry
        yielded last. O(log n + m)."""
        low, high = self.between(start, self.last_id)
        removed, owners = self._removed_bytes(), self._owners
        columns = (each[low:high] for each in (self.ids, self._numbers, self._times, self._counts))
        for at, value, number, at_ms, count in zip(range(low, high), *columns, strict=True):
            if not removed[at]:
                yield StripEntry(value, owners[number], at_ms, count)

    def live_ids_of(self, consumer: Consumer, start: StreamId) -> Iterator[StreamId]:
        """Return the live ids of `consumer` at or after `start`, rising. O(n) in C."""
        low, _ = self.between(start, self.last_id)
        flags = self.flags_with(self._mask_of(consumer).translate(_INVERTED)[self.low : self.high])
        return compress(self.ids[low : self.high], map(not_, flags[low - self.low :]))

    def copy_among(self, twins: Mapping[bytes, Consumer]) -> Strip:
        """Return the same entries in a copied group, whose consumers are `twins`. O(n) in C."""
        twin: Strip = shallow_copy(self)
        twin._removed = None if self._removed is None else self._removed.copy()
        twin._owners = [None if owner is None else twins[owner.name] for owner in self._owners]
        twin.prev = twin.next = None
        return twin


_INVERTED: Final = bytes([1, 0]) + bytes(254)


class Share:
    """The entries that one consumer owns of a strip: what the consumer's index has of it."""

    __slots__ = ("_consumer", "_strip")

    def __init__(self, strip: Strip, consumer: Consumer) -> None:
        self._strip = strip
        self._consumer = consumer

    def live_ids(self, start: StreamId = 0) -> Iterator[StreamId]:
        """Return the live ids at or after `start`, rising."""
        return self._strip.live_ids_of(self._consumer, start)


class StripEntry(Single):
    """One entry of a strip, as a unit to look at. It is made for each look, and changing it has no effect."""

    __slots__ = ()
