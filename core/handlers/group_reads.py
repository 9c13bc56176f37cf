"""XREADGROUP: new entries, a consumer's own history, and claims of idle entries (rules 27 to 41).

For each stream with ``>``, the read first claims the entries that are idle long enough, oldest first, and
then delivers new ones. For each stream with an id, it returns the consumer's pending entries above that id.
Every stream is checked before the first one changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from tailrace.core.bounds.reply_budget import ReplyBudget
from tailrace.core.commands import Counted, ReadGroup, Special
from tailrace.core.deliveries import idle_since
from tailrace.core.errors import no_group_for_read
from tailrace.core.execution import Execution, parsed_position
from tailrace.core.group import Group
from tailrace.core.handlers.consumers import touch_consumer
from tailrace.core.handlers.dead_letters import MoveRoom
from tailrace.core.handlers.expiry import expire_before_read
from tailrace.core.handlers.filtered_delivery import FilterScan, count_matching, filter_of
from tailrace.core.handlers.group_reader import GroupReader
from tailrace.core.handlers.groups import missing_for
from tailrace.core.handlers.idle_entries import claimable_from_ms
from tailrace.core.handlers.leases import own_min_idle_ms
from tailrace.core.handlers.ordered_delivery import note_left
from tailrace.core.handlers.reads import deadline_ms, lingering, waits_for_more
from tailrace.core.limits import FILTER_READ_MS_MAX
from tailrace.core.outcome import Wait
from tailrace.core.replies import NO_ENTRIES, ReadReply, StreamRead
from tailrace.core.stream import Stream
from tailrace.core.stream_id import MAX_ID, StreamId

CLAIM_LOOK_MS: Final = 100
"""How often a reader that may claim entries at once looks for new pending ones at least: it does not poll."""


def read_group(execution: Execution, command: ReadGroup) -> ReadReply:
    """Read all named streams in order. O(log n + entries returned) a stream.

    Raises NOGROUP if a stream or its group is missing, before the first change (rule 27). If the reply is
    empty and the command blocks, the execution's `wait` and `retry` are set; also if it does not block and
    the filter of a group has further entries to examine, or if it returns nothing because there are more dead
    letters to move than one command may.
    """
    sources = _checked_sources(execution, command)
    room = execution.room(command.limits.page_bytes)
    room.require_any()
    if execution.keyspace.presence.is_behind:
        keys = (source.key for source in command.streams)
        expire_before_read(execution, keys, command.group, command.consumer)
    empty = _gathered(execution, command, sources) if waits_for_more(command) else None
    if empty is not None:
        return empty
    budget = ReplyBudget(command.limits)
    min_idle_ms = command.claim_min_idle_ms
    scan: FilterScan | None = None
    moves = MoveRoom()
    reads = []
    for key, after in sources:
        if budget.is_spent or room.left_bytes <= 0:
            note_left(execution, key, command.group)
            reads.append(_unread(execution, command, key, after))
            continue
        reader = GroupReader(execution, command, key, budget, moves)
        if isinstance(after, Special):
            if reader.examines:
                reader.scan = scan = scan or FilterScan(execution)
            reads.append(reader.read_new(min_idle_ms))
        else:
            # As in Redis, a history read ends claiming for the streams after it (rule 39).
            min_idle_ms = None
            reads.append(reader.read_history(after))
    reply = ReadReply(reads)
    if not budget.served or scan is not None or moves.is_spent:
        _conclude(execution, command, reply, scan, moves, min_idle_ms)
    return reply


def _conclude(
    execution: Execution,
    command: ReadGroup,
    reply: ReadReply,
    scan: FilterScan | None,
    moves: MoveRoom,
    min_idle_ms: int | None,
) -> None:
    """Let a read that found nothing wait: until the filter has examined all entries, or for new ones. Let one
    that found entries wake another for what it has left."""
    if not reply.is_empty:
        if scan is not None:
            for source in command.streams:
                note_left(execution, source.key, command.group)
    elif scan is not None and scan.is_behind:
        _wait_as(execution, command, _wait_to_catch_up(execution, command))
    elif command.block_ms is not None:
        _wait_as(execution, command, _wait(execution, command, min_idle_ms))
    if moves.is_spent and execution.wait is None and not any(read.entries.ids for read in reply.streams):
        # The read has moved as many dead letters as it may. It continues by itself: entries that it can
        # deliver may follow those that are left.
        _wait_as(execution, command, _wait_to_catch_up(execution, command))


def _wait_as(execution: Execution, command: ReadGroup, wait: Wait) -> None:
    execution.wait = wait
    execution.retry = replace(command, until_ms=wait.until_ms)


def _wait_to_catch_up(execution: Execution, command: ReadGroup) -> Wait:
    until_ms = deadline_ms(execution, command)
    if until_ms is None and command.block_ms is None:
        until_ms = execution.now_ms + FILTER_READ_MS_MAX
    return Wait((), command.group, until_ms, None, is_behind=True)


def _gathered(
    execution: Execution, command: ReadGroup, sources: Sequence[tuple[bytes, StreamId | Special]]
) -> ReadReply | None:
    """Wait for more entries, and return the empty reply; None if the read returns what is available, because
    that is enough, an entry can be claimed, or the read shows a history."""
    assert command.batch is not None
    if not all(isinstance(after, Special) for _, after in sources):
        return None
    most, available = command.batch.min_count, 0
    wait = _wait(execution, command, command.claim_min_idle_ms)
    scan, counted = FilterScan(execution), []
    for source, before in zip(command.streams, _counted_before(command), strict=True):
        stream = execution.keyspace.streams[source.key]
        if _has_claimable(execution, command, source.key):
            return None
        group = stream.groups[command.group]
        available += group.ready_count
        found, now_counted = _new_count(scan, stream, group, before, max(most - available, 0))
        available += found
        counted.append(now_counted)
    batch = lingering(execution, command, available)
    if batch is None:
        return None
    if command.until_ms is None:
        for key in wait.keys:
            group = execution.keyspace.streams[key].groups[command.group]
            touch_consumer(execution, key, group, command.consumer)
    times = [time for time in (wait.claim_at_ms, batch.until_ms) if time is not None]
    wait = replace(wait, claim_at_ms=min(times, default=None), is_gathering=True)
    if scan.is_behind:
        # The count continues by itself.
        wait = replace(wait, keys=(), claim_at_ms=None, is_behind=True)
    execution.wait = wait
    execution.retry = replace(command, until_ms=wait.until_ms, batch=replace(batch, counted=tuple(counted)))
    return ReadReply([_unread(execution, command, source.key, Special.NEW) for source in command.streams])


def _counted_before(command: ReadGroup) -> Sequence[Counted | None]:
    assert command.batch is not None
    return command.batch.counted or [None] * len(command.streams)


def _new_count(
    scan: FilterScan, stream: Stream, group: Group, before: Counted | None, most: int
) -> tuple[int, Counted | None]:
    """Return how many new entries the group has, up to `most`. With a filter these are the ones that match,
    and the second value has the count for the next attempt."""
    wanted = filter_of(group)
    if wanted is None:
        return stream.log.count_after(group.last_delivered_id, most), None
    counted = count_matching(scan, stream, group, wanted, before, most)
    return counted.matching, counted


def _has_claimable(execution: Execution, command: ReadGroup, key: bytes) -> bool:
    """Return whether the read would claim an entry now."""
    stream = execution.keyspace.streams[key]
    group = stream.groups[command.group]
    min_idle_ms = command.claim_min_idle_ms
    if min_idle_ms is None:
        min_idle_ms = own_min_idle_ms(command, group)
    if min_idle_ms is None:
        return False
    from_ms = claimable_from_ms(stream, group)
    return from_ms is not None and idle_since(from_ms, execution.now_ms) >= min_idle_ms


def _checked_sources(execution: Execution, command: ReadGroup) -> list[tuple[bytes, StreamId | Special]]:
    """Return the key of each stream, and where to read it from. Raises NOGROUP, and the error of a malformed
    position."""
    sources: list[tuple[bytes, StreamId | Special]] = []
    for source in command.streams:
        if execution.keyspace.group(source.key, command.group) is None:
            raise no_group_for_read(source.key, command.group, missing_for(execution, source.key))
        position = source.after
        if not isinstance(position, Special):
            # Redis stores ``>`` as the greatest id, so the greatest id also asks for new entries.
            position = Special.NEW if position == MAX_ID else parsed_position(position)
        sources.append((source.key, position))
    return sources


def _unread(execution: Execution, command: ReadGroup, key: bytes, after: StreamId | Special) -> StreamRead:
    """A stream after the one that used up the budget or the room: it creates no consumer, and the reply does
    not show it. An empty history would tell the client that nothing is left there."""
    if not isinstance(after, Special):
        return StreamRead(key, NO_ENTRIES, next=after)
    group = execution.keyspace.streams[key].groups[command.group]
    return StreamRead(key, NO_ENTRIES, next=group.last_delivered_id, new=True)


def _wait(execution: Execution, command: ReadGroup, min_idle_ms: int | None) -> Wait:
    keys = tuple(source.key for source in command.streams)
    times = [_claimable_at_ms(execution, key, command, min_idle_ms) for key in keys]
    claim_at_ms = min((time for time in times if time is not None), default=None)
    return Wait(keys, command.group, deadline_ms(execution, command), claim_at_ms)


def _claimable_at_ms(
    execution: Execution, key: bytes, command: ReadGroup, min_idle_ms: int | None
) -> int | None:
    """When the oldest live pending entry becomes idle enough, in Unix milliseconds (rule 41); None if the
    read claims nothing there."""
    stream = execution.keyspace.streams[key]
    group = stream.groups[command.group]
    if min_idle_ms is None:
        min_idle_ms = own_min_idle_ms(command, group)
    if min_idle_ms is None:
        return None
    from_ms = claimable_from_ms(stream, group)
    if from_ms is None:
        # An entry may become pending meanwhile, without a wake-up of this reader.
        return execution.now_ms + max(min_idle_ms, CLAIM_LOOK_MS)
    return from_ms + min_idle_ms
