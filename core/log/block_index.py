"""The blocks of a log by id, and what follows from them without reading entries: counts, ranks, spans, bytes.

Finding a block is a bisection of the blocks' first ids. Only a block in which a count begins or ends may have
to be decompressed. The deleted positions of a block (holes) are the bits of one int: bit i is set if position
i is a hole. This module never changes the blocks and never returns an entry's fields.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from tailrace.core.log.block import Block
from tailrace.core.log.block_cache import BlockCache
from tailrace.core.log.id_sequence import count_below
from tailrace.core.stream_id import ZERO_ID, StreamId


def first_live(holes: int, position: int = 0) -> int:
    """Return the lowest live position from `position` on; the block's end or above if there is none."""
    rest = holes >> position
    return position + (~rest & (rest + 1)).bit_length() - 1


def last_live(holes: int, count: int) -> int:
    """Return the highest live one of `count` positions; there must be one."""
    return (~holes & ((1 << count) - 1)).bit_length() - 1


def live_positions(holes: int, low: int, high: int) -> Sequence[int]:
    """Return the live positions in ``[low, high)``, rising. O(1) without holes, else O(high - low)."""
    if not holes:
        return range(low, high)
    return [position for position in range(low, high) if not holes >> position & 1]


def live_stretches(holes: int, end: int) -> list[int]:
    """Return the bounds of the stretches of live positions below `end`, rising: where each begins, and the
    position after it. O(end)."""
    live = ~holes & ((1 << end) - 1)
    changes = live ^ live << 1
    return [position for position, bit in enumerate(reversed(f"{changes:b}")) if bit == "1"]


_NONE: Final = array("Q")
"""The counts of all logs that never had a second block. Nothing is ever added to it."""


class LiveCounts:
    """The counts of one log. b: blocks. They take 8 bytes for each block, from the first question on."""

    __slots__ = ("_below",)

    def __init__(self) -> None:
        # For each block but the first, the live entries between the first block and this one, plus a
        # constant. So trimming the first block, or dropping blocks before it, changes none of them.
        self._below = _NONE

    def before(self, blocks: Sequence[Block], index: int) -> int:
        """Return how many live entries are in the blocks before `index`. O(1), and O(1) for each block that
        is not counted yet."""
        if not index:
            return 0
        self._count_up_to(blocks, index)
        return blocks[0].live + self._below[index] - self._below[1]

    def block_at(self, blocks: Sequence[Block], rank: int) -> int:
        """Return the index of the block that has the entry with `rank` live entries below it, which exists.
        O(log b) if all blocks are counted."""
        in_first = blocks[0].live
        if rank < in_first:
            return 0
        self._count_up_to(blocks, len(blocks) - 1)
        below = self._below
        return bisect_right(below, rank - in_first + below[1], 1) - 1

    def dropped_first(self, count: int) -> None:
        """Forget the first `count` blocks, which the log has dropped. O(b) in C."""
        del self._below[:count]

    def changed_at(self, index: int) -> None:
        """Count the blocks after `index` again: entries of this block, or all of it, were removed. O(1)."""
        if index:
            del self._below[index + 1 :]

    def _count_up_to(self, blocks: Sequence[Block], index: int) -> None:
        below = self._below
        if len(below) <= 1:
            self._below = below = array("Q", (0, 0))
        if index >= len(below):
            added = (block.live for block in blocks[len(below) - 1 : index])
            below.extend(accumulate(added, initial=below.pop()))


NO_BOUND: Final = 1 << 62
"""More entries or bytes than any log has."""


