"""The limits of one read: MAXCOUNT or `READ_ENTRIES_MAX` over all its streams, and MAXSIZE over its whole
reply.

MAXSIZE is soft (rule 26): before each entry but the very first, the size of the reply so far is compared with
the limit, so the last entry may exceed it. Sizes are those of RESP2. The bytes are counted in Redis's order:
a stream's array and key before its first entry, the length of its entries after the last one. The length of
the whole reply is not counted.

`PendingWork` bounds the pending entries that the read examines.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tailrace.core.commands import ReadLimits
from tailrace.core.limits import PENDING_STEPS_MAX, READ_ENTRIES_MAX
from tailrace.core.log.entry import flat_of
from tailrace.core.replies import Entries
from tailrace.core.stream_id import format_id

_UNIT_STEPS: Final = 6
"""What entries that were delivered or claimed together add to one step for each: changing the owner of one
unit of the pending entries list takes up to 10 us."""

_BLOCK_STEPS: Final = 8
"""What each block of the log adds in which entries are looked up: decompressing one takes about 12 us."""


class PendingWork:
    """The work of one read. `left`: the remaining steps; negative after too much work."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = PENDING_STEPS_MAX

    @property
    def units_left(self) -> int:
        """How many units are left at most."""
        return self.left // _UNIT_STEPS + 1

    @property
    def is_spent(self) -> bool:
        """Whether the read may do no further work."""
        return self.left <= 0

    def count(self, entries: int, units: int, blocks: int) -> None:
        """Count `entries` in `units` of the pending entries list, looked up in `blocks` of the log. O(1)."""
        self.left -= entries + units * _UNIT_STEPS + blocks * _BLOCK_STEPS


FRAGMENT_GROWTH_MAX = 6
"""A byte of a value takes at most this many bytes in a fragment (``\\u0000``): bounds how far to read."""

RESP_GROWTH_MAX = 2
"""A byte of a fragment takes at most this many in RESP: the empty string takes three in a fragment, with its
quotes and a comma, and six in RESP; every other string grows less."""

SEQ_DIGITS_MAX = 20
"""The digits of the greatest sequence part of an id."""

FIELDS_HEADER_BYTES_MAX = len("*131072\r\n")
"""The most bytes that RESP writes before the fields of an entry."""

_BULK_SIZES = [len(f"${length}\r\n\r\n") + length for length in range(256)]
"""The size of a bulk string, by its length."""


