"""The retention of streams: how many of the first entries its rules remove, and their removal.

An append removes whole blocks only, which takes O(1) for each. The sweep, which the server runs once a
second, removes the rest exactly. Both are bounded, so that many expired entries delay no client: an append
removes at most `RETIRED_BLOCKS_PER_APPEND` blocks, and one step of the sweep `RETIRED_ENTRIES_PER_STEP`
entries of `RETENTION_STREAMS_PER_STEP` streams. The sweep also removes what groups have pending before the
first entry: no consumer could process it, and it would stay pending without end. This module never decides
when the sweep runs.
"""

from __future__ import annotations

from typing import Final

from msgspec import UnsetType
from msgspec.structs import astuple

from tailrace.core.commands import SweepRetention
from tailrace.core.effects import EntriesRetired, PendingBetweenRemoved, RetentionConfigured
from tailrace.core.execution import Execution
from tailrace.core.group import Group
from tailrace.core.limits import (
    RETENTION_STREAMS_PER_STEP,
    RETIRED_BLOCKS_PER_APPEND,
    RETIRED_ENTRIES_PER_STEP,
)
from tailrace.core.log.block_index import bytes_between, count_above_bytes, fragment_bytes
from tailrace.core.replies import RetentionInfo
from tailrace.core.retention import Reason, RetentionRules
from tailrace.core.stream import Stream
from tailrace.core.stream_id import MAX_ID, SEQ_BITS, ZERO_ID, StreamId

_HELD_ENTRY_COST: Final = 5
"""Removing an entry that a group with an order by key holds back takes as long as removing this many
others."""

_PENDING_COST: Final = 3_000
"""Removing pending entries of one group takes as long as removing this many entries: up to 0.3 ms, however
many they are."""


def configure_retention(execution: Execution, key: bytes, rules: RetentionRules | UnsetType | None) -> None:
    """Replace the rules of the existing stream `key`; None removes them, and UNSET keeps them. The next sweep
    applies them. O(1)."""
    if isinstance(rules, UnsetType):
        return
    retention = execution.keyspace.streams[key].retention
    new = rules or RetentionRules()
    if new != (RetentionRules() if retention is None else retention.rules):
        execution.do(RetentionConfigured(key, *astuple(new)))


def retire_blocks(execution: Execution, key: bytes, stream: Stream, appends: int) -> None:
    """Remove the first blocks that the rules on age, length and bytes retire as a whole, after `appends`.

    O(blocks removed + groups), and O(entries) of the last block for a rule on bytes.
    """
    assert stream.retention is not None, "the caller looked"
    rules, blocks = stream.retention.rules, stream.log.blocks
    oldest_id, unread_id = _oldest_id(rules, execution.now_ms), _first_unread_id(stream, rules)
    left, left_bytes = stream.length, fragment_bytes(stream.log)
    reason, count = None, 0
    for block in blocks[: min(RETIRED_BLOCKS_PER_APPEND * appends, len(blocks) - 1)]:
        if block.last_id >= unread_id:
            break
        live = block.live
        if block.last_id < oldest_id:
            reason = Reason.MAX_AGE
        elif rules.max_length is not None and left - live >= rules.max_length:
            reason = Reason.MAX_LENGTH
        elif rules.max_bytes is not None and left_bytes > rules.max_bytes:
            reason = Reason.MAX_BYTES
        else:
            break
        left, left_bytes, count = left - live, left_bytes - block.fragment_bytes, count + live
    if reason is not None:
        execution.do(EntriesRetired(key, count, reason, execution.now_ms))


def sweep_retention(execution: Execution, command: SweepRetention) -> int:
    """Apply the rules of the next streams, in order of their serials. Return the serial to continue with, 0
    after the last stream.

    O(blocks and groups of each stream + entries removed), within the bounds above; one block of each stream
    is decoded.
    """
    retained = execution.keyspace.retained
    begin = retained.bisect_left(command.start_serial)
    serials = retained[begin : begin + RETENTION_STREAMS_PER_STEP + 1]
    left = RETIRED_ENTRIES_PER_STEP
    for serial in serials[:RETENTION_STREAMS_PER_STEP]:
        key = execution.keyspace.keys_by_serial[serial]
        left -= _retire(execution, key, left)
        left -= _drop_pending(execution, key, left)
        if left < _HELD_ENTRY_COST:
            return int(serial)
    return int(serials[-1]) if len(serials) > RETENTION_STREAMS_PER_STEP else 0


