"""The items that a consumer passes to the program: an entry, its deliveries, and three ways to settle it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Any, Literal, TypeAlias

from tailrace_client.consumer_state import Read
from tailrace_client.fields import Fields
from tailrace_client.tasks import Losable

Settlement: TypeAlias = Literal["ack", "nack"]
Settler: TypeAlias = Callable[[Sequence[Any], Settlement, BaseException | None, int | None], Awaitable[int]]
"""Settles items. With an error, the items failed. The last argument is the delay of a nack. Items that turn
out to be lost are marked as such."""


class AsyncItem(Losable):
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
        *("deliveries", "fields", "id", "idle_ms", "is_leaving", "is_settled"),
        *("lane", "read", "settle", "stream"),
    )

    def __init__(self, read: Read, settle: Settler) -> None:
        super().__init__()
        self.settle = settle
        self.read = read
        self.stream = read.stream
        self.id = read.id
        self.fields: Fields = read.entry.fields or {}
        self.deliveries = read.entry.deliveries
        self.idle_ms = read.entry.idle_ms
        self.is_settled = False
        self.is_leaving = False
        self.lane: Hashable = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.stream} {self.id} deliveries={self.deliveries}>"

    async def ack(self) -> bool:
        """Acknowledge the entry, and return whether it is settled: False if the entry is lost, so that the
        acknowledgment does not count. A second call has no effect."""
        return await settle([self], "ack") == 1

    async def nack(self, *, delay_ms: int | None = None) -> bool:
        """Return the entry to the group; this delivery counts. The next consumer that claims gets the entry
        after `delay_ms`; without it after the backoff of the group, or at once. False if the entry is
        lost."""
        return await settle([self], "nack", delay_ms=delay_ms) == 1

    async def fail(self, error: BaseException) -> None:
        """Treat the entry as if its handler had raised `error`: it is delivered again, or becomes a dead
        letter if this was its last delivery."""
        await settle([self], "nack", error)


class AsyncBatch(tuple[AsyncItem, ...]):
    """Items of a consumer that are processed together; a tuple. Each item can also be settled alone."""

    __slots__ = ()

    async def ack(self) -> int:
        """Acknowledge the items that are not settled, in one request for each stream, and return how many
        items of the batch are settled now: fewer than all if some are lost."""
        return await settle(self, "ack")

    async def nack(self, *, delay_ms: int | None = None) -> int:
        """Return the items that are not settled to the group, like `AsyncItem.nack`, and return how many
        items of the batch are settled now."""
        return await settle(self, "nack", delay_ms=delay_ms)

    def __repr__(self) -> str:
        ends = f" {self[0].id} .. {self[-1].id}" if self else ""
        return f"<{type(self).__name__} of {len(self)}{ends}>"


async def settle(
    items: Sequence[AsyncItem],
    how: Settlement,
    error: BaseException | None = None,
    delay_ms: int | None = None,
) -> int:
    """Settle the items that are neither settled nor lost, and return how many of all are settled then. Raises
    `TailraceError`."""
    left = [item for item in items if not (item.is_settled or item.is_lost)]
    settled = sum(item.is_settled for item in items)
    if left:
        settled += await left[0].settle(left, how, error, delay_ms)
    for item in left:
        item.is_settled = not item.is_lost
    return settled
