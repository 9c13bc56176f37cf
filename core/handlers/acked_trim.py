"""Trimming entries that no group refers to any more (ACKED, rules 14 and 15), whatever stays between them.

Blocks are passed over as wholes where a group has all of their entries pending, or where no group has any.
What a trim found referenced, the next one need not look at: the stream notes how far that is. A trim that has
looked at `ACKED_TRIM_LOOKS_MAX` blocks and entries ends there, and the next one goes on from there.
"""

from __future__ import annotations

from tailrace.core.commands import Trim
from tailrace.core.effects import EntriesRemoved, EntriesTrimmed
from tailrace.core.execution import Execution
from tailrace.core.limits import ACKED_TRIM_LOOKS_MAX
from tailrace.core.log.block import Block
from tailrace.core.pending.pending_list import PendingEntriesList
from tailrace.core.pending.run import Run
from tailrace.core.stream import Stream
from tailrace.core.stream_id import MAX_ID, ZERO_ID, StreamId


def trim_acknowledged(execution: Execution, key: bytes, rule: Trim, limit: int) -> int:
    """Remove what `rule` and `limit` (0: none) let go, and say how many entries went. O(blocks), and
    O(entries) of the blocks of which some are referenced; both bounded."""
    stream = execution.keyspace.streams[key]
    walk = _Walk(stream, rule, limit)
    walk.go()
    if walk.leading:
        execution.do(EntriesTrimmed(key, walk.leading))
    if walk.ids:
        execution.do(EntriesRemoved(key, walk.ids, tombstone=False))
    stream.referenced_below, stream.passed_live_max = walk.referenced_below, walk.passed_live_max
    return walk.leading + len(walk.ids)


def may_go_whole(rule: Trim, block: Block, left: int) -> bool:
    """Whether the rule allows every entry of `block` to go, while the stream has `left` entries."""
    if rule.max_length is not None:
        return left - block.live >= rule.max_length
    assert rule.min_id is not None
    return block.last_id < rule.min_id


class _Pending:
    """One group's pending entries, asked about blocks one after another."""

    def __init__(self, pending: PendingEntriesList) -> None:
        self._pending = pending
        self._next_id: StreamId = ZERO_ID
        self._execution: Run | None = None

    def count_in(self, block: Block) -> int:
        """How many ids from the block's first to its last are pending. O(1) up to the next pending one,
        and in C where the last run found goes on."""
        first, last = block.first_id, block.last_id
        if last < self._next_id:
            return 0
        if self._execution is not None and last <= self._execution.last_id:
            return self._execution.count_live(*self._execution.between(first, last))
        self._execution = self._pending.run_over(first, last)
        count = self._pending.count_between(first, last)
        if not count:
            found = self._pending.first_from(first)
            self._next_id = MAX_ID if found is None else found
        return count

    def among(self, ids: list[StreamId]) -> set[StreamId]:
        """Those of `ids` that are pending."""
        return set(self._pending.units_of(ids))


class _Walk:
    """A look at the blocks in order. `leading`: so many of the first entries go; `ids`: as do these.

    As in Redis, the limit counts what was removed, and the first block of which not every entry may go is
    the last one looked at: entries after it stay, even if those passed over leave the stream too long.
    """

    def __init__(self, stream: Stream, rule: Trim, limit: int) -> None:
        self.stream = stream
        self.rule = rule
        self.limit = limit
        self.leading = 0
        self.ids: list[StreamId] = []
        self.referenced_below = stream.referenced_below
        self.passed_live_max = stream.passed_live_max
        groups = stream.groups.values()
        self._groups = [_Pending(group.pending) for group in groups if group.pending.count]
        self._read_up_to = min((group.last_delivered_id for group in groups), default=MAX_ID)
        self._is_leading = True
        self._looks_left = ACKED_TRIM_LOOKS_MAX

    def go(self) -> None:
        """Find out what goes."""
        blocks = self.stream.log.blocks
        if not blocks or self._excess == 0:
            return
        index = self._begin()
        self._is_leading = index == 0
        while index < len(blocks) and self._looks_left > 0 and self._pass(blocks[index]):
            self.passed_live_max = max(self.passed_live_max, blocks[index].live)
            index += 1
        # Further entries may come into the last block.
        passed_below = blocks[min(index, len(blocks) - 1)].first_id
        self.referenced_below = max(self.referenced_below, passed_below)

    def _begin(self) -> int:
        """The first block that a trim before this one has not passed, 0 where one of those passed would be
        the last to be looked at."""
        most = self.passed_live_max
        if self.limit and most > self.limit:
            return 0
        if self._excess is not None and self._excess < most:
            return 0
        return self.stream.log.index_of(self.stream.referenced_below)

    @property
    def _excess(self) -> int | None:
        """How many more entries MAXLEN allows to go; None under MINID."""
        if self.rule.max_length is None:
            return None
        return max(self.stream.length - self._removed - self.rule.max_length, 0)

    @property
    def _removed(self) -> int:
        return self.leading + len(self.ids)

    def _pass(self, block: Block) -> bool:
        """Take what goes of `block`; whether the next block is looked at."""
        live, removed = block.live, self._removed
        if (self.limit and removed + live > self.limit) or block.first_id > self._read_up_to:
            return False
        is_whole = may_go_whole(self.rule, block, self.stream.length - removed)
        counts = [group.count_in(block) for group in self._groups]
        self._looks_left -= sum(map(bool, counts))
        if self._is_leading and is_whole and block.last_id <= self._read_up_to and not any(counts):
            self.leading += live
            return True
        self._is_leading = False
        if block.holes or block.count not in counts:
            self._take_some(block)
        return is_whole

    def _take_some(self, block: Block) -> None:
        """Those of the block's entries that the rule allows to go, and no group refers to."""
        least_kept = MAX_ID if self.rule.min_id is None else self.rule.min_id
        ids = self.stream.log.range(block.first_id, min(block.last_id, self._read_up_to, least_kept - 1))[0]
        self._looks_left -= len(ids)
        for group in self._groups:
            pending = group.among(ids)
            ids = [value for value in ids if value not in pending]
        self.ids += ids[: self._excess]
