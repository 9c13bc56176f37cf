"""The items that a consumer passes to the program: an entry, its deliveries, and two ways to settle it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, Literal, TypeAlias, TypeVar

from tailrace_client.consumer_state import Read
from tailrace_client.fields import Fields

Settlement: TypeAlias = Literal["ack", "nack"]
Settled = TypeVar("Settled")


class _Item(Generic[Settled]):
    """An entry of a consumer.

    `deliveries`: the number of earlier deliveries. `idle_ms`: the time since the last of them. Both are 0 for
    a new entry. `read`: the entry as the group delivered it. `settle`: the function that sends a settlement.
    """

    __slots__ = ("_settle", "deliveries", "fields", "id", "idle_ms", "read", "stream")

    def __init__(self, read: Read, settle: Callable[[Read, Settlement], Settled]) -> None:
        self._settle = settle
        self.read = read
        self.stream = read.stream
        self.id = read.id
        self.fields: Fields = read.entry.fields or {}
        self.deliveries = read.entry.deliveries
        self.idle_ms = read.entry.idle_ms

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.stream} {self.id} deliveries={self.deliveries}>"


class Item(_Item[None]):
    """An entry for a blocking program."""

    __slots__ = ()

    def ack(self) -> None:
        """Acknowledge the entry. A second call has no effect."""
        self._settle(self.read, "ack")

    def nack(self) -> None:
        """Return the entry to the group: the next consumer that claims gets it at once, and this delivery
        counts."""
        self._settle(self.read, "nack")


class AsyncItem(_Item[Awaitable[None]]):
    """An entry for an asyncio program."""

    __slots__ = ()

    async def ack(self) -> None:
        """Acknowledge the entry, like `Item.ack`."""
        await self._settle(self.read, "ack")

    async def nack(self) -> None:
        """Return the entry to the group, like `Item.nack`."""
        await self._settle(self.read, "nack")
