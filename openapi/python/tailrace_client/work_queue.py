"""The items that wait for a worker, and their order. This module reads, sends and locks nothing.

Without an order, workers take items as they arrived, and may process any of them at the same time. With an
order, items that share a key form a lane: one worker has the lane at a time, and the next item of the lane
becomes ready when that worker is done. Items of other lanes overtake. Each operation is O(items moved).

    ready:  [b1, c1]          one item of each free lane, and all items without a lane
    lanes:  a -> [a2, a3]     a1 is with a worker
            b -> [b2]         b1 is ready
            c -> []
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, Protocol, TypeVar

from tailrace_client.consumer_options import OrderBy
from tailrace_client.fields import Fields


class Laned(Protocol):
    """The members of an item that its order needs. `lane`: its key, which the queue sets. `is_lost`: whether
    no worker may have it any longer."""

    lane: Hashable
    is_lost: bool

    @property
    def fields(self) -> Fields:
        """The fields of the entry."""
        ...


ItemT = TypeVar("ItemT", bound=Laned)


class WorkQueue(Generic[ItemT]):
    """Items that wait for a worker. `capacity`: the most items that wait."""

    def __init__(self, capacity: int, order_by: OrderBy | None) -> None:
        self._capacity = capacity
        self._key_of = None if order_by is None else key_function(order_by)
        self._ready: deque[ItemT] = deque()
        self._lanes: dict[Hashable, deque[ItemT]] = {}
        self._blocked = 0

    @property
    def room(self) -> int:
        """Return how many more items may wait."""
        return self._capacity - len(self._ready) - self._blocked

    @property
    def has_ready(self) -> bool:
        """Return whether a worker can take an item."""
        return bool(self._ready)

    def put(self, item: ItemT) -> None:
        """Add an item that arrived. Raises what the function of the order raises."""
        if self._key_of is None:
            self._ready.append(item)
            return
        item.lane = self._key_of(item.fields)
        if item.lane in self._lanes:
            self._lanes[item.lane].append(item)
            self._blocked += 1
        else:
            self._lanes[item.lane] = deque()
            self._ready.append(item)

    def take(self, most: int) -> list[ItemT]:
        """Return at most `most` items, with their successors of the same lane; none if none is ready. Lost
        items are dropped."""
        items: list[ItemT] = []
        while self._ready and len(items) < most:
            item = self._ready.popleft()
            if item.is_lost:
                self.done([item])
                continue
            items.append(item)
            if self._key_of is not None:
                lane = self._lanes[item.lane]
                while lane and len(items) < most:
                    successor = lane.popleft()
                    self._blocked -= 1
                    if not successor.is_lost:
                        items.append(successor)
        return items

    def done(self, items: Sequence[ItemT]) -> None:
        """Free the lanes of items that a worker took and has finished."""
        if self._key_of is None:
            return
        for key in {item.lane for item in items}:
            lane = self._lanes[key]
            if lane:
                self._ready.append(lane.popleft())
                self._blocked -= 1
            else:
                del self._lanes[key]

    def drain(self) -> list[ItemT]:
        """Remove and return all items that wait, and forget all lanes."""
        rest = [*self._ready, *(item for lane in self._lanes.values() for item in lane)]
        self._ready.clear()
        self._lanes.clear()
        self._blocked = 0
        return rest


def key_function(order_by: OrderBy) -> Callable[[Fields], Hashable]:
    """Return the function from fields to the key of the order. Entries without the field share one key."""
    if isinstance(order_by, str):
        name = order_by
        return lambda fields: fields.get(name)
    if not callable(order_by):
        raise TypeError(f"order_by={order_by!r} is neither the name of a field nor a function of the fields")
    return order_by
