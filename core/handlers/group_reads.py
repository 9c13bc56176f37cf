"""XREADGROUP: new entries, a consumer's own history, and claims of idle entries (rules 27 to 41).

For each stream with ``>``, the read first claims the entries that are idle long enough, oldest first, and
then delivers new ones. For each stream with an id, it returns the consumer's pending entries above that id.
Every stream is checked before the first one changes.
"""

from __future__ import annotations

from msgspec.structs import replace

from tailrace.core.bounds.reply_budget import ReplyBudget
from tailrace.core.commands import ReadFrom, ReadGroup, Special
from tailrace.core.errors import no_group_for_read
from tailrace.core.execution import Execution, parsed_position
from tailrace.core.handlers.filtered_delivery import FilterScan
from tailrace.core.handlers.group_reader import GroupReader
from tailrace.core.handlers.groups import missing_for
from tailrace.core.handlers.idle_entries import claimable_from_ms
from tailrace.core.handlers.reads import deadline_ms
from tailrace.core.limits import FILTER_READ_MS_MAX
from tailrace.core.outcome import Wait
from tailrace.core.replies import NO_ENTRIES, ReadReply, StreamRead
from tailrace.core.stream_id import MAX_ID, StreamId


def read_group(execution: Execution, command: ReadGroup) -> ReadReply:
    """Read all named streams in order. O(log n + entries returned) a stream.

    Raises NOGROUP if a stream or its group is missing, before the first change (rule 27). If the reply is
    empty and the command blocks, the execution's `wait` and `retry` are set; also if it does not block and
    the filter of a group has further entries to examine.
    """
    positions = [_checked_position(execution, command, source) for source in command.streams]
    execution.room(command.limits.page_bytes).require_any()
    budget = ReplyBudget(command.limits)
    min_idle_ms = command.claim_min_idle_ms
    scan: FilterScan | None = None
    reads = []
    for source, after in zip(command.streams, positions, strict=True):
        if budget.is_spent or not execution.room().has_any:
            reads.append(_unread(execution, command, source.key, after))
            continue
        reader = GroupReader(execution, command, source.key, budget)
        if isinstance(after, Special):
            if reader.wanted is not None:
                reader.scan = scan = scan or FilterScan(execution)
            reads.append(reader.read_new(min_idle_ms))
        else:
            # As in Redis, a history read ends claiming for the streams after it (rule 39).
            min_idle_ms = None
            reads.append(reader.read_history(after))
    reply = ReadReply(reads)
    if reply.is_empty and scan is not None and scan.is_behind:
        _wait_as(execution, command, _wait_to_catch_up(execution, command))
    elif command.block_ms is not None and reply.is_empty:
        _wait_as(execution, command, _wait(execution, command, min_idle_ms))
    return reply


def _wait_as(execution: Execution, command: ReadGroup, wait: Wait) -> None:
    execution.wait = wait
    execution.retry = replace(command, until_ms=wait.until_ms)


def _wait_to_catch_up(execution: Execution, command: ReadGroup) -> Wait:
    until_ms = deadline_ms(execution, command)
    if until_ms is None and command.block_ms is None:
        until_ms = execution.now_ms + FILTER_READ_MS_MAX
    return Wait((), command.group, until_ms, None, is_behind=True)


def _checked_position(execution: Execution, command: ReadGroup, source: ReadFrom) -> StreamId | Special:
    if execution.keyspace.group(source.key, command.group) is None:
        raise no_group_for_read(source.key, command.group, missing_for(execution, source.key))
    position = parsed_position(source.after)
    # Redis stores ``>`` as the greatest id, so the greatest id also asks for new entries.
    return Special.NEW if position == MAX_ID else position


def _unread(execution: Execution, command: ReadGroup, key: bytes, after: StreamId | Special) -> StreamRead:
    """A stream after the one that used up the budget or the room: it creates no consumer."""
    if not isinstance(after, Special):
        return StreamRead(key, NO_ENTRIES, next=after)
    group = execution.keyspace.streams[key].groups[command.group]
    return StreamRead(key, NO_ENTRIES, next=group.last_delivered_id, new=True)


def _wait(execution: Execution, command: ReadGroup, min_idle_ms: int | None) -> Wait:
    keys = tuple(source.key for source in command.streams)
    claim_at_ms = None
    if min_idle_ms is not None:
        claim_at_ms = min(_claimable_at_ms(execution, key, command.group, min_idle_ms) for key in keys)
    return Wait(keys, command.group, deadline_ms(execution, command), claim_at_ms)


def _claimable_at_ms(execution: Execution, key: bytes, group: bytes, min_idle_ms: int) -> int:
    """When the oldest live pending entry becomes idle enough, in Unix milliseconds (rule 41)."""
    stream = execution.keyspace.streams[key]
    from_ms = claimable_from_ms(stream, stream.groups[group])
    return (execution.now_ms if from_ms is None else from_ms) + min_idle_ms
