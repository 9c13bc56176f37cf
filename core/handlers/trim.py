"""XTRIM, and the trimming half of XADD (rules 11 to 17).

Keeping references is the common case and looks at blocks only. The two other policies are exact even where an
approximate trim was asked for (rule 14): DELETE removes the first entries, as an exact trim does, and
ACKNOWLEDGED is `core.handlers.acked_trim`'s.
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
    """How many entries were removed; None for a missing stream, which Redis answers with 0.

    O(blocks removed), and what the policy for references costs.
    """
    if execution.stream(command.key) is None:
        return None
    return trim_stream(execution, command.key, command.trim)


def trim_stream(execution: Execution, key: bytes, rule: Trim) -> int:
    """Trim the stream `key`, which exists, and say how many entries went."""
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
    """How many of the first entries go."""
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
    """How many entries may go, 0 for any number (rule 12)."""
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
    """At most `wanted` of the first entries; the last block of which some go must be within the limit
    whole."""
    allowed = 0
    for block in stream.log.blocks:
        if allowed >= wanted or allowed + block.live > limit:
            break
        allowed += block.live
    return min(wanted, allowed)
