"""Pending units: the parts of a pending entries list. Each holds entries that share owner and delivery time.

    Single   one entry
    Bunch    entries claimed or nacked together, in any order, each with its own delivery count
    Run      entries delivered together, with one delivery count (`core.pending.run`)

This module owns the form of a unit, of singles and of bunches. It never decides which form an entry takes,
and it never changes an index: `core.pending.pending_list` does both.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import islice
from operator import eq
from typing import Final

from tailrace.core.id_keys import FEW_IDS
from tailrace.core.pending.consumer import Consumer
from tailrace.core.stream_id import StreamId

RUN_OR_BUNCH_LENGTH_MIN: Final = 4
"""Fewer entries become singles: a run or a bunch takes about as much memory as three of them."""

BUNCH_LENGTH_MAX: Final = FEW_IDS
"""A larger claim makes several bunches. A bunch hashes its ids as numbers."""

_SLOTS_PER_MEMBER_MAX: Final = 4
"""A bunch rebuilds its table when the table has this many slots for each remaining member."""


class Unit:
    """Entries of one group that share owner and time of delivery: a `Single`, a `Bunch` or a `Run`.

    `delivered_at_ms` and `consumer` change only while the unit is outside the order of delivery.
    """

    # A plain class, not an ABC: `isinstance` of an ABC's subclass costs more, and claims call it per entry.
    __slots__ = ("consumer", "delivered_at_ms", "next", "prev")

    consumer: Consumer | None
    """The owner; None after XNACK. A run always has one."""
    delivered_at_ms: int
    """Unix time of the last delivery, as XCLAIM may have set it. Without an owner: 0, or while the unit is
    delayed, the time from which on it can be claimed."""
    prev: Unit | None
    """The unit before this one in the order of delivery. Owned by `DeliveryOrder`."""
    next: Unit | None
    """The unit after this one in the order of delivery. Owned by `DeliveryOrder`."""

    @property
    def is_held(self) -> bool:
        """Whether the unit is delayed: nothing claims it before its time. O(1)."""
        return self.consumer is None and self.delivered_at_ms > 0

    @abstractmethod
    def copy(self, consumer: Consumer | None) -> Unit:
        """Return the same entries, owned by `consumer` of a copied group, outside any list."""

    @abstractmethod
    def live_ids(self) -> Iterator[StreamId]:
        """Return the ids of the unit's entries in order of delivery. O(m)."""

    def first_ids(self, most: int) -> list[StreamId]:
        """Return the first ids of the unit in order of delivery, up to `most`. O(most) in C."""
        return list(islice(self.live_ids(), most))

    @abstractmethod
    def is_below(self, value: StreamId) -> bool:
        """Whether the ids of all entries of the unit are below `value`. O(1), O(m) in C for a bunch."""

    @abstractmethod
    def deliveries_of(self, value: StreamId) -> int:
        """Return how often the unit's entry `value` was delivered. O(1)."""

    @abstractmethod
    def counts_of(self, ids: Sequence[StreamId]) -> list[int]:
        """Return how often each of the unit's entries `ids` was delivered. O(m) in C."""


class Single(Unit):
    """One pending entry."""

    __slots__ = ("deliveries", "id")

    def __init__(
        self, value: StreamId, consumer: Consumer | None, delivered_at_ms: int, deliveries: int
    ) -> None:
        self.id = value
        self.consumer = consumer
        self.delivered_at_ms = delivered_at_ms
        # How often the entry was delivered; XCLAIM and XNACK set it, 0 included.
        self.deliveries = deliveries
        self.prev = None
        self.next = None

    def copy(self, consumer: Consumer | None) -> Single:
        """Return the same entry, owned by `consumer` of a copied group. O(1)."""
        return Single(self.id, consumer, self.delivered_at_ms, self.deliveries)

    def deliveries_of(self, _value: StreamId) -> int:
        return self.deliveries

    def counts_of(self, ids: Sequence[StreamId]) -> list[int]:
        return [self.deliveries] * len(ids)

    def live_ids(self) -> Iterator[StreamId]:
        return iter((self.id,))

    def first_ids(self, most: int) -> list[StreamId]:
        return [self.id][:most]

    def is_below(self, value: StreamId) -> bool:
        return self.id < value


class Bunch(Unit):
    """Up to `BUNCH_LENGTH_MAX` entries that got owner and time together.

    The ids need not rise, and may be between those of runs and of other bunches. Claiming the whole bunch
    again, in the same order, moves it as one unit.
    """

    __slots__ = ("_slot_count", "members")

    def __init__(
        self,
        ids: Sequence[StreamId],
        consumer: Consumer | None,
        delivered_at_ms: int,
        deliveries: Sequence[int],
    ) -> None:
        # Each id's delivery count, in order of delivery; at least one.
        self.members = dict(zip(ids, deliveries, strict=True))
        self.consumer = consumer
        self.delivered_at_ms = delivered_at_ms
        self.prev = None
        self.next = None
        # Members that the table was made for: removing a member does not shrink a dict.
        self._slot_count = len(self.members)

    def remove(self, value: StreamId) -> None:
        """Remove the member `value`; another member must stay. O(1) amortised."""
        del self.members[value]
        if len(self.members) * _SLOTS_PER_MEMBER_MAX < self._slot_count:
            self.members = dict(self.members.items())
            self._slot_count = len(self.members)

    def keep(self, members: dict[StreamId, int]) -> None:
        """Replace the members by `members`, some of them in their order, at least one. O(1)."""
        self.members = members
        self._slot_count = len(members)

    def set_deliveries(self, deliveries: Sequence[int]) -> None:
        """Replace the delivery counts of all members, in their order. O(m) in C."""
        if deliveries.count(deliveries[0]) == len(deliveries):
            # A table made from a table needs no hashes, and most claimed entries have equal counts.
            self.keep(dict.fromkeys(self.members, deliveries[0]))
        else:
            self.keep(dict(zip(self.members, deliveries, strict=True)))

    def copy(self, consumer: Consumer | None) -> Bunch:
        """Return the same entries, owned by `consumer` of a copied group. O(m) in C."""
        members = self.members
        return Bunch(list(members), consumer, self.delivered_at_ms, list(members.values()))

    def deliveries_of(self, value: StreamId) -> int:
        return self.members[value]

    def counts_of(self, ids: Sequence[StreamId]) -> list[int]:
        if len(ids) == len(self.members) and all(map(eq, ids, self.members)):
            # Claims take most bunches whole, in their order.
            return list(self.members.values())
        return list(map(self.members.__getitem__, ids))

    def live_ids(self) -> Iterator[StreamId]:
        return iter(self.members)

    def is_below(self, value: StreamId) -> bool:
        return next(self.live_ids()) < value and max(self.members) < value
