"""How much more one read may return: MAXCOUNT over all its streams, MAXSIZE over its whole reply.

MAXSIZE is soft (rule 26): the size of the reply so far, as RESP2 would write it, is looked at before
each entry but the very first, so the last entry may overshoot.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.commands import ReadLimits
from core.entry import flat_of
from core.stream_id import StreamId, format_id

FRAGMENT_GROWTH_MAX = 6
"""A byte of a value takes at most this many in a fragment (``\\u0000``): bounds how far to read."""

RESP_GROWTH_MAX = 6
"""A byte of a fragment takes at most this many in RESP: a field of six bytes may become two bulk strings."""

RESP_ENTRY_BYTES_MAX = 128
"""What RESP writes around an entry at most: its array, its id, its idle time and deliveries."""


class ReplyBudget:
    """One read's budget. `count` of the limits is not its business: that is for each stream.

    Sizes are only measured where they can matter: entries that surely fit are put aside, and measured
    when the sum of what they may take at most reaches the limit.
    """

    __slots__ = ("_aside", "_limits", "_remaining", "_used_at_most", "_used_bytes", "served")

    def __init__(self, limits: ReadLimits) -> None:
        self._limits = limits
        self._remaining = limits.max_count
        self._used_bytes = 0
        self._used_at_most = 0
        self._aside: list[tuple[Sequence[StreamId], Sequence[bytes | None], bool]] = []
        self.served = 0

    def begin_stream(self, key: bytes) -> None:
        """Count the array and the key that RESP writes before a stream's entries."""
        if self._limits.max_bytes is None:
            return
        size = _array_size(2) + _bulk_size(len(key))
        self._used_bytes += size
        self._used_at_most += size

    @property
    def remaining(self) -> int | None:
        """How many entries may still be given, None for any number."""
        limit = self._limits.max_bytes
        return self._remaining if limit is None or not self._is_full(limit) else 0

    def _is_full(self, limit: int) -> bool:
        if not self.served or self._used_at_most < limit:
            return False
        self._measure()
        return self._used_bytes >= limit

    @property
    def fragment_bytes_max(self) -> int | None:
        """So many bytes of fragments surely reach the byte budget; None where there is none."""
        limit = self._limits.max_bytes
        return None if limit is None else limit * FRAGMENT_GROWTH_MAX

    def spend(
        self, ids: Sequence[StreamId], fragments: Sequence[bytes | None], *, claim: bool = False
    ) -> int:
        """How many of these entries, from the first on, go into the reply; they are accounted for."""
        count = len(ids) if self._remaining is None else min(len(ids), self._remaining)
        if self._limits.max_bytes is not None:
            count = self._spend_bytes(ids[:count], fragments[:count], self._limits.max_bytes, claim=claim)
        self.served += count
        if self._remaining is not None:
            self._remaining -= count
        return count

    def _spend_bytes(
        self, ids: Sequence[StreamId], fragments: Sequence[bytes | None], limit: int, *, claim: bool
    ) -> int:
        at_most = RESP_GROWTH_MAX * sum(map(len, filter(None, fragments))) + RESP_ENTRY_BYTES_MAX * len(ids)
        if self._used_at_most + at_most < limit:
            self._used_at_most += at_most
            self._aside.append((ids, fragments, claim))
            return len(ids)
        self._measure()
        for taken, value in enumerate(ids):
            if self.served + taken and self._used_bytes >= limit:
                return taken
            self._used_bytes += _entry_size(value, fragments[taken], claim=claim)
            self._used_at_most = self._used_bytes
        return len(ids)

    def _measure(self) -> None:
        """Take exact account of all that was put aside."""
        for ids, fragments, claim in self._aside:
            for value, fragment in zip(ids, fragments, strict=True):
                self._used_bytes += _entry_size(value, fragment, claim=claim)
        self._aside.clear()
        self._used_at_most = self._used_bytes


def _entry_size(value: StreamId, fragment: bytes | None, *, claim: bool) -> int:
    size = _array_size(4 if claim else 2) + _bulk_size(len(format_id(value)))
    if claim:
        size += 2 * len(":0\r\n")
    if fragment is None:
        return size + len("*-1\r\n")
    flat = flat_of(fragment)
    return size + _array_size(len(flat)) + sum(_bulk_size(len(item)) for item in flat)


def _array_size(length: int) -> int:
    return len(f"*{length}\r\n")


def _bulk_size(length: int) -> int:
    return len(f"${length}\r\n\r\n") + length
