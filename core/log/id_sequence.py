"""Compact sequences of rising ids: a `range` if they are consecutive, else two arrays.

A batch append makes consecutive ids, and a range takes the same memory for two ids as for a million. Other
ids take 16 bytes each, compared with 52 as Python ints in a list. Both kinds are immutable sequences of ints,
but for `OwnIds`.
This module knows nothing of entries.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from operator import eq, lshift, or_
from typing import Final, Self, TypeAlias, overload

from tailrace.core.stream_id import RUN_MIN, SEQ_BITS, U64_MAX, StreamId

ID_BYTES: Final = 16
"""The bytes of one id in `PackedIds.to_bytes`."""


class PackedIds(Sequence[StreamId]):
    """Rising ids as an array of times and an array of sequences. Index O(1), search O(log n)."""

    __slots__ = ("_ms", "_seq")

    def __init__(self, ms: array[int], seq: array[int]) -> None:
        self._ms = ms
        self._seq = seq

    @classmethod
    def of(cls, ids: Sequence[StreamId]) -> Self:
        """Pack `ids`, which rise. O(n)."""
        return cls(array("Q", [i >> SEQ_BITS for i in ids]), array("Q", [i & U64_MAX for i in ids]))

    @classmethod
    def from_bytes(cls, raw: bytes) -> PackedIds:
        """The inverse of `to_bytes`."""
        half = len(raw) // 2
        ms, seq = array("Q"), array("Q")
        ms.frombytes(raw[:half])
        seq.frombytes(raw[half:])
        return cls(ms, seq)

    def to_bytes(self) -> bytes:
        """All times, then all sequences, eight bytes each: columns compress better than pairs."""
        return self._ms.tobytes() + self._seq.tobytes()

    def __len__(self) -> int:
        return len(self._ms)

    @overload
    def __getitem__(self, index: int) -> StreamId: ...
    @overload
    def __getitem__(self, index: slice) -> PackedIds: ...
    def __getitem__(self, index: int | slice) -> StreamId | PackedIds:
        if isinstance(index, slice):
            return PackedIds(self._ms[index], self._seq[index])
        return self._ms[index] << SEQ_BITS | self._seq[index]

    def __iter__(self) -> Iterator[StreamId]:
        return map(or_, map(lshift, self._ms, repeat(SEQ_BITS)), self._seq)

    def bisect(self, wanted: StreamId) -> int:
        """Return how many ids are below `wanted`. O(log n), in C."""
        ms = wanted >> SEQ_BITS
        low = bisect_left(self._ms, ms)
        if low == len(self._ms) or self._ms[low] != ms:
            return low
        high = bisect_left(self._ms, ms + 1, low) if ms < U64_MAX else len(self._ms)
        return bisect_left(self._seq, wanted & U64_MAX, low, high)

    def between(self, low: int, high: int) -> Iterator[StreamId]:
        """Return the ids at the indexes from `low` up to but not including `high`. Copies nothing."""
        ms, seq = memoryview(self._ms)[low:high], memoryview(self._seq)[low:high]
        return map(or_, map(lshift, ms, repeat(SEQ_BITS)), seq)

    def position_of(self, wanted: StreamId) -> int:
        """Return the index of `wanted`, or -1. O(log n), in C."""
        ms, seq = wanted >> SEQ_BITS, wanted & U64_MAX
        low = bisect_left(self._ms, ms)
        if low == len(self._ms) or self._ms[low] != ms:
            return -1
        if self._seq[low] == seq:
            return low
        # Other ids have the same time.
        high = bisect_right(self._ms, ms, low)
        low = bisect_left(self._seq, seq, low, high)
        return low if low < high and self._seq[low] == seq else -1


class OwnIds(PackedIds):
    """Packed ids that can grow. They belong to one object alone."""

    __slots__ = ()

    def extend(self, ids: Iterable[StreamId]) -> None:
        """Add `ids`, which are above all others. O(ids)."""
        ids = list(ids)
        self._ms.extend([value >> SEQ_BITS for value in ids])
        self._seq.extend([value & U64_MAX for value in ids])

    def insert(self, at: int, value: StreamId) -> None:
        """Insert `value` before the id at the index `at`. O(n) in C."""
        self._ms.insert(at, value >> SEQ_BITS)
        self._seq.insert(at, value & U64_MAX)


IdSequence: TypeAlias = range | PackedIds


def ids_within(ids: IdSequence, low: int, high: int) -> Iterator[StreamId]:
    """Return the ids at the indexes from `low` up to but not including `high`. O(1) for each, in C."""
    return iter(ids[low:high]) if isinstance(ids, range) else ids.between(low, high)


def pack_ids(ids: Sequence[StreamId]) -> IdSequence:
    """Return `ids`, which rise and are not empty, in the smallest form. O(n), O(1) for a range."""
    if isinstance(ids, range):
        return ids
    if are_consecutive(ids):
        return range(ids[0], ids[-1] + 1)
    return ids if isinstance(ids, PackedIds) else PackedIds.of(ids)


def are_consecutive(ids: Sequence[StreamId]) -> bool:
    """Whether `ids`, which rise and are not empty, are consecutive. O(1)."""
    return ids[-1] - ids[0] == len(ids) - 1


def as_run(ids: Sequence[StreamId]) -> Sequence[StreamId]:
    """Return `ids`, which rise, as a range if there are at least `RUN_MIN` and they are consecutive. O(1)."""
    if len(ids) < RUN_MIN or not are_consecutive(ids):
        return ids
    return range(ids[0], ids[-1] + 1)


def are_same(some: Sequence[StreamId], others: Sequence[StreamId]) -> bool:
    """Whether both have the same ids in the same order. O(n) in C, O(1) for two ranges."""
    if isinstance(some, range) and isinstance(others, range):
        return some == others
    return len(some) == len(others) and all(map(eq, some, others))


def count_below(ids: Sequence[StreamId], wanted: StreamId) -> int:
    """Return how many of the rising `ids` are below `wanted`. O(log n), O(1) for a range."""
    if isinstance(ids, range):
        return min(max(wanted - ids.start, 0), len(ids))
    if isinstance(ids, PackedIds):
        return ids.bisect(wanted)
    return bisect_left(ids, wanted)


def position_of(ids: Sequence[StreamId], wanted: StreamId) -> int:
    """Return the index of `wanted` in the rising `ids`, or -1. O(log n), O(1) for a range."""
    if isinstance(ids, PackedIds):
        return ids.position_of(wanted)
    position = count_below(ids, wanted)
    return position if position < len(ids) and ids[position] == wanted else -1
