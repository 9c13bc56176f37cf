"""The credit of a subscription: how many entries and bytes may still be pushed."""

from __future__ import annotations

from itertools import accumulate, islice

from tailrace.core.replies import Entries


class CreditBalance:
    """How much may still be pushed: entries, and bytes once the client has given a credit in bytes."""

    __slots__ = ("bytes", "entries")

    def __init__(self, entries: int, size: int | None) -> None:
        self.entries = entries
        self.bytes = size

    def add(self, entries: int, size: int | None) -> None:
        """Add credit."""
        self.entries += entries
        if size is not None:
            self.bytes = size + (self.bytes or 0)

    @property
    def is_spent(self) -> bool:
        """True if there is no credit left."""
        return self.entries <= 0 or (self.bytes is not None and self.bytes <= 0)

    def covered(self, entries: Entries) -> int:
        """Return how many of `entries`, from the first on, may be pushed. The last one may exceed the
        bytes."""
        count = min(self.entries, len(entries))
        if self.bytes is None:
            return count
        sizes = map(_size, entries.fragments[:count])
        return sum(before < self.bytes for before in islice(accumulate(sizes, initial=0), count))

    def pay(self, entries: Entries, count: int) -> None:
        """Subtract the first `count` of `entries`, which were pushed."""
        self.entries -= count
        if self.bytes is not None:
            self.bytes -= sum(map(_size, entries.fragments[:count]))


def _size(fragment: bytes | None) -> int:
    return 0 if fragment is None else len(fragment)