class BlockIndex:
    """The blocks of one log. n: entries, m: entries of one call, b: blocks (about n / 100)."""

    __slots__ = (
        "_blocks",
        "_deleted_up_to",
        "_first_ids",
        "_has_large_entries",
        "_live_counts",
        "cache",
        "ended_bytes",
        "length",
    )

    def __init__(self, cache: BlockCache) -> None:
        # The blocks in order of their ids; each has at least one live entry.
        self._blocks: list[Block] = []
        # The first id of each block, deleted or not.
        self._first_ids: list[StreamId] = []
        # Decompressed blocks, shared by all logs of a keyspace.
        self.cache = cache
        # The number of live entries.
        self.length = 0
        # The bytes of the fragments of all blocks that get no further entry.
        self.ended_bytes = 0
        # The greatest id that `remove` ever removed: blocks above it have no holes except from trimming.
        # Restored logs have their last id here.
        self._deleted_up_to = ZERO_ID
        # Whether a block with a single position was ever filled: its entry is large.
        self._has_large_entries = False
        # The live entries before each block. A hint that saves time, not stored.
        self._live_counts = LiveCounts()

    @property
    def blocks(self) -> Sequence[Block]:
        """The blocks in order of their ids; each has at least one live entry."""
        return self._blocks

    @property
    def first_id(self) -> StreamId:
        """The first live id, 0-0 for an empty log. O(1) unless the first block begins with a hole: then it is
        decoded."""
        if not self._blocks:
            return ZERO_ID
        block = self._blocks[0]
        return self.cache.get(block).ids[first_live(block.holes)] if block.holes else block.first_id

    @property
    def last_id(self) -> StreamId:
        """The last live id, 0-0 for an empty log. O(1) unless the last block has holes and is sealed: then it
        is decoded."""
        if not self._blocks:
            return ZERO_ID
        block = self._blocks[-1]
        if not block.holes:
            return block.last_id
        return self.cache.get(block).ids[last_live(block.holes, block.count)]

    def index_of(self, value: StreamId) -> int:
        """Return the index of the last block that begins at or below `value`, 0 if there is none. O(log
        b)."""
        return max(bisect_right(self._first_ids, value) - 1, 0)

    def first_after(self, value: StreamId, *, decode: bool = True) -> StreamId | None:
        """Return the first live id above `value`, None if there is none, or if it is unknown without decoding
        a block and `decode` is False. O(log b), and one block may be decoded."""
        start = self.index_of(value)
        for block in self._blocks[start : start + 2]:
            if block.last_id <= value:
                continue
            if value < block.first_id and not block.holes:
                return block.first_id
            if not (decode or block.is_open or block.is_run):
                return None
            ids = self._ids_of(block)
            positions = live_positions(block.holes, count_below(ids, value + 1), block.count)
            if positions:
                return ids[positions[0]]
        return None

    def count_after(self, value: StreamId, most: int) -> int:
        """Return how many live entries are above `value`, but at most `most`. O(log b + most / 100), and one
        block may be decoded."""
        start, found = self.index_of(value), 0
        for index in range(start, len(self._blocks)):
            block = self._blocks[index]
            if value < block.first_id:
                found += block.live
            elif value < block.last_id:
                position = count_below(self._ids_of(block), value + 1)
                found += len(live_positions(block.holes, position, block.count))
            if found >= most:
                return most
        return found

    # --- counting ------------------------------------------------------------------------------

    def rank(self, value: StreamId) -> int:
        """Return how many live entries are below `value`. O(log b), and one block is decoded. The first time,
        and after removals in the middle of the log, O(b)."""
        index = bisect_right(self._first_ids, value) - 1
        if index < 0:
            return 0
        before = self._live_counts.before(self._blocks, index)
        block = self._blocks[index]
        position = count_below(self.cache.get(block).ids, value)
        return before + len(live_positions(block.holes, 0, position))

    def count_above(self, value: StreamId, *, decode: bool = True) -> int | None:
        """Return how many live entries are above `value`; None if it is unknown without decoding a block and
        `decode` is False. The cost is that of `rank`."""
        index = bisect_right(self._first_ids, value) - 1
        if index < 0:
            return self.length
        block = self._blocks[index]
        after = self.length - self._live_counts.before(self._blocks, index) - block.live
        if value >= block.last_id:
            return after
        if not (decode or block.is_open or block.is_run):
            return None
        position = count_below(self._ids_of(block), value + 1)
        return after + len(live_positions(block.holes, position, block.count))

    def has_more_than(self, count: int, start: StreamId, end: StreamId) -> bool:
        """Whether the blocks that are completely between two ids have more than `count` live entries
        together. O(log b + count / 100)."""
        first, last = bisect_left(self._first_ids, start), bisect_right(self._first_ids, end) - 1
        for index in range(first, last):
            count -= self._blocks[index].live
            if count < 0:
                return True
        return False

    def surely_exceeds(
        self, max_bytes: int, start: StreamId, end: StreamId, count: int | None, *, reverse: bool
    ) -> bool:
        """Whether two or more of the first `count` entries between two ids (None: of all) certainly take more
        than `max_bytes` in a reply together. False if that is not certain.

        Only blocks with a single position count. Nothing is decompressed. O(b), O(1) if no entry is large.
        """
        if not self._has_large_entries:
            return False
        left = NO_BOUND if count is None else count
        entries = 0
        indexes = range(self.index_of(start), bisect_right(self._first_ids, end))
        for index in reversed(indexes) if reverse else indexes:
            block = self._blocks[index]
            left -= block.live
            if left < 0:
                break
            if block.count == 1 and start <= block.first_id:
                entries += 1
                max_bytes -= block.least_bytes()
                if max_bytes < 0 and entries > 1:
                    return True
        return False

    def at_ranks(self, ranks: Sequence[int]) -> list[StreamId]:
        """Return, for each rank, the id of the entry that has that many live entries below it.

        `ranks` rise and are below the length. Only blocks that contain a result are decoded. O(ranks log b);
        O(b) when `rank` takes as much.
        """
        ids: list[StreamId] = []
        while len(ids) < len(ranks):
            index = self._live_counts.block_at(self._blocks, ranks[len(ids)])
            block = self._blocks[index]
            below = self._live_counts.before(self._blocks, index)
            end = bisect_left(ranks, below + block.live, len(ids))
            positions = live_positions(block.holes, 0, block.count)
            block_ids = self._ids_of(block)
            ids += [block_ids[positions[rank - below]] for rank in ranks[len(ids) : end]]
        return ids

    def _ids_of(self, block: Block) -> Sequence[StreamId]:
        """Return the ids of `block` by position. Consecutive ids need no decoding."""
        return range(block.first_id, block.last_id + 1) if block.is_run else self.cache.scan(block).ids

    def spans_of_first(self, count: int) -> tuple[list[StreamId], list[StreamId]]:
        """Return the first `count` live entries, at least one, as spans of ids: the first and the last id of
        each, both included. The spans rise and contain no deleted entry.

        O(b + spans), and blocks with holes are decoded. One span if no entry was ever removed before the last
        of them.
        """
        [last_id] = self.at_ranks([count - 1])
        firsts: list[StreamId] = []
        lasts: list[StreamId] = []
        for block in self._blocks:
            if block.first_id > last_id:
                break
            if block.holes:
                self._add_spans(firsts, lasts, block, last_id)
            elif block.first_id > self._deleted_up_to:
                _join(firsts, lasts, [block.first_id], [last_id])
                break
            else:
                _join(firsts, lasts, [block.first_id], [min(block.last_id, last_id)])
        return firsts, lasts

    def _add_spans(
        self, firsts: list[StreamId], lasts: list[StreamId], block: Block, last_id: StreamId
    ) -> None:
        """Add the spans of `block`, up to `last_id`, that have no holes."""
        ids = self._ids_of(block)
        bounds = live_stretches(block.holes, count_below(ids, last_id + 1))
        _join(firsts, lasts, [ids[at] for at in bounds[::2]], [ids[at - 1] for at in bounds[1::2]])