def _retire(execution: Execution, key: bytes, most: int) -> int:
    """Remove entries of one stream that cost up to `most`, and return what they cost: 1 each, and in a stream
    with an order by key `_HELD_ENTRY_COST`. Note how many bytes `protect_unread` keeps."""
    stream = execution.keyspace.streams[key]
    assert stream.retention is not None, "the keyspace lists the streams that have one"
    rules = stream.retention.rules
    reason, wanted = wanted_of(stream, rules, execution.now_ms)
    unprotected = unprotected_of(stream, rules, wanted)
    protected_bytes = bytes_between(stream.log, unprotected, wanted)
    if protected_bytes:
        execution.keyspace.protected_bytes[stream.serial] = protected_bytes
    else:
        execution.keyspace.protected_bytes.pop(stream.serial, None)
    cost = _HELD_ENTRY_COST if stream.ordered else 1
    count = min(unprotected, most // cost)
    if count:
        execution.do(EntriesRetired(key, count, reason, execution.now_ms))
    return count * cost


def _drop_pending(execution: Execution, key: bytes, most: int) -> int:
    """Remove the pending entries before the first entry of a stream, from as many groups as cost up to
    `most`, and at least from one. Return what they cost, or `most` if other groups have some left.
    O(groups)."""
    stream = execution.keyspace.streams[key]
    last_id = stream.first_id - 1 if stream.length else stream.last_id
    cost = 0
    for group in stream.groups.values():
        if _first_pending_id(group) <= last_id:
            if cost and cost + _PENDING_COST > most:
                return most
            cost += _PENDING_COST
            execution.do(PendingBetweenRemoved(key, group.name, [ZERO_ID], [last_id]))
    return cost


def retention_info(stream: Stream, now_ms: int) -> RetentionInfo | None:
    """Return the state of a stream's retention, None without one. O(groups + blocks)."""
    retention, log = stream.retention, stream.log
    if retention is None:
        return None
    _, wanted = wanted_of(stream, retention.rules, now_ms)
    unprotected = unprotected_of(stream, retention.rules, wanted)
    return RetentionInfo(
        rules=retention.rules,
        removed=dict(retention.removed),
        removed_at_ms=retention.removed_at_ms,
        protected_count=wanted - unprotected,
        protected_bytes=bytes_between(log, unprotected, wanted),
    )


# --- how many of the first entries -----------------------------------------------------------------


def wanted_of(stream: Stream, rules: RetentionRules, now_ms: int) -> tuple[Reason, int]:
    """Return how many of the first entries the rules remove without protection, and the rule that removes the
    most. O(blocks); a block is decoded for the age and for acknowledgments."""
    log = stream.log
    counts = {
        Reason.MAX_AGE: log.rank(_oldest_id(rules, now_ms)),
        Reason.MAX_LENGTH: 0 if rules.max_length is None else max(log.length - rules.max_length, 0),
        Reason.MAX_BYTES: 0 if rules.max_bytes is None else count_above_bytes(log, rules.max_bytes),
        Reason.ACKNOWLEDGED: log.rank(_first_needed_id(stream)) if rules.acknowledged else 0,
    }
    return max(counts.items(), key=lambda item: item[1])


def unprotected_of(stream: Stream, rules: RetentionRules, wanted: int) -> int:
    """Return how many of the first `wanted` entries may go: those before the first protected one. O(groups +
    blocks)."""
    unread_id = _first_unread_id(stream, rules) if wanted else MAX_ID
    return wanted if unread_id > stream.last_id else min(stream.log.rank(unread_id), wanted)


def _oldest_id(rules: RetentionRules, now_ms: int) -> StreamId:
    """Return the id below which all entries are too old."""
    return ZERO_ID if rules.max_age_ms is None else max(now_ms - rules.max_age_ms, 0) << SEQ_BITS


def _first_unread_id(stream: Stream, rules: RetentionRules) -> StreamId:
    """Return the id from which on entries are protected. O(groups)."""
    if not rules.protect_unread or not stream.groups:
        return MAX_ID + 1
    return min(group.needed_from for group in stream.groups.values())


def _first_needed_id(stream: Stream) -> StreamId:
    """Return the id below which every group has read and acknowledged all entries. O(groups)."""
    if not stream.groups:
        return ZERO_ID
    return min(min(group.needed_from, _first_pending_id(group)) for group in stream.groups.values())


def _first_pending_id(group: Group) -> StreamId:
    return group.pending.first_id if group.pending.count else MAX_ID
