"""XTRIM, and the trimming half of XADD (rules 11 to 17).

Keeping references is the common case and looks at blocks only; the two other policies look at every
entry they might remove, and are exact even where an approximate trim was asked for (rule 14).
"""

from __future__ import annotations

from collections.abc import Iterator

from core.block import Block
from core.commands import References, Trim, TrimStream
from core.effects import EntriesRemoved, EntriesTrimmed
from core.execution import Execution
from core.handlers.references import drop_references, is_acknowledged
from core.keyspace import NODE_MAX_ENTRIES
from core.limits import TRIM_LIMIT_FACTOR, TRIM_LIMIT_FALLBACK, TRIM_LIMIT_MAX
from core.stream import Stream
from core.stream_id import StreamId


def trim(run: Execution, command: TrimStream) -> int | None:
    """How many entries were removed; None for a missing stream, which Redis answers with 0.

    O(blocks removed), and O(entries looked at) where references are not kept.
    """
    if run.stream(command.key) is None:
        return None
    return trim_stream(run, command.key, command.trim)


def trim_stream(run: Execution, key: bytes, rule: Trim) -> int:
    """Trim the stream `key`, which exists, and say how many entries went."""
    stream = run.keyspace.streams[key]
    if not rule.approximate and rule.references is References.KEEP:
        count = _exact_count(stream, rule)
        if count:
            run.do(EntriesTrimmed(key, count))
        return count
    limit = _limit(run, rule)
    if rule.references is References.KEEP:
        count = _whole_blocks(stream, rule, limit)
        if count:
            run.do(EntriesTrimmed(key, count))
        return count
    ids = list(_candidates(stream, rule, limit))
    if rule.references is References.DELETE:
        drop_references(run, key, stream, ids)
    if ids:
        run.do(EntriesRemoved(key, ids, tombstone=False))
    return len(ids)


def _exact_count(stream: Stream, rule: Trim) -> int:
    if rule.max_length is not None:
        return max(stream.length - rule.max_length, 0)
    assert rule.min_id is not None
    return stream.log.rank(rule.min_id)


def _limit(run: Execution, rule: Trim) -> int:
    """How many entries may go, 0 for any number (rule 12)."""
    if not rule.approximate:
        return 0
    if rule.limit is not None:
        return rule.limit
    chosen = TRIM_LIMIT_FACTOR * run.keyspace.config[NODE_MAX_ENTRIES]
    return min(chosen, TRIM_LIMIT_MAX) if chosen > 0 else TRIM_LIMIT_FALLBACK


def _whole_blocks(stream: Stream, rule: Trim, limit: int) -> int:
    removed = 0
    for block in stream.log.blocks:
        if limit and removed + block.live > limit:
            break
        if not _may_go_whole(rule, block, stream.length - removed):
            break
        removed += block.live
    return removed


def _may_go_whole(rule: Trim, block: Block, left: int) -> bool:
    """Whether the rule allows every entry of `block` to go, while the stream has `left` entries."""
    if rule.max_length is not None:
        return left - block.live >= rule.max_length
    assert rule.min_id is not None
    return block.last_id < rule.min_id


def _candidates(stream: Stream, rule: Trim, limit: int) -> Iterator[StreamId]:
    """Entries to remove one by one; referenced ones are passed over under ACKNOWLEDGED (rule 15).

    As in Redis, the limit counts what was removed, and the first block of which not every entry may go is
    the last one looked at: entries after it stay, even if those passed over leave the stream too long.
    """
    removed = 0
    for block in stream.log.blocks:
        left = stream.length - removed
        if limit and removed + block.live > limit:
            return
        for value in stream.log.range(block.first_id, block.last_id)[0]:
            if rule.min_id is not None and value >= rule.min_id:
                return
            if rule.max_length is not None and stream.length - removed <= rule.max_length:
                return
            if rule.references is References.ACKNOWLEDGED and not is_acknowledged(stream, value):
                continue
            removed += 1
            yield value
        if not _may_go_whole(rule, block, left):
            return
