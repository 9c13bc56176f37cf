"""What a consumer hands out: an entry, how often it was delivered, and the two ways to settle it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, Literal, TypeAlias, TypeVar

from tailrace_client.consumer_state import Read
from tailrace_client.fields import Fields

Settlement: TypeAlias = Literal["ack", "nack"]
Settled = TypeVar("Settled")


class _Item(Generic[Settled]):
    """`deliveries`: how often it was delivered before this time; `idle_ms`: since the last of those. Both 0
    for a new one. `read` is what the group gave; `settle` carries a settlement out."""

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
    """An entry to be worked on, by programs that block."""

    __slots__ = ()

    def ack(self) -> None:
        """It is done. Doing so twice is harmless."""
        self._settle(self.read, "ack")

    def nack(self) -> None:
        """Give it back: whoever claims next gets it at once, and this delivery counts."""
        self._settle(self.read, "nack")


class AsyncItem(_Item[Awaitable[None]]):
    """An entry to be worked on, by programs that await."""

    __slots__ = ()

    async def ack(self) -> None:
        """As `Item.ack`."""
        await self._settle(self.read, "ack")

    async def nack(self) -> None:
        """As `Item.nack`."""
        await self._settle(self.read, "nack")
