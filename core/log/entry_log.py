"""The entries of one stream in order of their ids: a list of blocks, the last of them open.

Appending changes the last block only; removing changes or drops the blocks concerned. The log knows which
entries are live. It knows nothing of groups, of time, or of ids that were used before: those are the
stream's.
"""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core.log.block import Block
from tailrace.core.log.block_cache import BlockCache
from tailrace.core.log.block_index import LiveCounts, live_positions
from tailrace.core.log.entry_reader import EntryReader
from tailrace.core.log.node_size import (
    ENTRY_OVERHEAD_BYTES,
    AlikeFragments,
    NodeLimits,
    fill,
    joined_if_full,
    measure,
)
from tailrace.core.log.sealing import SealingQueue
from tailrace.core.stream_id import ZERO_ID, StreamId


class EntryLog(EntryReader):
    """The entries of one stream. n: entries, m: entries of one call, b: blocks (about n / 100).

    Only `core.effects` and `core.storage` call the methods that change the log.
    """

    __slots__ = ("removed_ids", "sealing")

    def __init__(self, cache: BlockCache, sealing: SealingQueue | None = None) -> None:
        """Make an empty log. `sealing`: the queue for full blocks; None: they are sealed at once."""
        super().__init__(cache)
        # Where full blocks wait to be sealed; shared by all logs of a keyspace.
        self.sealing = sealing or SealingQueue()
        # First ids of dropped blocks that storage may hold. A checkpoint takes the list and clears it.
        self.removed_ids: Sequence[StreamId] = ()

    def restore(self, blocks: Sequence[Block]) -> None:
        """Replace the blocks with `blocks`, which are in order. O(b)."""
        self._blocks = list(blocks)
        self._first_ids = [block.first_id for block in blocks]
        self._live_counts = LiveCounts()
        self.length = sum(block.live for block in blocks)
        self.ended_bytes = sum(block.fragment_bytes for block in blocks)
        self._has_large_entries = any(block.count == 1 for block in blocks)
        # Storage does not keep which ids were removed: assume that any was.
        self._deleted_up_to = blocks[-1].last_id if blocks else ZERO_ID

    def copy(self, serial: int) -> EntryLog:
        """Return the same entries as the log of the stream `serial`. O(b + open blocks): payloads are
        shared."""
        twin = EntryLog(self.cache, self.sealing)
        filed_under: dict[tuple[int, ...], tuple[int, ...]] = {}
        for block in self._blocks:
            serials = block.filed_under
            if serials not in filed_under:
                filed_under[serials] = (serial, *serials)
            twin._blocks.append(block.copy(filed_under[serials]))
        for block in twin._blocks[:-1]:
            if block.is_open:
                twin.sealing.add((block,))
        twin._first_ids = self._first_ids.copy()
        twin.length = self.length
        twin.ended_bytes = self.ended_bytes
        twin._deleted_up_to = self._deleted_up_to
        twin._has_large_entries = self._has_large_entries
        return twin

    # --- appending -----------------------------------------------------------------------------

    def append(self, ids: Sequence[StreamId], fragments: Sequence[bytes], limits: NodeLimits) -> None:
        """Append entries whose ids rise and are above all earlier ones. O(m), and one compression for each
        full block, now or later (`core.log.sealing`)."""
        if len(ids) == 1:
            self.append_one(ids[0], fragments[0], limits)
            return
        start = self._blocks[-1].extend(ids, fragments, limits) if self._blocks else 0
        if start < len(ids):
            self._add_blocks(ids, fragments, start, limits)
        self.length += len(ids)

    def append_one(self, value: StreamId, fragment: bytes, limits: NodeLimits) -> None:
        """Append one entry whose id is above all earlier ones. O(1), and sometimes one compression."""
        blocks = self._blocks
        if not (blocks and blocks[-1].append(value, fragment, limits)):
            self._begin_block(value, fragment).append(value, fragment, limits)
        self.length += 1

    def _add_blocks(
        self, ids: Sequence[StreamId], fragments: Sequence[bytes], start: int, limits: NodeLimits
    ) -> None:
        """Add blocks with the entries from `start` on; all but the last one are full. O(blocks), and O(bytes)
        in C up to `MEASURED_BYTES_MAX` for the first entry of each.

        A large import makes 16 000 blocks, so each takes few steps of the interpreter.
        """
        self._end_last_block()
        # A block keeps slices of these. A copy of the fragments would touch each of them.
        ids = ids if isinstance(ids, range) else list(ids)
        blocks: list[Block] = []
        if isinstance(fragments, AlikeFragments):
            start = self._add_alike(blocks, ids, fragments, start, limits)
        fragments = fragments if isinstance(fragments, list) else list(fragments)
        count = len(fragments)
        lengths = list(map(len, fragments)) if start < count else ()
        full = len(blocks)
        while start < count:
            names_bytes, skeleton_bytes = measure(fragments[start])
            stop, size_bytes, fragment_bytes = fill(
                lengths, start, limits, 0, names_bytes + ENTRY_OVERHEAD_BYTES, skeleton_bytes
            )
            some = fragments[start:stop]
            blocks.append(Block.filled(ids[start:stop], some, size_bytes, skeleton_bytes, fragment_bytes))
            start = stop
        self._blocks += blocks
        self._first_ids += [block.first_id for block in blocks]
        last = blocks.pop()
        last.keep_open()
        last.fragment_bytes = 0
        self.ended_bytes += sum([block.fragment_bytes for block in blocks])
        if 1 in [block.count for block in blocks]:
            self._has_large_entries = True
        self.sealing.add(blocks[full:])

    def _add_alike(
        self,
        blocks: list[Block],
        ids: list[StreamId] | range,
        fragments: AlikeFragments,
        start: int,
        limits: NodeLimits,
    ) -> int:
        """Add blocks to `blocks`, and seal them, as long as each is full by its number of entries. Return the
        index of the next entry. The last block of the append stays open. O(bytes) in C."""
        names_bytes, skeleton_bytes = measure(fragments[start])
        empty_bytes = names_bytes + ENTRY_OVERHEAD_BYTES
        while start < len(fragments):
            joined = joined_if_full(fragments, start, limits, empty_bytes, skeleton_bytes)
            if joined is None:
                break
            some, text = joined
            count = len(some)
            fragment_bytes = len(text) - (count - 1)
            size_bytes = empty_bytes + fragment_bytes - count * (skeleton_bytes - ENTRY_OVERHEAD_BYTES)
            stop = start + count
            block = Block.filled(ids[start:stop], some, size_bytes, skeleton_bytes, fragment_bytes)
            blocks.append(block)
            if stop < len(fragments):
                self.sealing.add_joined(block, text)
            start = stop
        return start

    def _begin_block(self, value: StreamId, fragment: bytes) -> Block:
        """Add an empty block that this entry will begin; the block before it is full."""
        self._end_last_block()
        block = Block(value, fragment)
        self._blocks.append(block)
        self._first_ids.append(value)
        return block

    def _end_last_block(self) -> None:
        """Let the last block, if there is one and if it is open, wait to be sealed: it is full."""
        full = self._blocks[-1] if self._blocks else None
        if full is not None and full.is_open:
            if full.count == 1:
                self._has_large_entries = True
            full.fragment_bytes = sum(map(len, full.open_fragments))
            self.ended_bytes += full.fragment_bytes
            self.sealing.add((full,))

    # --- removing ------------------------------------------------------------------------------

    def remove(self, ids: Sequence[StreamId]) -> None:
        """Remove live entries, whose ids rise; at least one. O(m log m), and each block concerned is read
        once."""
        emptied = []
        removed = 0
        for index, positions, _ in self._by_block(ids):
            block = self._blocks[index]
            removed += len(positions)
            self._live_counts.changed_at(index)
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
            # The new last block was full: an append must not find it open just because it waits to be sealed.
            self._blocks[-1].seal()

    def trim_front(self, count: int) -> StreamId:
        """Remove the first `count` live entries, at least one, and return the last removed id.

        O(removed blocks + entries of one block): whole blocks are dropped, and the next one gets holes.
        """
        self.length -= count
        last_id = ZERO_ID
        whole = 0
        while count and self._blocks[whole].live <= count:
            count -= self._blocks[whole].live
            last_id = self._blocks[whole].last_id
            self._forget(self._blocks[whole])
            whole += 1
        del self._blocks[:whole], self._first_ids[:whole]
        self._live_counts.dropped_first(whole)
        return self._trim_block(self._blocks[0], count) if count else last_id

    def _trim_block(self, block: Block, count: int) -> StreamId:
        positions = live_positions(block.holes, 0, block.count)[:count]
        last_id = self._ids_of(block)[positions[-1]]
        if block.remove(positions):
            self.cache.forget(block)
        return last_id

    def _forget(self, block: Block) -> None:
        self.ended_bytes -= block.fragment_bytes
        self.cache.forget(block)
        if block.stored:
            if not isinstance(self.removed_ids, list):
                self.removed_ids = []  # most streams of one entry never need a list
            self.removed_ids.append(block.first_id)

    def _drop(self, index: int) -> None:
        self._forget(self._blocks[index])
        del self._blocks[index], self._first_ids[index]
        if index == 0:
            self._live_counts.dropped_first(1)

    def forget_decoded(self) -> None:
        """Take the blocks of a log, whose stream was deleted, out of the cache. O(blocks)."""
        for block in self._blocks:
            self.cache.forget(block)
