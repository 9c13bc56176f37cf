"""XTRIM, and the trim that XADD performs (rules 11 to 17).

The policy KEEP is the common case; its approximate trim examines blocks only. DELREF removes the references
as well. ACKED removes the entries that no group references. Referenced entries stay, so the removed entries
need not be consecutive. A block is handled as a whole if all or none of its entries are referenced.
"""

from __future__ import annotations

from itertools import compress
from operator import not_

from tailrace.core.commands import References, Trim, TrimStream
from tailrace.core.effects import EntriesRemoved, EntriesTrimmed
from tailrace.core.execution import Execution
from tailrace.core.handlers.delete import drop_references_of_first
from tailrace.core.id_keys import are_among
from tailrace.core.keyspace import NODE_MAX_ENTRIES
from tailrace.core.limits import ACKED_TRIM_LOOKS_MAX, TRIM_LIMIT_FACTOR, TRIM_LIMIT_FALLBACK, TRIM_LIMIT_MAX
from tailrace.core.log.block import Block
from tailrace.core.pending.pending_list import PendingEntriesList
from tailrace.core.stream import Stream
from tailrace.core.stream_id import MAX_ID, ZERO_ID, StreamId


def trim_acknowledged(execution: Execution, key: bytes, rule: Trim, limit: int) -> int:
    """Remove the unreferenced entries that `rule` allows, and return how many were removed.

    `limit`: the greatest number of removed entries, 0 for no limit. O(blocks), plus O(entries) for each block
    that is partly referenced; `ACKED_TRIM_LOOKS_MAX` bounds both.
    """
    stream = execution.keyspace.streams[key]
    walk = _Walk(stream, rule, limit)
    walk.run()
    if walk.leading:
        execution.do(EntriesTrimmed(key, walk.leading))
    if walk.ids:
        execution.do(EntriesRemoved(key, walk.ids, tombstone=False))
    stream.referenced_below, stream.passed_live_max = walk.referenced_below, walk.passed_live_max
    return walk.leading + len(walk.ids)


def may_go_whole(rule: Trim, block: Block, left: int) -> bool:
    """Whether the rule removes every entry of `block` from a stream that has `left` entries. O(1)."""
    if rule.max_length is not None:
        return left - block.live >= rule.max_length
    assert rule.min_id is not None
    return block.last_id < rule.min_id


class _PendingByBlock:
    """The pending entries of one group, counted for one block after another in id order.

    `_next_id`: no entry below it is pending, from the last counted block on.
    """

    def __init__(self, pending: PendingEntriesList) -> None:
        self._pending = pending
        self._next_id: StreamId = ZERO_ID

    def count_in(self, block: Block) -> int:
        """How many ids from the block's first to its last are pending. O(1) before the next pending entry,
        else O(log n)."""
        first, last = block.first_id, block.last_id
        if last < self._next_id:
            return 0
        count = self._pending.count_between(first, last)
        if not count:
            found = self._pending.first_from(first)
            self._next_id = MAX_ID if found is None else found
        return count

    def outside(self, ids: list[StreamId]) -> list[StreamId]:
        """The ids among `ids` that are not pending."""
        is_pending = are_among(ids, self._pending.present(ids))
        return list(compress(ids, map(not_, is_pending)))