class ReplyBudget:
    """The budget of one read, over all its streams. The caller applies `count`, the limit of each stream.

    An entry is measured only if its size can matter: entries that certainly fit are put aside, and measured
    when the sum of their greatest possible sizes reaches the limit.
    """

    __slots__ = ("_aside", "_max_bytes", "_used_at_most", "_used_bytes", "remaining", "served", "work")

    def __init__(self, limits: ReadLimits) -> None:
        self._max_bytes = limits.max_bytes
        # What reads of pending entries may still do.
        self.work = PendingWork()
        # How many more entries the read may return: 0 once the bytes are used up.
        self.remaining = READ_ENTRIES_MAX
        if limits.max_count is not None:
            self.remaining = min(limits.max_count, READ_ENTRIES_MAX)
        self._used_bytes = 0
        self._used_at_most = 0
        self._aside: list[tuple[Entries, bool]] = []
        self.served = 0

    def begin_stream(self, key: bytes) -> None:
        """Count the array and the key that RESP writes before a stream's entries."""
        if self._max_bytes is not None:
            self._use(_array_size(2) + _bulk_size(len(key)), self._max_bytes)

    def end_stream(self, count: int) -> None:
        """Count the length that RESP writes for a stream's entries; Redis knows it after the last one."""
        if self._max_bytes is not None:
            self._use(_array_size(count), self._max_bytes)

    def _use(self, size: int, limit: int) -> None:
        self._used_bytes += size
        self._used_at_most += size
        self._end_if_full(limit)

    @property
    def is_spent(self) -> bool:
        """Return whether the entries, the bytes or the work are used up. The read then skips all further
        streams."""
        return not self.remaining or self.work.is_spent

    def _end_if_full(self, limit: int) -> None:
        if self.served and self._used_at_most >= limit:
            self._measure()
            if self._used_bytes >= limit:
                self.remaining = 0

    @property
    def fragment_bytes_max(self) -> int | None:
        """A number of bytes of fragments that certainly reach the byte budget; None without a budget."""
        limit = self._max_bytes
        return None if limit is None else limit * FRAGMENT_GROWTH_MAX

    def spend(self, entries: Entries, *, claim: bool = False) -> int:
        """Return how many of the first of `entries` the reply may contain, and count them.

        `claim`: each is written with its idle time and deliveries.
        """
        count = len(entries.ids)
        if count > self.remaining:  # noqa: PLR1730 - a call of min costs more
            count = self.remaining
        if self._max_bytes is not None:
            count = self._spend_bytes(entries.first(count), self._max_bytes, claim=claim)
        self.served += count
        self.remaining -= count
        if self._max_bytes is not None:
            self._end_if_full(self._max_bytes)
        return count

    def _spend_bytes(self, entries: Entries, limit: int, *, claim: bool) -> int:
        fragment_bytes = sum(map(len, filter(None, entries.fragments)))
        at_most = RESP_GROWTH_MAX * fragment_bytes + _around_at_most(entries, claim=claim)
        if self._used_at_most + at_most < limit:
            self._used_at_most += at_most
            self._aside.append((entries, claim))
            return len(entries.ids)
        self._measure()
        for taken, size in enumerate(_sizes(entries, claim=claim)):
            if self.served + taken and self._used_bytes >= limit:
                return taken
            self._used_bytes += size
            self._used_at_most = self._used_bytes
        return len(entries.ids)

    def _measure(self) -> None:
        """Measure all entries that were put aside."""
        for entries, claim in self._aside:
            self._used_bytes += sum(_sizes(entries, claim=claim))
        self._aside.clear()
        self._used_at_most = self._used_bytes


def _around_at_most(entries: Entries, *, claim: bool) -> int:
    """The most bytes that RESP writes around all fragments of `entries`. O(entries) in C."""
    if not entries.ids:
        return 0
    id_length = len(format_id(max(entries.ids))) + SEQ_DIGITS_MAX
    size = _array_size(4 if claim else 2) + _bulk_size(id_length) + FIELDS_HEADER_BYTES_MAX
    if claim:
        size += sum(
            _integer_size(max(numbers, default=0))
            for numbers in (entries.idle_ms or (), entries.deliveries or ())
        )
    return size * len(entries.ids)


def _sizes(entries: Entries, *, claim: bool) -> Iterator[int]:
    """Yield the bytes that RESP takes for each of `entries`."""
    around = _array_size(4 if claim else 2)
    zeros = [0] * len(entries.ids)
    deliveries = zip(entries.idle_ms or zeros, entries.deliveries or zeros, strict=True)
    for value, fragment, delivery in zip(entries.ids, entries.fragments, deliveries, strict=True):
        size = around + _bulk_size(len(format_id(value))) + _fields_size(fragment)
        yield size + sum(map(_integer_size, delivery)) if claim else size


def _fields_size(fragment: bytes | None) -> int:
    if fragment is None:
        return len("*-1\r\n")
    if fragment.startswith(b"{") and b"\\" not in fragment and len(fragment) < len(_BULK_SIZES):
        # Every quotation mark begins or ends a string.
        flat = fragment.split(b'"')[1::2]
        return _array_size(len(flat)) + sum(map(_BULK_SIZES.__getitem__, map(len, flat)))
    flat = flat_of(fragment)
    return _array_size(len(flat)) + sum(_bulk_size(len(item)) for item in flat)


def _integer_size(value: int) -> int:
    return len(f":{value}\r\n")


def _array_size(length: int) -> int:
    return len(f"*{length}\r\n")


def _bulk_size(length: int) -> int:
    return len(f"${length}\r\n\r\n") + length
