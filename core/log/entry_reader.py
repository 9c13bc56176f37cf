"""Reading the entries of a log: by id, by many ids, by range.

Finding an entry is a bisection of the blocks and another one in the block. This module never changes the log.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final, TypeAlias

from tailrace.core.id_keys import rising
from tailrace.core.log.block import Block
from tailrace.core.log.block_index import NO_BOUND, BlockIndex, live_positions
from tailrace.core.log.decoded import ById, Fragments, Packed
from tailrace.core.log.id_sequence import are_same, count_below
from tailrace.core.stream_id import MAX_ID, ZERO_ID, StreamId

_Opened: TypeAlias = tuple[StreamId, Fragments]
"""A block that `get_many` reads: the id at position 0 of the fragments, or 0 if they are by id."""

_SINGLES: Final = 32
"""After an entry that the next one does not follow, so many are read one by one before the next look."""

_SEARCHES_PER_TABLE: Final = 10
"""A table of a block's positions costs about as much as this many searches."""


class EntryReader(BlockIndex):
    """The entries of one log, for reading. n: entries, m: entries of one call, b: blocks."""

    __slots__ = ()

    # --- by id ---------------------------------------------------------------------------------

    def get(self, value: StreamId) -> bytes | None:
        """Return the stored form of the live entry `value`, or None. O(log n)."""
        number = bisect_right(self._first_ids, value)
        if not number:
            return None
        block = self._blocks[number - 1]
        if value > block.last_id:
            return None
        entries = self.cache.few(block)
        position = value - block.first_id if block.is_run else entries.position_of(value)
        if position is None or block.holes >> position & 1:
            return None
        return entries[position] if isinstance(entries, Packed) else entries.fragments[position]

    def get_many(self, ids: Sequence[StreamId], max_bytes: int | None = None) -> list[bytes | None]:
        """Return the stored forms of `ids` in their order, None for ids without an entry. O(m log b), and
        O(m) in C if the ids follow each other as in the log.

        `max_bytes`: the result ends with the fragment that exceeds this sum, and is then shorter than `ids`.
        """
        if len(ids) == 1:
            return [self.get(ids[0])]
        left = NO_BOUND if max_bytes is None else max_bytes
        opened: dict[int, _Opened] = {0: (0, {})}
        found: list[bytes | None] = []
        while len(found) < len(ids) and left >= 0:
            start = len(found)
            stretch = self._stretch(ids, start)
            if stretch is None:
                left = self._read_singly(ids[start : start + _SINGLES], opened, found, left)
            else:
                left -= sum(map(len, stretch))
                found += stretch
        if left < 0:
            _cut_after(found, left)
        return found

    def _stretch(self, ids: Sequence[StreamId], start: int) -> Sequence[bytes] | None:
        """Return the fragments of the ids from `start` on that follow each other in one block without holes,
        at least two; None if the first two do not. O(log b) if they do not, else O(result) in C."""
        value, following = ids[start], ids[start + 1] if start + 1 < len(ids) else 0
        index = bisect_right(self._first_ids, value) - 1
        if following <= value or index < 0:
            return None
        block = self._blocks[index]
        if following > block.last_id or block.holes or (block.is_run and following != value + 1):
            return None
        decoded = self.cache.get(block)
        position = decoded.position_of(value)
        if position is None or decoded.ids[position + 1] != following:
            return None
        return decoded.fragments[position : position + _length_in_common(ids, start, decoded.ids, position)]

    def _read_singly(
        self, ids: Sequence[StreamId], opened: dict[int, _Opened], found: list[bytes | None], left: int
    ) -> int:
        """Add the fragment of each of `ids` to `found`, up to the one with which the `left` bytes fall below
        0, and return the bytes that are left. `opened`: by the number of blocks that begin up to them."""
        firsts = self._first_ids
        for value in ids:
            number = bisect_right(firsts, value)
            place = opened.get(number)
            if place is None:
                place = opened[number] = self._open(self._blocks[number - 1])
            base, fragments = place
            try:
                fragment = fragments[value - base]
            except LookupError:
                found.append(None)
                continue
            found.append(fragment)
            left -= len(fragment)
            if left < 0:
                break
        return left

    def _open(self, block: Block) -> _Opened:
        entries = self.cache.few(block)
        fragments = entries if isinstance(entries, Packed) else entries.fragments
        if not block.holes and (entries.base is not None or block.is_run):
            return block.first_id, fragments
        return 0, ById(entries.position_of, fragments, block.holes)

    def __contains__(self, value: StreamId) -> bool:
        index = bisect_right(self._first_ids, value) - 1
        if index < 0 or value > self._blocks[index].last_id:
            return False
        block = self._blocks[index]
        position = self._position_in(block, value)
        return position is not None and not block.holes >> position & 1

    def _position_in(self, block: Block, value: StreamId) -> int | None:
        """Return the position of `value`, at most the block's last id. Consecutive ids need no decoding."""
        return value - block.first_id if block.is_run else self.cache.get(block).position_of(value)

    def live_among(self, ids: Iterable[StreamId]) -> list[StreamId]:
        """Return the live ones of `ids`, rising, each once. O(m log m), and one read of each block."""
        return [value for _, _, values in self._by_block(rising(ids)) for value in values]

    def _by_block(
        self, ordered: Sequence[StreamId]
    ) -> Iterator[tuple[int, Sequence[int], Sequence[StreamId]]]:
        """Yield the index of each block that contains live ones of `ordered`, with their positions and ids.
        The ids rise."""
        start = 0
        while start < len(ordered):
            index = bisect_right(self._first_ids, ordered[start]) - 1
            if index < 0:
                start = bisect_left(ordered, self._first_ids[0]) if self._first_ids else len(ordered)
                continue
            after = self._first_ids[index + 1] if index + 1 < len(self._first_ids) else MAX_ID + 1
            end = bisect_left(ordered, after, start)
            found = self._found_in(self._blocks[index], ordered[start:end])
            if found:
                yield index, list(found), list(found.values())
            start = end

    def _found_in(self, block: Block, values: Sequence[StreamId]) -> dict[int, StreamId]:
        """Return the live ones of `values` by position; no value is below the block."""
        holes = block.holes
        some = values[: bisect_right(values, block.last_id)]
        if block.is_run:
            first_id = block.first_id
            return {value - first_id: value for value in some if not holes >> (value - first_id) & 1}
        are_few = len(some) < _SEARCHES_PER_TABLE
        position_of = self.cache.few(block).position_of if are_few else self.cache.get(block).index()
        found = zip(map(position_of, some), some, strict=True)
        return {at: value for at, value in found if at is not None and not holes >> at & 1}

    # --- by range ------------------------------------------------------------------------------

    def range(
        self,
        start: StreamId = ZERO_ID,
        end: StreamId = MAX_ID,
        count: int | None = None,
        *,
        reverse: bool = False,
        max_bytes: int | None = None,
    ) -> tuple[list[StreamId], list[bytes]]:
        """Return the live entries between two ids, both included, as ids and fragments. O(log n + m).

        `count`: the maximum number of entries. `max_bytes`: the result ends with the fragment that reaches
        this sum. None: no limit.
        """
        ids: list[StreamId] = []
        fragments: list[bytes] = []
        for some_ids, some_fragments in self._pieces(start, end, reverse=reverse):
            ids.extend(some_ids)
            fragments.extend(some_fragments)
            if count is not None and len(ids) >= count:
                del ids[count:], fragments[count:]
                break
            if max_bytes is not None and some_ids:
                max_bytes -= sum(map(len, some_fragments))
                if max_bytes <= 0:
                    _cut_to_bytes(ids, fragments, len(some_ids), max_bytes)
                    break
        return ids, fragments

    def _pieces(
        self, start: StreamId, end: StreamId, *, reverse: bool
    ) -> Iterator[tuple[Sequence[StreamId], Sequence[bytes]]]:
        """Yield the live entries between two ids, block by block, as ids and fragments."""
        first = max(bisect_right(self._first_ids, start) - 1, 0)
        last = bisect_right(self._first_ids, end)
        step = -1 if reverse else 1
        for index in range(last - 1, first - 1, -1) if reverse else range(first, last):
            block = self._blocks[index]
            decoded = self.cache.scan(block)
            ids, fragments = decoded.ids, decoded.fragments
            low = count_below(ids, start) if block.first_id < start else 0
            high = count_below(ids, end + 1) if block.last_id > end else block.count
            if block.holes:
                live = live_positions(block.holes, low, high)[::step]
                yield [ids[i] for i in live], [fragments[i] for i in live]
            elif reverse:
                yield ids[low:high][::-1], fragments[low:high][::-1]
            else:
                yield ids[low:high], fragments[low:high]


