"""XREAD: reads several streams, each from a position (rules 22 to 26).

Waiting reads that gather entries return when enough are available, or have lingered long enough.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from tailrace.core.bounds.reply_budget import ReplyBudget
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.commands import SOME_INCARNATION, Batch, Read, ReadFrom, ReadGroup, Special
from tailrace.core.execution import Execution, parsed_position
from tailrace.core.handlers.ranges import require_own_position, require_untrimmed, smaller
from tailrace.core.log.id_sequence import as_run
from tailrace.core.outcome import Wait
from tailrace.core.replies import NO_ENTRIES, Entries, ReadReply, StreamRead
from tailrace.core.stream import Stream
from tailrace.core.stream_id import ZERO_ID, StreamId

_SMALL_SHARE: Final = 16
"""A small entry: its stored form takes at most this share of the bytes that a read may return. As RESP it
takes at most three times as many bytes as stored, and a few more."""


def waits_for_more(command: Read | ReadGroup) -> bool:
    """Return whether the read may wait although entries are available. O(1)."""
    return command.batch is not None and command.block_ms is not None


def lingering(execution: Execution, command: Read | ReadGroup, available: int) -> Batch | None:
    """Return the batch with which the read continues to wait, None if it returns what is available.

    `available`: how many entries the read could return, counted up to `min_count`. Lingering begins with the
    first attempt that finds an entry. It begins again if the entries are gone, and if the clock stepped back,
    so it never lasts longer than `linger_ms` by the clock.
    """
    batch, now_ms = command.batch, execution.now_ms
    assert batch is not None
    if available >= batch.min_count or (command.until_ms is not None and command.until_ms <= now_ms):
        return None
    if not available or batch.linger_ms is None:
        return replace(batch, until_ms=None)
    until_ms = batch.until_ms
    if until_ms is None or until_ms - now_ms > batch.linger_ms:
        until_ms = now_ms + batch.linger_ms
    return None if until_ms <= now_ms else replace(batch, until_ms=until_ms)


def read(execution: Execution, command: Read) -> ReadReply:
    """XREAD: return the entries of each named stream above its position.

    If there are none and the command blocks, the execution's `wait` is set, and `retry` is set to the command
    with every position resolved (rule 22). Raises REPLY_TOO_LARGE if the request has no room left; with
    `strict`, raises POSITION_TRIMMED. O(log n + entries returned) a stream.
    """
    if command.block_ms is not None and (followed := _followed(execution, command)) is not None:
        return followed
    execution.room(command.limits.page_bytes).require_any()
    positions = [_resolve(execution, source) for source in command.streams]
    for source, after in zip(command.streams, positions, strict=True):
        if source.incarnation is not None:
            require_own_position(execution, source, after)
    if command.strict:
        _require_untrimmed(execution, command, positions)
    if waits_for_more(command):
        empty = _gathered(execution, command, positions)
        if empty is not None:
            return empty
    budget = ReplyBudget(command.limits)
    reply = ReadReply(
        [
            _read_stream(execution, source.key, after, command.limits.count, budget)
            for source, after in zip(command.streams, positions, strict=True)
        ]
    )
    if reply.is_empty and command.block_ms is not None:
        keys = tuple(source.key for source in command.streams)
        until_ms = deadline_ms(execution, command)
        execution.wait = Wait(keys, group=None, until_ms=until_ms, claim_at_ms=None)
        execution.retry = _resolved(command, positions, until_ms)
    return reply


def _followed(execution: Execution, command: Read) -> ReadReply | None:
    """Answer a waiting read of one stream whose position is the last id that the stream ever issued, or that
    of the entry before it, as followers read. Return None for any other read. O(log n), without bounds and
    budgets: one small entry always fits."""
    if len(command.streams) > 1 or command.batch is not None or execution.reply_room is not None:
        return None
    [source] = command.streams
    stream, after, known = execution.stream(source.key), source.after, source.incarnation
    if stream is None or not isinstance(after, int) or stream.last_id < after:
        return None
    incarnation = execution.keyspace.incarnation_of(stream)
    if known is not None and known not in (SOME_INCARNATION, incarnation):
        return None
    entries, following = NO_ENTRIES, after
    if stream.last_id == after:
        until_ms = deadline_ms(execution, command)
        execution.wait = Wait((source.key,), group=None, until_ms=until_ms, claim_at_ms=None)
        execution.retry = command if until_ms == command.until_ms else replace(command, until_ms=until_ms)
    else:
        ids, fragments = stream.log.range(after + 1, count=2)
        if len(ids) != 1 or not _fits(command, stream, after, fragments[0]):
            return None
        entries, following = Entries(ids, fragments), ids[0]
    return ReadReply((StreamRead(source.key, entries, following, incarnation=incarnation),))


def _fits(command: Read, stream: Stream, after: StreamId, fragment: bytes) -> bool:
    """Return whether the read may return its only entry: it certainly fits, and none is missing before it."""
    limits, [source] = command.limits, command.streams
    if limits.page_bytes is not None or 0 in (limits.count, limits.max_count):
        return False
    small = _SMALL_SHARE * (len(fragment) + len(source.key) + _SMALL_SHARE)
    is_small = limits.max_bytes is None or small <= limits.max_bytes
    return is_small and not (command.strict and after < stream.max_trimmed_id)


def _gathered(execution: Execution, command: Read, positions: list[StreamId]) -> ReadReply | None:
    """Wait for more entries, and return the empty reply; None if the read returns what is available."""
    assert command.batch is not None
    most, available = command.batch.min_count, 0
    for source, after in zip(command.streams, positions, strict=True):
        stream = execution.stream(source.key)
        if stream is not None and available < most:
            available += stream.log.count_after(after, most - available)
    batch = lingering(execution, command, available)
    if batch is None:
        return None
    keys, until_ms = tuple(source.key for source in command.streams), deadline_ms(execution, command)
    execution.wait = Wait(keys, group=None, until_ms=until_ms, claim_at_ms=batch.until_ms)
    execution.retry = replace(_resolved(command, positions, until_ms), batch=batch)
    pairs = zip(command.streams, positions, strict=True)
    return ReadReply([StreamRead(source.key, NO_ENTRIES, next=after) for source, after in pairs])


def deadline_ms(execution: Execution, command: Read | ReadGroup) -> int | None:
    """When a waiting read returns nil, in Unix milliseconds; None if it waits without a limit.

    The deadline is set at the first attempt and stays the same at each retry (rule 46).
    """
    return command.until_ms or (execution.now_ms + command.block_ms if command.block_ms else None)


def _resolve(execution: Execution, source: ReadFrom) -> StreamId:
    after = parsed_position(source.after)
    if not isinstance(after, Special):
        return after
    stream = execution.stream(source.key)
    if stream is None:
        return ZERO_ID
    if after is Special.LAST_ID:
        return stream.last_id
    return max(stream.log.last_id - 1, ZERO_ID)


def _require_untrimmed(execution: Execution, command: Read, positions: list[StreamId]) -> None:
    for source, after in zip(command.streams, positions, strict=True):
        stream = execution.stream(source.key)
        if stream is not None:
            require_untrimmed(stream, after + 1)


def _read_stream(
    execution: Execution, key: bytes, after: StreamId, count: int | None, budget: ReplyBudget
) -> StreamRead:
    stream = execution.stream(key)
    if stream is None:
        return StreamRead(key, NO_ENTRIES, next=after)
    incarnation = execution.keyspace.incarnation_of(stream)
    if stream.log.last_id <= after or budget.is_spent or not execution.room().has_any:
        return StreamRead(key, NO_ENTRIES, next=after, incarnation=incarnation)
    budget.begin_stream(key)
    entries = take_after(execution.room(), stream, after, count, budget)
    budget.end_stream(len(entries.ids))
    following = entries.ids[-1] if entries.ids else after
    return StreamRead(key, entries, following, cut=not entries.ids, incarnation=incarnation)


def take_after(
    room: ReplyRoom,
    stream: Stream,
    after: StreamId,
    count: int | None,
    budget: ReplyBudget,
    *,
    claim: bool = False,
) -> Entries:
    """Return the entries above `after` that fit into `count`, `budget` and `room`, and charge both for them.

    `claim`: the reply shows idle times and delivery counts. O(log n + entries).
    """
    wanted = smaller(count, budget.remaining)
    if wanted == 0 or not room.has_any:
        return NO_ENTRIES
    most = smaller(wanted, room.items_left + 1)
    max_bytes = smaller(budget.fragment_bytes_max, room.left_bytes)
    ids, fragments = stream.log.range(after + 1, count=most, max_bytes=max_bytes)
    entries = Entries(ids, fragments).first(room.take_fitting(fragments))
    kept = entries.first(budget.spend(entries, claim=claim))
    room.give_back(entries.fragments[len(kept) :])
    return Entries(as_run(kept.ids), kept.fragments)


def _resolved(command: Read, positions: list[StreamId], until_ms: int | None) -> Read:
    sources = zip(command.streams, positions, strict=True)
    streams = tuple(ReadFrom(source.key, after, source.incarnation) for source, after in sources)
    return replace(command, streams=streams, until_ms=until_ms)
