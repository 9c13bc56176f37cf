"""XTRIM, and the trim that XADD performs (rules 11 to 17).

The policy KEEP is the common case; its approximate trim examines blocks only. The two other policies are
exact even for an approximate trim (rule 14): DELETE removes the first entries, as an exact trim does, and
`core.handlers.acked_trim` owns ACKNOWLEDGED.
"""

from __future__ import annotations

from tailrace.core.commands import References, Trim, TrimStream
from tailrace.core.effects import EntriesTrimmed
from tailrace.core.execution import Execution
from tailrace.core.handlers.acked_trim import may_go_whole, trim_acknowledged
from tailrace.core.handlers.references import drop_references_of_first
from tailrace.core.keyspace import NODE_MAX_ENTRIES
from tailrace.core.limits import TRIM_LIMIT_FACTOR, TRIM_LIMIT_FALLBACK, TRIM_LIMIT_MAX
from tailrace.core.stream import Stream


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
