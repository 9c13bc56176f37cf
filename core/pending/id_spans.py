"""Spans of ids, and which members of a rising sequence of ids are inside of them.

A trim removes the references to all entries that it removes: every id from the first one on, but not those of
entries that were deleted before. So many deleted entries make many spans, and each group has to be compared
with all of them. This module compares sequences, and never changes a pending entries list.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from tailrace.core.id_keys import id_key, id_keys
from tailrace.core.log.id_sequence import PackedIds, count_below
from tailrace.core.stream_id import StreamId

_SEARCHES_PER_TABLE: Final = 4
"""One binary search costs about as much as adding this many ids to a table."""

_Content: TypeAlias = tuple[bytes, int]
"""The first id and the length of a range, or all ids, packed, and 0."""


class IdSpans:
    """Spans of ids that rise and do not overlap; at least one. s: spans, n: ids of one sequence.

    Groups that read a stream in equal portions have equal sequences of ids, so `mask` remembers its results.
    """

    __slots__ = ("_firsts", "_lasts", "_masks")

    def __init__(self, firsts: Sequence[StreamId], lasts: Sequence[StreamId]) -> None:
        """`firsts`, `lasts`: the lowest and the highest id of each span, both included."""
        self._firsts = firsts
        self._lasts = lasts
        self._masks: dict[_Content, bytes] = {}

    @property
    def bounds(self) -> tuple[StreamId, StreamId]:
        """The lowest and the highest id of all spans."""
        return self._firsts[0], self._lasts[-1]

    def contains_all(self, first: StreamId, last: StreamId) -> bool:
        """Whether one span contains all ids from `first` to `last`. O(log s)."""
        start, end = self._meeting(first, last)
        return end - start == 1 and self._firsts[start] <= first and last <= self._lasts[start]

    def meeting(self, first: StreamId, last: StreamId) -> Iterator[tuple[StreamId, StreamId]]:
        """Return the spans that have an id from `first` to `last`. O(log s)."""
        start, end = self._meeting(first, last)
        return zip(self._firsts[start:end], self._lasts[start:end], strict=True)

    def count_meeting(self, first: StreamId, last: StreamId) -> int:
        """Return how many spans have an id from `first` to `last`. O(log s)."""
        start, end = self._meeting(first, last)
        return end - start

    def _meeting(self, first: StreamId, last: StreamId) -> tuple[int, int]:
        """The indexes of these spans: from the first of the two up to but not including the second."""
        return bisect_left(self._lasts, first), bisect_right(self._firsts, last)

    def mask(self, ids: range | PackedIds) -> bytes:
        """Return a byte for each of the rising `ids`, 1 if a span contains the id. O(n) in C for a sequence
        that was given before, else as `fresh_mask`."""
        content = (id_key(ids.start), len(ids)) if isinstance(ids, range) else (ids.to_bytes(), 0)
        mask = self._masks.get(content)
        if mask is None:
            mask = self._masks[content] = self.fresh_mask(ids)
        return mask

    def fresh_mask(self, ids: Sequence[StreamId]) -> bytes:
        """Return a byte for each of the rising `ids`, as `mask` does, and remember nothing. O(n) in C, and
        O(log n) for each span between the ends of `ids`."""
        mask = bytearray(len(ids))
        start, stop = self._meeting(ids[0], ids[-1])
        firsts, lasts = self._firsts[start:stop], self._lasts[start:stop]
        if isinstance(ids, range):
            bounds = _bounds_in_range(ids, firsts, lasts)
        elif len(firsts) * _SEARCHES_PER_TABLE < len(ids):
            bounds = (
                (count_below(ids, a), count_below(ids, b + 1)) for a, b in zip(firsts, lasts, strict=True)
            )
        else:
            bounds = _bounds_in_table(ids, firsts, lasts)
        for begin, end in bounds:
            mask[begin:end] = b"\x01" * (end - begin)
        return bytes(mask)


_Bounds: TypeAlias = Iterable[tuple[int, int]]
"""For each span, the index of its first id and the index after its last one."""


def _bounds_in_range(ids: range, firsts: Sequence[StreamId], lasts: Sequence[StreamId]) -> _Bounds:
    least, most = ids.start, len(ids)
    begins = [max(value - least, 0) for value in firsts[:1]] + [value - least for value in firsts[1:]]
    ends = [value - least + 1 for value in lasts[:-1]] + [
        min(value - least + 1, most) for value in lasts[-1:]
    ]
    return zip(begins, ends, strict=True)


def _bounds_in_table(
    ids: Sequence[StreamId], firsts: Sequence[StreamId], lasts: Sequence[StreamId]
) -> _Bounds:
    """O(n) in C; O(log n) for each bound that is not one of `ids`."""
    position_of = dict(zip(id_keys(ids), range(len(ids)), strict=True)).get
    for first, last in zip(firsts, lasts, strict=True):
        begin, end = position_of(id_key(first)), position_of(id_key(last))
        yield (
            count_below(ids, first) if begin is None else begin,
            count_below(ids, last) if end is None else end + 1,
        )