def _length_in_common(
    ids: Sequence[StreamId], start: int, block_ids: Sequence[StreamId], position: int
) -> int:
    """Return how many of ``ids[start:]`` are the ids from `position` on without a gap; the first two are.
    O(length) in C if all are."""
    length = min(len(ids) - start, len(block_ids) - position)
    some, others = ids[start : start + length], block_ids[position : position + length]
    if are_same(some, others):
        return length
    return next(at for at, (one, other) in enumerate(zip(some, others, strict=True)) if one != other)


def _cut_after(found: list[bytes | None], left: int) -> None:
    """Cut `found` after the fragment with which the remaining bytes fell below 0; `left`: what remains after
    the last fragment of `found`."""
    while (left := left + len(found[-1] or b"")) < 0:
        del found[-1]


def _cut_to_bytes(ids: list[StreamId], fragments: list[bytes], last_piece: int, overshoot: int) -> None:
    """Drop the entries after the one that reached the budget. `last_piece`: how many entries the last block
    added; `overshoot`: the budget that remains after them, 0 or less."""
    sizes = list(map(len, fragments[-last_piece:]))
    budget = overshoot + sum(sizes)
    keep = next(i for i, used in enumerate(accumulate(sizes), start=1) if used >= budget)
    kept = len(ids) - last_piece + keep
    del ids[kept:], fragments[kept:]
