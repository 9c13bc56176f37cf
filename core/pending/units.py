"""What a pending entries list is made of: single entries, runs of entries delivered together, and
bunches of entries claimed together from here and there.

A run is a window on a packed, immutable sequence of ids that share owner, time and delivery count::

    ids      [i0 i1 i2 i3 i4 i5 i6 i7]      shared by all windows cut from one delivery
    window        [lo ......... hi)
    gone      .  .  .  X  .  .  .  .        acknowledged or claimed out of it, one byte each

Taking an entry out of a run sets one byte. Nothing else about a run ever changes but its ends, which
move in over entries that are gone; what needs another owner, time or count becomes another unit.

A bunch is a table of ids in order of delivery, each with its own count. Its ids need not rise, and may
lie anywhere, between those of runs and of other bunches. Claiming a whole bunch again moves it as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Final, TypeAlias

from tailrace.core.log.id_sequence import IdSequence, are_same, count_below, pack_ids, position_of
from tailrace.core.stream_id import StreamId

if TYPE_CHECKING:
    from tailrace.core.pending.consumer import Consumer


class Single:
    """One pending entry.

    `consumer`: its owner, None after XNACK. `delivered_at_ms`: Unix time of the last delivery, 0 for
    an unowned one. `deliveries`: how often it was delivered so far. `prev`, `next`: its neighbours in
    the order of delivery, owned by `DeliveryOrder`.
    """

    __slots__ = ("consumer", "delivered_at_ms", "deliveries", "id", "next", "prev")

    def __init__(
        self, value: StreamId, consumer: Consumer | None, delivered_at_ms: int, deliveries: int
    ) -> None:
        self.id = value
        self.consumer = consumer
        self.delivered_at_ms = delivered_at_ms
        self.deliveries = deliveries
        self.prev: Unit | None = None
        self.next: Unit | None = None

    def copy(self, consumer: Consumer | None) -> Single:
        """The same entry, owned by `consumer` of a copied group."""
        return Single(self.id, consumer, self.delivered_at_ms, self.deliveries)

    def deliveries_of(self, _value: StreamId) -> int:
        """How often its entry was delivered."""
        return self.deliveries

    def counts_of(self, ids: Sequence[StreamId]) -> list[int]:
        """How often each of `ids`, which are its one entry's, was delivered."""
        return [self.deliveries] * len(ids)

    def live_ids(self) -> Iterator[StreamId]:
        """Its one id."""
        return iter((self.id,))


BUNCH_LENGTH_MAX: Final = 1024
"""Taking entries out of a table from the front leaves gaps that each look from the front passes over."""

_ROOM_TO_SPARE: Final = 4
"""A table is made anew when it has room for so many times what is left in it."""


class Bunch:
    """Some entries that got owner and time together; attributes as in `Single`.

    `members`: each id's delivery count, in order of delivery.
    """

    __slots__ = ("_room", "consumer", "delivered_at_ms", "members", "next", "prev")

    def __init__(
        self,
        ids: Sequence[StreamId],
        consumer: Consumer | None,
        delivered_at_ms: int,
        deliveries: Sequence[int],
    ) -> None:
        self.members = dict(zip(ids, deliveries, strict=True))
        self.consumer = consumer
        self.delivered_at_ms = delivered_at_ms
        self.prev: Unit | None = None
        self.next: Unit | None = None
        self._room = len(self.members)

    def remove(self, value: StreamId) -> None:
        """Take the member `value` out. O(1) amortised."""
        del self.members[value]
        if len(self.members) * _ROOM_TO_SPARE < self._room:
            self.members = dict(self.members.items())
            self._room = len(self.members)

    def copy(self, consumer: Consumer | None) -> Bunch:
        """The same entries, owned by `consumer` of a copied group. O(m) in C."""
        members = self.members
        return Bunch(list(members), consumer, self.delivered_at_ms, list(members.values()))

    def deliveries_of(self, value: StreamId) -> int:
        """How often the member `value` was delivered."""
        return self.members[value]

    def counts_of(self, ids: Sequence[StreamId]) -> list[int]:
        """How often each of the members `ids` was delivered. O(m) in C."""
        return list(map(self.members.__getitem__, ids))

    def live_ids(self) -> Iterator[StreamId]:
        """The ids in order of delivery."""
        return iter(self.members)


