"""The items that a consumer passes to the program: an entry, its deliveries, and three ways to settle it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Hashable, Sequence
from contextlib import suppress
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar

from tailrace_client.consumer_state import Read
from tailrace_client.fields import Fields

Settlement: TypeAlias = Literal["ack", "nack"]
Settled = TypeVar("Settled")
Settler: TypeAlias = Callable[[Sequence[Any], Settlement, BaseException | None, int | None], Settled]
"""Settles items. With an error, the items failed. The last argument is the delay of a nack. Items that turn
out to be lost are marked as such."""

_FIRST_WAIT: Final = threading.Lock()
"""Guards the creation of an event, because few programs wait for the loss of an item."""


class _Item(Generic[Settled]):
    """An entry of a consumer.

    `deliveries`: the number of earlier deliveries. `idle_ms`: the time since the last of them. Both are 0 for
    a new entry. `is_settled`: whether `ack`, `nack` or `fail` succeeded. `is_lost`: whether the entry no
    longer belongs to this consumer, because another one has claimed it or it is no longer pending. The
    consumer learns this when it extends leases and from replies; stop working on the entry then.

    `read`: the entry as the group delivered it. `lane`: the key of its order. `settle`: the function that
    sends a settlement. `is_leaving`: whether its acknowledgment is on the way, so that its absence from the
    pending entries is no loss.
    """

    __slots__ = (
        *("deliveries", "fields", "id", "idle_ms", "is_leaving", "is_lost", "is_settled"),
        *("lane", "read", "settle", "stream"),
    )

    def __init__(self, read: Read, settle: Settler[Settled]) -> None:
        self.settle = settle
        self.read = read
        self.stream = read.stream
        self.id = read.id
        self.fields: Fields = read.entry.fields or {}
        self.deliveries = read.entry.deliveries
        self.idle_ms = read.entry.idle_ms
        self.is_settled = False
        self.is_lost = False
        self.is_leaving = False
        self.lane: Hashable = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.stream} {self.id} deliveries={self.deliveries}>"


class Item(_Item[int]):
    """An entry for a blocking program."""

    __slots__ = ("_lost",)

    def __init__(self, read: Read, settle: Settler[int]) -> None:
        super().__init__(read, settle)
        self._lost: threading.Event | None = None

    def lose(self) -> None:
        """Mark the entry as lost."""
        with _FIRST_WAIT:
            self.is_lost = True
            if self._lost is not None:
                self._lost.set()

    def wait_lost(self, timeout_s: float | None = None) -> bool:
        """Wait until the entry is lost, at most `timeout_s`, and return `is_lost`. Any thread can wait."""
        with _FIRST_WAIT:
            lost = self._lost = self._lost or threading.Event()
            if self.is_lost:
                lost.set()
        return lost.wait(timeout_s)

    def ack(self) -> bool:
        """Acknowledge the entry, and return whether it is settled: False if the entry is lost, so that the
        acknowledgment does not count. A second call has no effect."""
        return settle([self], "ack") == 1

    def nack(self, *, delay_ms: int | None = None) -> bool:
        """Return the entry to the group; this delivery counts. The next consumer that claims gets the entry
        after `delay_ms`; without it after the backoff of the group, or at once. False if the entry is
        lost."""
        return settle([self], "nack", delay_ms=delay_ms) == 1

    def fail(self, error: BaseException) -> None:
        """Treat the entry as if its handler had raised `error`: it is delivered again, or becomes a dead
        letter if this was its last delivery."""
        settle([self], "nack", error)


class AsyncItem(_Item[Awaitable[int]]):
    """An entry for an asyncio program."""

    __slots__ = ("_lost",)

    def __init__(self, read: Read, settle: Settler[Awaitable[int]]) -> None:
        super().__init__(read, settle)
        self._lost: asyncio.Event | None = None

    def lose(self) -> None:
        """Mark the entry as lost."""
        self.is_lost = True
        if self._lost is not None:
            self._lost.set()

    async def wait_lost(self, timeout_s: float | None = None) -> bool:
        """Wait until the entry is lost, like `Item.wait_lost`."""
        lost = self._lost = self._lost or asyncio.Event()
        if not self.is_lost:
            with suppress(TimeoutError):
                await asyncio.wait_for(lost.wait(), timeout_s)
        return self.is_lost

    async def ack(self) -> bool:
        """Acknowledge the entry, like `Item.ack`."""
        return await settle_async([self], "ack") == 1

    async def nack(self, *, delay_ms: int | None = None) -> bool:
        """Return the entry to the group, like `Item.nack`."""
        return await settle_async([self], "nack", delay_ms=delay_ms) == 1

    async def fail(self, error: BaseException) -> None:
        """Treat the entry as failed, like `Item.fail`."""
        await settle_async([self], "nack", error)


class Batch(tuple[Item, ...]):
    """Items of a consumer that are processed together; a tuple. Each item can also be settled alone."""

    __slots__ = ()

    def ack(self) -> int:
        """Acknowledge the items that are not settled, in one request for each stream, and return how many
        items of the batch are settled now: fewer than all if some are lost."""
        return settle(self, "ack")

    def nack(self, *, delay_ms: int | None = None) -> int:
        """Return the items that are not settled to the group, like `Item.nack`, and return how many items of
        the batch are settled now."""
        return settle(self, "nack", delay_ms=delay_ms)

    def __repr__(self) -> str:
        return _shown(self)


class AsyncBatch(tuple[AsyncItem, ...]):
    """Items of an asyncio consumer that are processed together, like `Batch`."""

    __slots__ = ()

    async def ack(self) -> int:
        """Acknowledge the items that are not settled, like `Batch.ack`."""
        return await settle_async(self, "ack")

    async def nack(self, *, delay_ms: int | None = None) -> int:
        """Return the items that are not settled to the group, like `Batch.nack`."""
        return await settle_async(self, "nack", delay_ms=delay_ms)

    def __repr__(self) -> str:
        return _shown(self)


def settle(
    items: Sequence[Item],
    how: Settlement,
    error: BaseException | None = None,
    delay_ms: int | None = None,
) -> int:
    """Settle the items that are neither settled nor lost, and return how many of all are settled then. Raises
    `TailraceError`."""
    left = _left(items)
    settled = sum(item.is_settled for item in items)
    if left:
        settled += left[0].settle(left, how, error, delay_ms)
    for item in left:
        item.is_settled = not item.is_lost
    return settled


async def settle_async(
    items: Sequence[AsyncItem],
    how: Settlement,
    error: BaseException | None = None,
    delay_ms: int | None = None,
) -> int:
    """Settle the items that are neither settled nor lost, like `settle`."""
    left = _left(items)
    settled = sum(item.is_settled for item in items)
    if left:
        settled += await left[0].settle(left, how, error, delay_ms)
    for item in left:
        item.is_settled = not item.is_lost
    return settled


_ItemT = TypeVar("_ItemT", Item, AsyncItem)


def _left(items: Sequence[_ItemT]) -> list[_ItemT]:
    return [item for item in items if not (item.is_settled or item.is_lost)]


def _shown(batch: Sequence[Item] | Sequence[AsyncItem]) -> str:
    ends = f" {batch[0].id} .. {batch[-1].id}" if batch else ""
    return f"<{type(batch).__name__} of {len(batch)}{ends}>"