def _join(
    firsts: list[StreamId], lasts: list[StreamId], more: Sequence[StreamId], ends: Sequence[StreamId]
) -> None:
    """Add spans above all others, at least one. If the first one begins right after the last of the others,
    it extends that one."""
    if lasts and lasts[-1] + 1 == more[0]:
        lasts[-1:] = ends
        firsts += more[1:]
    else:
        firsts += more
        lasts += ends


def fragment_bytes(log: BlockIndex) -> int:
    """Return the bytes of all entries. O(entries of the last block)."""
    return log.ended_bytes + (log.blocks[-1].open_bytes if log.blocks else 0)


def count_above_bytes(log: BlockIndex, most: int) -> int:
    """Return how many entries the first blocks have that must go so that the others take `most` bytes. The
    last block stays. O(blocks counted)."""
    left, count = fragment_bytes(log), 0
    for block in log.blocks[:-1]:
        if left <= most:
            break
        left -= block.fragment_bytes
        count += block.live
    return count


def bytes_between(log: BlockIndex, first: int, end: int) -> int:
    """Return the bytes of the blocks that have only the first `end` entries, without those that have only the
    first `first`. O(1) if both are the same, else O(blocks counted)."""
    return _bytes_of_first(log, end) - _bytes_of_first(log, first) if first < end else 0


def _bytes_of_first(log: BlockIndex, count: int) -> int:
    taken = 0
    for block in log.blocks[:-1]:
        count -= block.live
        if count < 0:
            break
        taken += block.fragment_bytes
    return taken
