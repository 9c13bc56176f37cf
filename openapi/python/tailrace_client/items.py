"""The items that a consumer passes to the program: an entry, its deliveries, and three ways to settle it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Generic, Literal, TypeAlias, TypeVar

from tailrace_client.consumer_state import Read
from tailrace_client.fields import Fields

Settlement: TypeAlias = Literal["ack", "nack"]
Settled = TypeVar("Settled")
Settler: TypeAlias = Callable[[Sequence[Read], Settlement, BaseException | None, int | None], Settled]
"""Settles entries. With an error, the entries failed. The last argument is the delay of a nack."""


class _Item(Generic[Settled]):
    """An entry of a consumer.

    `deliveries`: the number of earlier deliveries. `idle_ms`: the time since the last of them. Both are 0 for
    a new entry. `is_settled`: whether `ack`, `nack` or `fail` succeeded. `read`: the entry as the group
    delivered it. `lane`: the key of its order. `settle`: the function that sends a settlement.
    """

    __slots__ = ("deliveries", "fields", "id", "idle_ms", "is_settled", "lane", "read", "settle", "stream")

    def __init__(self, read: Read, settle: Settler[Settled]) -> None:
        self.settle = settle
        self.read = read
        self.stream = read.stream
        self.id = read.id
        self.fields: Fields = read.entry.fields or {}
        self.deliveries = read.entry.deliveries
        self.idle_ms = read.entry.idle_ms
        self.is_settled = False
        self.lane: Hashable = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.stream} {self.id} deliveries={self.deliveries}>"


class Item(_Item[None]):
    """An entry for a blocking program."""

    __slots__ = ()

    def ack(self) -> None:
        """Acknowledge the entry. A second call has no effect."""
        settle([self], "ack")

    def nack(self, *, delay_ms: int | None = None) -> None:
        """Return the entry to the group; this delivery counts. The next consumer that claims gets the entry
        after `delay_ms`; without it after the backoff of the group, or at once."""
        settle([self], "nack", delay_ms=delay_ms)

    def fail(self, error: BaseException) -> None:
        """Treat the entry as if its handler had raised `error`: it is delivered again, or becomes a dead
        letter if this was its last delivery."""
        settle([self], "nack", error)


class AsyncItem(_Item[Awaitable[None]]):
    """An entry for an asyncio program."""

    __slots__ = ()

    async def ack(self) -> None:
        """Acknowledge the entry, like `Item.ack`."""
        await settle_async([self], "ack")

    async def nack(self, *, delay_ms: int | None = None) -> None:
        """Return the entry to the group, like `Item.nack`."""
        await settle_async([self], "nack", delay_ms=delay_ms)

    async def fail(self, error: BaseException) -> None:
        """Treat the entry as failed, like `Item.fail`."""
        await settle_async([self], "nack", error)


class Batch(tuple[Item, ...]):
    """Items of a consumer that are processed together; a tuple. Each item can also be settled alone."""

    __slots__ = ()

    def ack(self) -> None:
        """Acknowledge the items that are not settled, in one request for each stream."""
        settle(self, "ack")

    def nack(self, *, delay_ms: int | None = None) -> None:
        """Return the items that are not settled to the group, like `Item.nack`."""
        settle(self, "nack", delay_ms=delay_ms)

    def __repr__(self) -> str:
        return _shown(self)


class AsyncBatch(tuple[AsyncItem, ...]):
    """Items of an asyncio consumer that are processed together, like `Batch`."""

    __slots__ = ()

    async def ack(self) -> None:
        """Acknowledge the items that are not settled, like `Batch.ack`."""
        await settle_async(self, "ack")

    async def nack(self, *, delay_ms: int | None = None) -> None:
        """Return the items that are not settled to the group, like `Item.nack`."""
        await settle_async(self, "nack", delay_ms=delay_ms)

    def __repr__(self) -> str:
        return _shown(self)


def settle(
    items: Sequence[Item],
    how: Settlement,
    error: BaseException | None = None,
    delay_ms: int | None = None,
) -> None:
    """Settle the items that are not settled. Raises `TailraceError`."""
    left = [item for item in items if not item.is_settled]
    if left:
        left[0].settle([item.read for item in left], how, error, delay_ms)
    for item in left:
        item.is_settled = True


async def settle_async(
    items: Sequence[AsyncItem],
    how: Settlement,
    error: BaseException | None = None,
    delay_ms: int | None = None,
) -> None:
    """Settle the items that are not settled, like `settle`."""
    left = [item for item in items if not item.is_settled]
    if left:
        await left[0].settle([item.read for item in left], how, error, delay_ms)
    for item in left:
        item.is_settled = True


def _shown(batch: Sequence[Item] | Sequence[AsyncItem]) -> str:
    ends = f" {batch[0].id} .. {batch[-1].id}" if batch else ""
    return f"<{type(batch).__name__} of {len(batch)}{ends}>"
