"""The entries of one stream, in order of their ids: a list of blocks, the last of them open.

Finding a block is a bisection of the blocks' first ids, finding an entry in it another one. Appending
touches the last block only. The log knows which entries are live; it knows nothing of groups, of the
ids that were used before (the stream's affair), or of time.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final, TypeAlias

from tailrace.core.log.block import Block, NodeLimits, PositionOf
from tailrace.core.log.block_cache import BlockCache
from tailrace.core.log.id_sequence import are_same, count_below
from tailrace.core.log.sealing import SealingQueue
from tailrace.core.stream_id import MAX_ID, ZERO_ID, StreamId

Opened: TypeAlias = tuple[PositionOf, Sequence[StreamId], Sequence[bytes], int]
"""A block to look entries up in: where an id stands, the ids and fragments by position, and the holes."""

_BEFORE_ALL: Final[Opened] = (lambda _: None, (), (), 0)
"""What an id below the first block's meets."""

_NO_BOUND: Final = 1 << 62

_SEARCHES_PER_TABLE: Final = 10
"""A table of a block's positions costs about as much as so many searches."""


class EntryLog:
    """n: entries, m: entries touched, b: blocks (about n / 100)."""

    __slots__ = (
        "_blocks",
        "_deleted_up_to",
        "_firsts",
        "_has_large_entries",
        "cache",
        "length",
        "removed_ids",
        "sealing",
    )

    def __init__(self, cache: BlockCache, sealing: SealingQueue | None = None) -> None:
        """`sealing`: where full blocks go; without one they are sealed at once."""
        self._blocks: list[Block] = []
        self._firsts: list[StreamId] = []
        self.cache = cache
        self.sealing = sealing or SealingQueue()
        self.length = 0
        # No id above this one was taken out of the middle.
        self._deleted_up_to = ZERO_ID
        # Whether a block was ever sealed with one entry, because the entry fills it alone.
        self._has_large_entries = False
        # First ids of blocks that storage holds and the log does not any more; storage empties it.
        self.removed_ids: list[StreamId] = []

    def restore(self, blocks: Sequence[Block]) -> None:
        """Take over `blocks`, in order, as storage knew them. O(b)."""
        self._blocks = list(blocks)
        self._firsts = [block.first_id for block in blocks]
        self.length = sum(block.live for block in blocks)
        self._has_large_entries = any(block.count == 1 for block in blocks)
        # What was deleted before is not known any more.
        self._deleted_up_to = blocks[-1].last_id if blocks else ZERO_ID

    def copy(self, serial: int) -> EntryLog:
        """The same entries, as the log of the stream `serial`. O(b): payloads are shared."""
        twin = EntryLog(self.cache, self.sealing)
        filed_under: dict[tuple[int, ...], tuple[int, ...]] = {}
        for block in self._blocks:
            serials = block.filed_under
            if serials not in filed_under:
                filed_under[serials] = (serial, *serials)
            twin._blocks.append(block.copy(filed_under[serials]))
        for block in twin._blocks[:-1]:
            if block.is_open:
                twin.sealing.add(block)
        twin._firsts = self._firsts.copy()
        twin.length = self.length
        twin._deleted_up_to = self._deleted_up_to
        twin._has_large_entries = self._has_large_entries
        return twin

    @property
    def blocks(self) -> Sequence[Block]:
        """The blocks in order; each has at least one live entry."""
        return self._blocks

    @property
    def first_id(self) -> StreamId:
        """The first live id, 0-0 where there is none. O(1) where the first block was decoded before."""
        if not self._blocks:
            return ZERO_ID
        block = self._blocks[0]
        return self.cache.get(block).ids[block.first_live_position()] if block.holes else block.first_id

    @property
    def last_id(self) -> StreamId:
        """The last live id, 0-0 where there is none. O(1)."""
        if not self._blocks:
            return ZERO_ID
        block = self._blocks[-1]
        return self.cache.get(block).ids[block.last_live_position()] if block.holes else block.last_id

    # --- appending -----------------------------------------------------------------------------

    def append(self, ids: Sequence[StreamId], fragments: Sequence[bytes], limits: NodeLimits) -> None:
        """Append entries whose ids rise above all before. O(m), and one compression a full block, now
        or later: see `core.log.sealing`."""
        count = len(ids)
        if count > 1:
            self._extend(ids, fragments, limits)
        elif not (self._blocks and self._blocks[-1].append(ids[0], fragments[0], limits)):
            self._begin_block(ids[0], fragments[0]).append(ids[0], fragments[0], limits)
        self.length += count

    def _extend(self, ids: Sequence[StreamId], fragments: Sequence[bytes], limits: NodeLimits) -> None:
        lengths = list(map(len, fragments))
        start = 0
        block = self._blocks[-1] if self._blocks else self._begin_block(ids[0], fragments[0])
        while (start := start + block.extend(ids, fragments, lengths, start, limits)) < len(ids):
            block = self._begin_block(ids[start], fragments[start])
        block.keep_open()

    def _begin_block(self, value: StreamId, fragment: bytes) -> Block:
        """A new block for that entry; the one before it is full."""
        if self._blocks and self._blocks[-1].is_open:
            self._has_large_entries |= self._blocks[-1].count == 1
            self.sealing.add(self._blocks[-1])
        block = Block(value, fragment)
        self._blocks.append(block)
        self._firsts.append(value)
        return block

    # --- reading -------------------------------------------------------------------------------

    def get(self, value: StreamId) -> bytes | None:
        """The fragment of the live entry `value`, or None. O(log n)."""
        found = self._locate(value)
        if found is None:
            return None
        block, position = found
        return self.cache.get(block).fragments[position]

    def get_many(self, ids: Sequence[StreamId], max_bytes: int | None = None) -> list[bytes | None]:
        """The fragments of `ids` in their order, None where there is no such entry. O(m log b), and in C
        where they follow each other as in the log.

        `max_bytes` ends after the fragment that exceeds it: the list is shorter than `ids` then.
        """
        left = _NO_BOUND if max_bytes is None else max_bytes
        firsts = self._firsts
        opened: dict[int, Opened] = {-1: _BEFORE_ALL}
        found: list[bytes | None] = []
        start = 0
        while start < len(ids):
            index = bisect_right(firsts, ids[start]) - 1
            if index not in opened:
                block = self._blocks[index]
                decoded = self.cache.get(block)
                opened[index] = (decoded.position_of, decoded.ids, decoded.fragments, block.holes)
            position_of, block_ids, fragments, holes = opened[index]
            position = position_of(ids[start])
            if position is None or (holes and holes >> position & 1):
                found.append(None)
                start += 1
                continue
            follows = start + 1 < len(ids) and position + 1 < len(block_ids) and not holes
            if not follows or ids[start + 1] != block_ids[position + 1]:
                length = 1
                fragment = fragments[position]
                found.append(fragment)
                left -= len(fragment)
            else:
                length = _length_in_common(ids, start, block_ids, position)
                some = fragments[position : position + length]
                left -= sum(map(len, some))
                found += some
            start += length
            if left < 0:
                _cut_behind(found, left)
                break
        return found

    def __contains__(self, value: StreamId) -> bool:
        return self._locate(value) is not None

    def index_of(self, value: StreamId) -> int:
        """Which block holds `value`, or the one before it if none does; 0 where there is none. O(log b)."""
        return max(bisect_right(self._firsts, value) - 1, 0)

    def _block_of(self, value: StreamId) -> Block | None:
        index = bisect_right(self._firsts, value) - 1
        return self._blocks[index] if index >= 0 else None

    def _locate(self, value: StreamId) -> tuple[Block, int] | None:
        block = self._block_of(value)
        if block is None or value > block.last_id:
            return None
        position = self._position_in(block, value)
        return None if position is None or block.holes >> position & 1 else (block, position)

    def _position_in(self, block: Block, value: StreamId) -> int | None:
        """Where `value`, at most the block's last id, is in it. Consecutive ids need no decoding."""
        if block.is_run:
            return value - block.first_id
        return self.cache.get(block).position_of(value)

    def live_among(self, ids: Iterable[StreamId]) -> set[StreamId]:
        """Those of `ids` that are live entries. O(m log m), and one look at each block concerned."""
        return {value for _, _, values in self._by_block(sorted(set(ids))) for value in values}

    def _by_block(
        self, ordered: Sequence[StreamId]
    ) -> Iterator[tuple[int, Sequence[int], Sequence[StreamId]]]:
        """Each block's index that holds some of the rising `ordered`, with their positions and themselves."""
        start = 0
        while start < len(ordered):
            index = bisect_right(self._firsts, ordered[start]) - 1
            if index < 0:
                start = bisect_left(ordered, self._firsts[0]) if self._firsts else len(ordered)
                continue
            after = self._firsts[index + 1] if index + 1 < len(self._firsts) else MAX_ID + 1
            end = bisect_left(ordered, after, start)
            found = self._found_in(self._blocks[index], ordered[start:end])
            if found:
                yield index, list(found), list(found.values())
            start = end

    def _found_in(self, block: Block, values: Sequence[StreamId]) -> dict[int, StreamId]:
        """The live ones of `values`, none of which is below the block, by position."""
        holes = block.holes
        some = values[: bisect_right(values, block.last_id)]
        if block.is_run:
            first_id = block.first_id
            return {value - first_id: value for value in some if not holes >> (value - first_id) & 1}
        decoded = self.cache.get(block)
        if len(some) >= _SEARCHES_PER_TABLE:
            decoded.index()
        found = zip(map(decoded.position_of, some), some, strict=True)
        return {at: value for at, value in found if at is not None and not holes >> at & 1}

    def range(
        self,
        start: StreamId = ZERO_ID,
        end: StreamId = MAX_ID,
        count: int | None = None,
        *,
        reverse: bool = False,
        max_bytes: int | None = None,
    ) -> tuple[list[StreamId], list[bytes]]:
        """Live entries between two ids, both included, as ids and fragments. O(log n + m).

        At most `count`; `max_bytes` ends after the fragment that reaches it.
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
        first = max(bisect_right(self._firsts, start) - 1, 0)
        last = bisect_right(self._firsts, end)
        step = -1 if reverse else 1
        for index in range(last - 1, first - 1, -1) if reverse else range(first, last):
            block = self._blocks[index]
            decoded = self.cache.scan(block)
            ids, fragments = decoded.ids, decoded.fragments
            low = count_below(ids, start) if block.first_id < start else 0
            high = count_below(ids, end + 1) if block.last_id > end else block.count
            if block.holes:
                live = block.live_positions(low, high)[::step]
                yield [ids[i] for i in live], [fragments[i] for i in live]
            elif reverse:
                yield ids[low:high][::-1], fragments[low:high][::-1]
            else:
                yield ids[low:high], fragments[low:high]

    def spans_of_first(self, count: int) -> list[tuple[StreamId, StreamId]]:
        """The first `count` live entries, at least one, as spans of ids, rising: no deleted entry lies in
        one.

        O(1) spans where no entry was deleted before the last of them; else O(b), and the blocks with holes
        are decoded.
        """
        [last_id] = self.at_ranks([count - 1])
        spans: list[tuple[StreamId, StreamId]] = []
        for block in self._blocks:
            if block.first_id > last_id:
                break
            if block.holes:
                for first, last in self._live_stretches(block, last_id):
                    _add_span(spans, first, last)
            elif block.first_id > self._deleted_up_to:
                _add_span(spans, block.first_id, last_id)
                break
            else:
                _add_span(spans, block.first_id, min(block.last_id, last_id))
        return spans

    def _live_stretches(self, block: Block, last_id: StreamId) -> Iterator[tuple[StreamId, StreamId]]:
        """The stretches of `block` without holes, up to `last_id`, as spans of ids."""
        ids = self._ids_of(block)
        end = count_below(ids, last_id + 1)
        position = block.first_live_position()
        while position < end:
            after = block.first_hole_from(position, end)
            yield ids[position], ids[after - 1]
            position = block.first_live_from(after)

    # --- removing ------------------------------------------------------------------------------

    def remove(self, ids: Sequence[StreamId]) -> None:
        """Remove live entries, whose ids rise. O(m log m), and one look at each block concerned."""
        emptied = []
        removed = 0
        for index, positions, _ in self._by_block(ids):
            block = self._blocks[index]
            removed += len(positions)
            if block.live == len(positions):
                emptied.append(index)
            elif block.remove(positions):
                self.cache.forget(block)
        assert removed == len(ids), "only live entries can be removed"
        self.length -= removed
        self._deleted_up_to = max(self._deleted_up_to, ids[-1])
        last = self._blocks[-1]
        for index in reversed(emptied):
            self._drop(index)
        if self._blocks and self._blocks[-1] is not last and self._blocks[-1].is_open:
            # It was full before: whether it may take entries must not depend on whether it was sealed by now.
            self._blocks[-1].seal()

    def trim_front(self, count: int) -> StreamId:
        """Remove the first `count` live entries: whole blocks, then holes in one. O(blocks + 100).

        Gives the last id that is gone; `count` is not 0.
        """
        self.length -= count
        last_id = ZERO_ID
        whole = 0
        while count and self._blocks[whole].live <= count:
            count -= self._blocks[whole].live
            last_id = self._blocks[whole].last_id
            self._forget(self._blocks[whole])
            whole += 1
        del self._blocks[:whole], self._firsts[:whole]
        return self._trim_block(self._blocks[0], count) if count else last_id

    def _trim_block(self, block: Block, count: int) -> StreamId:
        positions = block.live_positions(0, block.count)[:count]
        last_id = self._ids_of(block)[positions[-1]]
        if block.remove(positions):
            self.cache.forget(block)
        return last_id

    def _forget(self, block: Block) -> None:
        self.cache.forget(block)
        if block.stored:
            self.removed_ids.append(block.first_id)

    def _drop(self, index: int) -> None:
        self._forget(self._blocks[index])
        del self._blocks[index], self._firsts[index]

    def drop_last_blocks(self, count: int) -> int:
        """Free up to `count` blocks of a log that is in no stream any more; how many. O(count)."""
        self.length = 0
        dropped = self._blocks[-count:]
        del self._blocks[-count:], self._firsts[-count:]
        for block in dropped:
            self.cache.forget(block)
        return len(dropped)

    # --- counting, from the block index --------------------------------------------------------

    def rank(self, value: StreamId) -> int:
        """How many live entries are below `value`. O(b), and one block is decoded."""
        index = bisect_right(self._firsts, value) - 1
        if index < 0:
            return 0
        before = sum(block.live for block in self._blocks[:index])
        block = self._blocks[index]
        position = count_below(self.cache.get(block).ids, value)
        return before + len(block.live_positions(0, position))

    def has_more_than(self, count: int, start: StreamId, end: StreamId) -> bool:
        """Whether the blocks between two ids alone have more than `count` live entries. O(count / 100)."""
        first, last = bisect_left(self._firsts, start), bisect_right(self._firsts, end) - 1
        for index in range(first, last):
            count -= self._blocks[index].live
            if count < 0:
                return True
        return False

    def surely_exceeds(
        self, max_bytes: int, start: StreamId, end: StreamId, count: int | None, *, reverse: bool
    ) -> bool:
        """Whether two or more of the first `count` entries between two ids together take more than
        `max_bytes` in a reply, by the blocks that one entry fills alone. Nothing is decompressed. O(blocks),
        O(1) where no entry fills a block."""
        if not self._has_large_entries:
            return False
        left = _NO_BOUND if count is None else count
        entries = 0
        indexes = range(self.index_of(start), bisect_right(self._firsts, end))
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
        """The ids of the entries with so many live entries below them. O(b + ranks).

        `ranks` rise and are below the length; a block is decoded only where one of them falls in it.
        """
        ids: list[StreamId] = []
        below = 0
        for block in self._blocks:
            if len(ids) == len(ranks):
                break
            live = block.live
            if ranks[len(ids)] < below + live:
                end = bisect_left(ranks, below + live, len(ids))
                positions = block.live_positions(0, block.count)
                block_ids = self._ids_of(block)
                ids += [block_ids[positions[rank - below]] for rank in ranks[len(ids) : end]]
            below += live
        return ids

    def _ids_of(self, block: Block) -> Sequence[StreamId]:
        """The ids of `block` by position. Consecutive ones need no decoding."""
        return range(block.first_id, block.last_id + 1) if block.is_run else self.cache.scan(block).ids


def _add_span(spans: list[tuple[StreamId, StreamId]], first: StreamId, last: StreamId) -> None:
    """Add a span above all others; one that begins where the last one ends continues it."""
    if spans and spans[-1][1] + 1 == first:
        spans[-1] = (spans[-1][0], last)
    else:
        spans.append((first, last))


def _length_in_common(
    ids: Sequence[StreamId], start: int, block_ids: Sequence[StreamId], position: int
) -> int:
    """How many of ``ids[start:]`` are the ids from `position` on, one after another; the first two are.
    O(length) in C where all are."""
    length = min(len(ids) - start, len(block_ids) - position)
    some, others = ids[start : start + length], block_ids[position : position + length]
    if are_same(some, others):
        return length
    return next(at for at, (one, other) in enumerate(zip(some, others, strict=True)) if one != other)


def _cut_behind(found: list[bytes | None], left: int) -> None:
    """Cut `found` behind the fragment with which the bytes left fell below 0; `left` is what they are now."""
    while (left := left + len(found[-1] or b"")) < 0:
        del found[-1]


def _cut_to_bytes(ids: list[StreamId], fragments: list[bytes], last_piece: int, overshoot: int) -> None:
    """Drop from the end what lies beyond the entry that reached the budget; `overshoot` <= 0."""
    sizes = list(map(len, fragments[-last_piece:]))
    budget = overshoot + sum(sizes)
    keep = next(i for i, used in enumerate(accumulate(sizes), start=1) if used >= budget)
    kept = len(ids) - last_piece + keep
    del ids[kept:], fragments[kept:]