class _Walk:
    """Walks over the blocks in order and chooses the entries to remove; it changes nothing.

    `leading`: how many of the stream's first entries to remove. `ids`: further entries to remove.
    `referenced_below`, `passed_live_max`: the stream's new values of these attributes.

    As in Redis, the limit counts removed entries, and the walk ends with the first block that the rule does
    not remove completely: later entries stay, even if the stream is then longer than MAXLEN allows.
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
        self._groups = [_PendingByBlock(group.pending) for group in groups if group.pending.count]
        self._read_up_to = min((group.needed_from - 1 for group in groups), default=MAX_ID)
        self._is_leading = True
        self._looks_left = ACKED_TRIM_LOOKS_MAX

    def run(self) -> None:
        """Choose the entries to remove, and set the four attributes."""
        blocks = self.stream.log.blocks
        if not blocks or self._excess == 0:
            return
        index = self._first_index()
        self._is_leading = index == 0
        while index < len(blocks) and self._looks_left > 0 and self._pass(blocks[index]):
            self.passed_live_max = max(self.passed_live_max, blocks[index].live)
            index += 1
        # The last block may get further entries.
        passed_below = blocks[min(index, len(blocks) - 1)].first_id
        self.referenced_below = max(self.referenced_below, passed_below)

    def _first_index(self) -> int:
        """The index of the first block that earlier trims have not passed.

        It is 0 if the walk would end within the blocks that earlier trims have passed.
        """
        most = self.passed_live_max
        if self.limit and most > self.limit:
            return 0
        if self._excess is not None and self._excess < most:
            return 0
        return self.stream.log.index_of(self.stream.referenced_below)

    @property
    def _excess(self) -> int | None:
        """How many more entries MAXLEN removes; None for MINID."""
        if self.rule.max_length is None:
            return None
        return max(self.stream.length - self._removed - self.rule.max_length, 0)

    @property
    def _removed(self) -> int:
        return self.leading + len(self.ids)

    def _pass(self, block: Block) -> bool:
        """Choose the entries of `block` to remove. Returns whether the walk continues."""
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
            self._choose_unreferenced(block)
        return is_whole

    def _choose_unreferenced(self, block: Block) -> None:
        """Choose the block's entries that the rule removes and no group references."""
        least_kept = MAX_ID if self.rule.min_id is None else self.rule.min_id
        ids = self.stream.log.range(block.first_id, min(block.last_id, self._read_up_to, least_kept - 1))[0]
        self._looks_left -= len(ids)
        for group in self._groups:
            ids = group.outside(ids)
        self.ids += ids[: self._excess]


def trim(execution: Execution, command: TrimStream) -> int | None:
    """XTRIM: return how many entries were removed, or None if the stream is missing; Redis replies with 0.

    O(blocks removed), plus the cost of the reference policy.
    """
    if execution.stream(command.key) is None:
        return None
    return trim_stream(execution, command.key, command.trim)


def trim_stream(execution: Execution, key: bytes, rule: Trim) -> int:
    """Trim the existing stream `key`, and return how many entries were removed, at the cost of `trim`."""
    stream = execution.keyspace.streams[key]
    limit = _limit(execution, rule)
    if rule.references is References.ACKNOWLEDGED:
        return trim_acknowledged(execution, key, rule, limit)
    count = _count(stream, rule, limit)
    if not count:
        return 0
    if rule.references is References.DELETE:
        drop_references_of_first(execution, key, stream, count)
    execution.do(EntriesTrimmed(key, count))
    return count


def _count(stream: Stream, rule: Trim, limit: int) -> int:
    """How many of the first entries the rule removes."""
    if rule.approximate and rule.references is References.KEEP:
        return _whole_blocks(stream, rule, limit)
    count = _exact_count(stream, rule)
    return _within_limit(stream, count, limit) if limit else count


def _exact_count(stream: Stream, rule: Trim) -> int:
    if rule.max_length is not None:
        return max(stream.length - rule.max_length, 0)
    assert rule.min_id is not None
    return stream.log.rank(rule.min_id)


def _limit(execution: Execution, rule: Trim) -> int:
    """The greatest number of entries that one trim removes; 0 is no limit (rule 12)."""
    if not rule.approximate:
        return 0
    if rule.limit is not None:
        return rule.limit
    chosen = TRIM_LIMIT_FACTOR * execution.keyspace.config[NODE_MAX_ENTRIES]
    return min(chosen, TRIM_LIMIT_MAX) if chosen > 0 else TRIM_LIMIT_FALLBACK


def _whole_blocks(stream: Stream, rule: Trim, limit: int) -> int:
    removed = 0
    for block in stream.log.blocks:
        if limit and removed + block.live > limit:
            break
        if not may_go_whole(rule, block, stream.length - removed):
            break
        removed += block.live
    return removed


def _within_limit(stream: Stream, wanted: int, limit: int) -> int:
    """How many of the `wanted` first entries the limit allows.

    A block counts with all of its entries, even if the trim removes only some of them.
    """
    allowed = 0
    for block in stream.log.blocks:
        if allowed >= wanted or allowed + block.live > limit:
            break
        allowed += block.live
    return min(wanted, allowed)
