"""XINFO: the state of a stream, its groups and their consumers, as data."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from core.commands import InfoConsumers, InfoGroups, InfoStream
from core.consumer import NEVER_ACTIVE_MS, Consumer
from core.errors import no_group, no_such_key
from core.execution import Execution, parsed
from core.group import Group
from core.handlers.pending_views import describe, pending_unit
from core.idle import idle_since
from core.lag import lag_of
from core.replies import (
    ConsumerFullInfo,
    ConsumerInfo,
    Entries,
    GroupFullInfo,
    GroupInfo,
    PendingEntry,
    StreamFullInfo,
    StreamInfo,
)
from core.stream import Stream
from core.stream_id import StreamId


def info_stream(run: Execution, command: InfoStream) -> StreamInfo | StreamFullInfo:
    """The short form is O(log n); the full one is O(what `full_count` allows of entries and PELs)."""
    stream = _require_stream(run, command.key)
    full_count = parsed(command.full_count)
    if full_count is None:
        return _short(stream)
    count = full_count or None
    return StreamFullInfo(
        _short(stream),
        Entries(*stream.log.range(count=count)),
        [_full_group(stream, group, count, run.now_ms) for group in stream.groups.values()],
    )


def _require_stream(run: Execution, key: bytes) -> Stream:
    stream = run.stream(key)
    if stream is None:
        raise no_such_key(key)
    return stream


def _short(stream: Stream) -> StreamInfo:
    memory = stream.idempotency
    return StreamInfo(
        length=stream.length,
        block_count=len(stream.log.blocks),
        last_id=stream.last_id,
        max_deleted_id=stream.max_deleted_id,
        entries_added=stream.entries_added,
        first_id=stream.first_id,
        idmp_duration_s=memory.duration_s,
        idmp_maxsize=memory.maxsize,
        producer_count=memory.producer_count,
        idmp_key_count=memory.key_count,
        idmp_keys_added=memory.keys_added,
        idmp_duplicates=memory.duplicates,
        group_count=len(stream.groups),
        first_entry=Entries(*stream.log.range(count=1)),
        last_entry=Entries(*stream.log.range(count=1, reverse=True)),
    )


def _full_group(stream: Stream, group: Group, count: int | None, now_ms: int) -> GroupFullInfo:
    return GroupFullInfo(
        name=group.name,
        last_delivered_id=group.last_delivered_id,
        entries_read=group.entries_read,
        lag=lag_of(stream, group),
        pending_count=group.pending.count,
        nacked_count=group.pending.nacked_count,
        pending=_described(group, group.pending.ids(), count, now_ms),
        consumers=[_full_consumer(group, each, count, now_ms) for each in group.consumers.values()],
    )


def _full_consumer(group: Group, consumer: Consumer, count: int | None, now_ms: int) -> ConsumerFullInfo:
    return ConsumerFullInfo(
        name=consumer.name,
        seen_at_ms=consumer.seen_at_ms,
        active_at_ms=consumer.active_at_ms,
        pending_count=consumer.pending_count,
        pending=_described(group, consumer.pending_ids(), count, now_ms),
    )


def _described(group: Group, ids: Iterator[StreamId], count: int | None, now_ms: int) -> list[PendingEntry]:
    return [describe(value, pending_unit(group, value), now_ms) for value in islice(ids, count)]


def info_groups(run: Execution, command: InfoGroups) -> list[GroupInfo]:
    """The groups in byte order of their names. O(groups)."""
    stream = _require_stream(run, command.key)
    return [
        GroupInfo(
            name=group.name,
            consumer_count=len(group.consumers),
            pending_count=group.pending.count,
            last_delivered_id=group.last_delivered_id,
            entries_read=group.entries_read,
            lag=lag_of(stream, group),
        )
        for group in stream.groups.values()
    ]


def info_consumers(run: Execution, command: InfoConsumers) -> list[ConsumerInfo]:
    """The consumers in byte order of their names. O(consumers)."""
    stream = _require_stream(run, command.key)
    group = stream.groups.get(command.group)
    if group is None:
        raise no_group(command.key, command.group)
    return [
        ConsumerInfo(
            name=consumer.name,
            pending_count=consumer.pending_count,
            idle_ms=idle_since(consumer.seen_at_ms, run.now_ms),
            inactive_ms=_inactive_ms(consumer, run.now_ms),
        )
        for consumer in group.consumers.values()
    ]


def _inactive_ms(consumer: Consumer, now_ms: int) -> int:
    if consumer.active_at_ms == NEVER_ACTIVE_MS:
        return NEVER_ACTIVE_MS
    return idle_since(consumer.active_at_ms, now_ms)