_SEARCHES_PER_TABLE: Final = 8
"""A search costs about as much as entering so many ids into a table."""


class Run:
    """Some entries of one delivery; attributes as in `Single`.

    `low`, `high`: the window's ends. `live`: how many entries in it are not gone. `key`: the id at the
    lower end when the window was made, under which the indexes know it: they need not follow `low`.
    """

    __slots__ = (
        "_gone",
        "consumer",
        "delivered_at_ms",
        "deliveries",
        "high",
        "ids",
        "key",
        "live",
        "low",
        "next",
        "prev",
    )

    def __init__(self, ids: IdSequence, consumer: Consumer, delivered_at_ms: int, deliveries: int) -> None:
        self.ids = ids
        self.key = ids[0]
        self.low = 0
        self.high = len(ids)
        self.live = len(ids)
        self.consumer: Consumer | None = consumer
        self.delivered_at_ms = delivered_at_ms
        self.deliveries = deliveries
        self._gone: bytearray | None = None
        self.prev: Unit | None = None
        self.next: Unit | None = None

    @property
    def first_id(self) -> StreamId:
        """The id at the lower end of the window, which is live."""
        return self.ids[self.low]

    @property
    def last_id(self) -> StreamId:
        """The id at the upper end of the window, which is live."""
        return self.ids[self.high - 1]

    def position_of(self, value: StreamId) -> int:
        """Where the live entry `value` stands, or -1. O(log n), O(1) for consecutive ids."""
        position = position_of(self.ids, value)
        if self.low <= position < self.high and not (self._gone and self._gone[position]):
            return position
        return -1

    def positions_of(self, ids: Sequence[StreamId]) -> list[int]:
        """Where each of the rising `ids` is, -1 where it is gone or was never here. O(m log n) at most.

        Where many of the window's ids are asked for, a table of the window costs less than so many searches.
        """
        low, high = self.between(ids[0], ids[-1])
        if isinstance(self.ids, range):
            first, gone = self.ids.start, self._gone
            at = [value - first for value in ids]
            if low <= at[0] and at[-1] < high and gone is None:
                return at
            return [p if low <= p < high and not (gone and gone[p]) else -1 for p in at]
        if len(ids) * _SEARCHES_PER_TABLE < high - low:
            return [self.position_of(value) for value in ids]
        some = self.ids[low:high]
        if are_same(ids, some):
            positions: Iterable[int] = range(low, high)
        else:
            table = dict(zip(some, range(low, high), strict=True))
            positions = [table.get(value, -1) for value in ids]
        gone = self._gone
        if gone is None:
            return list(positions)
        return [-1 if position < 0 or gone[position] else position for position in positions]

    def between(self, first: StreamId, last: StreamId) -> tuple[int, int]:
        """The positions of the window that hold ids from `first` to `last`: the lower end is not below the
        upper one where there is none. O(log n)."""
        return max(self.low, count_below(self.ids, first)), min(self.high, count_below(self.ids, last + 1))

    def is_live(self, position: int) -> bool:
        """Whether `position` lies in the window and is not gone."""
        return self.low <= position < self.high and not (self._gone and self._gone[position])

    def remove(self, position: int) -> None:
        """Take the live entry at `position` out; another one stays. O(1) amortised."""
        self._flags()[position] = 1
        self.live -= 1
        if position in (self.low, self.high - 1):
            self._close_in()

    def remove_all(self, positions: Sequence[int]) -> None:
        """Take the live entries at `positions` out; another one stays. O(positions)."""
        gone = self._flags()
        for position in positions:
            gone[position] = 1
        self.live -= len(positions)
        self._close_in()

    def is_whole(self, position: int, count: int) -> bool:
        """Whether `count` positions from `position` on are in the window, and all live. O(count) in C."""
        if position + count > self.high:
            return False
        return self._gone is None or self._gone.find(1, position, position + count) < 0

    def remove_span(self, position: int, length: int, live: int) -> None:
        """Take `length` entries from `position` on out, `live` of which are live; another one stays.
        O(length) in C."""
        self._flags()[position : position + length] = b"\x01" * length
        self.live -= live
        self._close_in()

    def count_live(self, low: int, high: int) -> int:
        """How many of the window's positions ``[low, high)`` are live. O(high - low) in C."""
        if self._gone is None or self.live == self.high - self.low:
            return high - low
        return self._gone.count(0, low, high)

    def first_live_from(self, start: StreamId) -> StreamId | None:
        """The first live id at or after `start`, None where there is none. O(log n), and the gone ones in
        C."""
        low = max(self.low, count_below(self.ids, start))
        if low >= self.high:
            return None
        return self.ids[low if self._gone is None else self._gone.find(0, low)]

    def _flags(self) -> bytearray:
        if self._gone is None:
            self._gone = bytearray(len(self.ids))
        return self._gone

    def _close_in(self) -> None:
        """Move the ends in over entries that are gone; at least one is live."""
        gone = self._flags()
        self.low = gone.find(0, self.low)
        self.high = gone.rfind(0, self.low, self.high) + 1

    def split(self, position: int) -> Run:
        """Cut the window before `position`: self keeps the lower part. Both parts have live entries.

        O(shorter part), and O(ids) once for each delivery.
        """
        upper = Run(self.ids, self._owner, self.delivered_at_ms, self.deliveries)
        upper.key = self.ids[position]
        # Later removals from either part are marked in one array: the windows do not overlap.
        upper._gone = self._flags()
        upper.low, upper.high = position, self.high
        upper.live = self._live_from(position)
        self.high = position
        self.live -= upper.live
        self._close_in()
        upper._close_in()
        return upper

    def _live_from(self, position: int) -> int:
        if self.live == self.high - self.low:
            return self.high - position
        if position - self.low < self.high - position:
            return self.live - self._flags().count(0, self.low, position)
        return self._flags().count(0, position, self.high)

    @property
    def _owner(self) -> Consumer:
        assert self.consumer is not None, "a run always has an owner"
        return self.consumer

    def copy(self, consumer: Consumer | None) -> Run:
        """The same entries, owned by `consumer` of a copied group. O(1) where no entry is gone, else as
        `packed_live_ids`."""
        assert consumer is not None, "a run always has an owner"
        ids = self.ids if self.live == len(self.ids) else self.packed_live_ids()
        return Run(ids, consumer, self.delivered_at_ms, self.deliveries)

    def packed_live_ids(self) -> IdSequence:
        """The live ids in the smallest form. O(1) for consecutive ones, O(window) otherwise."""
        if self.live == self.high - self.low:
            return pack_ids(self.ids[self.low : self.high])
        return pack_ids(list(self.live_ids()))

    def live_ids(self, start: StreamId = 0) -> Iterator[StreamId]:
        """The live ids at or after `start`, rising."""
        low = max(self.low, count_below(self.ids, start)) if start else self.low
        if isinstance(self.ids, range) and self._gone is None:
            return iter(self.ids[low : self.high])
        positions: Iterable[int] = range(low, self.high)
        if self.live < self.high - self.low:
            positions = compress(positions, (not flag for flag in self._flags()[low : self.high]))
        return map(self.ids.__getitem__, positions)

    def deliveries_of(self, _value: StreamId) -> int:
        """How often each of its entries was delivered."""
        return self.deliveries

    def counts_of(self, ids: Sequence[StreamId]) -> list[int]:
        """How often each of its entries `ids` was delivered."""
        return [self.deliveries] * len(ids)


Unit: TypeAlias = Single | Bunch | Run
