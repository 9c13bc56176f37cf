"""The orders of a group's pending units: that of delivery, and that of the units that are delayed.

A delayed unit (a nack with a delay) has no owner, and waits in an order of its own, by the time from which on
it can be claimed. CLAIM walks the order of delivery, so it never meets a delayed unit. This module only finds
the order of a unit; `core.pending.unit_table` adds and removes units.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain

from tailrace.core.pending.delivery_order import DeliveryOrder
from tailrace.core.pending.pending_index import PendingIndex
from tailrace.core.pending.units import Unit
from tailrace.core.stream_id import StreamId


class PendingOrders(PendingIndex):
    """The units of a group by id, and by time. While nothing is delayed, `held` is None and costs nothing."""

    __slots__ = ("held", "order")

    def __init__(self) -> None:
        super().__init__()
        # All units by time of delivery, unowned ones first, but no delayed ones.
        self.order = DeliveryOrder()
        # The delayed units, by the time from which on they can be claimed; None before the first one.
        self.held: DeliveryOrder | None = None

    def units(self) -> Iterator[Unit]:
        """Return all units in order of delivery, delayed ones last. O(units)."""
        return chain(self.order.units(), self.held or ())

    def order_of(self, unit: Unit) -> DeliveryOrder:
        """Return the order that has `unit`, or shall have it. O(1)."""
        if not unit.is_held:
            return self.order
        if self.held is None:
            self.held = DeliveryOrder()
            self.held.is_gone = self.order.is_gone
        return self.held

    @property
    def first_held_ms(self) -> int | None:
        """The time from which on the first delayed unit can be claimed, None if there is none. O(1)."""
        first = None if self.held is None else next(self.held.units(), None)
        return None if first is None else first.delivered_at_ms

    def due_ids(self, now_ms: int, most: int) -> list[StreamId]:
        """Return the ids of the delayed units whose time has come, in order, until there are `most`. The last
        unit is complete. O(ids)."""
        ids: list[StreamId] = []
        for unit in self.held or ():
            if unit.delivered_at_ms > now_ms or len(ids) >= most:
                break
            ids += unit.live_ids()
        return ids

    def _discard_all(self, units: Collection[Unit]) -> None:
        """Take units out of their orders. O(units)."""
        if self.held is None:
            self.order.discard_all(units)
        else:
            self.held.discard_all([unit for unit in units if unit.is_held])
            self.order.discard_all([unit for unit in units if not unit.is_held])
