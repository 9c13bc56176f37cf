"""XINFO: the state of a stream, its groups and their consumers, as data."""

from __future__ import annotations

from itertools import islice

from tailrace.core.commands import InfoConsumers, InfoGroups, InfoStream, Range
from tailrace.core.deliveries import idle_since
from tailrace.core.errors import ErrorCode, StreamError, no_group, no_such_key
from tailrace.core.execution import Execution, parsed
from tailrace.core.filters.conditions import UTF8
from tailrace.core.group import Group
from tailrace.core.group_settings import NO_SETTINGS
from tailrace.core.handlers.pending_views import LOOKUP_CHUNK, PendingRows, require_room_for_rows
from tailrace.core.handlers.ranges import exact_entries
from tailrace.core.handlers.retention import retention_info
from tailrace.core.lag import lag_of, unread_count, unread_since_ms
from tailrace.core.limits import INFO_FULL_PARTS_MAX
from tailrace.core.log.block_index import fragment_bytes
from tailrace.core.pending.consumer import NEVER_ACTIVE_MS, Consumer
from tailrace.core.replies import (
    ConsumerFullInfo,
    ConsumerInfo,
    Entries,
    GroupFullInfo,
    GroupInfo,
    PendingEntry,
    StreamFullInfo,
    StreamInfo,
)
from tailrace.core.stream import Stream


def info_stream(execution: Execution, command: InfoStream) -> StreamInfo | StreamFullInfo:
    """XINFO STREAM: the short form in O(log n), or the full form with groups, consumers and pending entries.

    The full form is O(groups and consumers, and entries and pending entries that `full_count` allows; 0
    allows all). Raises NO_SUCH_STREAM, LIMIT_EXCEEDED and REPLY_TOO_LARGE.
    """
    stream = _require_stream(execution, command.key)
    full_count = parsed(command.full_count)
    short = _short(execution, stream)
    if full_count is None:
        return short
    _require_few_parts(stream)
    count = full_count or None
    _require_room_for_pending(execution, stream, count)
    return StreamFullInfo(
        short,
        _first_entries(execution, stream, Range(command.key, count=count)),
        [_full_group(execution, stream, group, count) for group in stream.groups.values()],
    )


def _first_entries(execution: Execution, stream: Stream, command: Range) -> Entries:
    entries, _ = exact_entries(execution, stream, command)
    return Entries(list(entries.ids), entries.fragments)


def _require_stream(execution: Execution, key: bytes) -> Stream:
    stream = execution.stream(key)
    if stream is None:
        raise no_such_key(key)
    return stream


def _short(execution: Execution, stream: Stream) -> StreamInfo:
    memory = stream.idempotency
    first, last = Entries(*stream.log.range(count=1)), Entries(*stream.log.range(count=1, reverse=True))
    execution.room().charge_entries(first.fragments)
    execution.room().charge_entries(last.fragments)
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
        first_entry=first,
        last_entry=last,
        incarnation=execution.incarnation(stream),
        retention=retention_info(stream, execution.now_ms),
        size_bytes=fragment_bytes(stream.log),
        scheduled_count=0 if stream.schedule is None else len(stream.schedule.entries),
    )


def _require_few_parts(stream: Stream) -> None:
    """Raise LIMIT_EXCEEDED if the full form has too many groups and consumers. O(groups)."""
    count = sum(1 + len(group.consumers) for group in stream.groups.values())
    if count > INFO_FULL_PARTS_MAX:
        raise StreamError(
            ErrorCode.LIMIT_EXCEEDED,
            f"ERR too many groups and consumers to show: {count}; XINFO STREAM FULL shows "
            f"{INFO_FULL_PARTS_MAX}; use XINFO GROUPS and XINFO CONSUMERS",
        )


def _require_room_for_pending(execution: Execution, stream: Stream, count: int | None) -> None:
    """Raise REPLY_TOO_LARGE if the lists of pending entries certainly do not fit, before they are made.
    O(groups + consumers)."""
    sizes: list[int] = []
    for group in stream.groups.values():
        sizes += [group.pending.count, *(each.pending_count for each in group.consumers.values())]
    require_room_for_rows(execution, sum(sizes if count is None else (min(each, count) for each in sizes)))


def _full_group(execution: Execution, stream: Stream, group: Group, count: int | None) -> GroupFullInfo:
    execution.room().charge_names((group.name,))
    return GroupFullInfo(
        name=group.name,
        last_delivered_id=group.last_delivered_id,
        entries_read=group.entries_read,
        lag=lag_of(stream, group),
        pending_count=group.pending.count,
        nacked_count=group.pending.nacked_count,
        pending=_described(execution, group, None, count),
        consumers=[_full_consumer(execution, group, each, count) for each in group.consumers.values()],
        first_held_id=group.needed_from if group.held_count else None,
        unread_count=unread_count(stream, group),
    )


def _full_consumer(
    execution: Execution, group: Group, consumer: Consumer, count: int | None
) -> ConsumerFullInfo:
    execution.room().charge_names((consumer.name,))
    return ConsumerFullInfo(
        name=consumer.name,
        seen_at_ms=consumer.seen_at_ms,
        active_at_ms=consumer.active_at_ms,
        pending_count=consumer.pending_count,
        pending=_described(execution, group, consumer, count),
    )


def _described(
    execution: Execution, group: Group, consumer: Consumer | None, count: int | None
) -> list[PendingEntry]:
    """The first `count` pending entries of the group, or of one consumer; None: all."""
    rows = PendingRows(execution, group, consumer)
    described: list[PendingEntry] = []
    ids = islice(rows.ids(), count)
    while some := list(islice(ids, LOOKUP_CHUNK)):
        described += rows.of(some, len(some))
    return described


def info_groups(execution: Execution, command: InfoGroups) -> list[GroupInfo]:
    """XINFO GROUPS: the groups in byte order of their names. O(groups). Raises NO_SUCH_STREAM."""
    stream = _require_stream(execution, command.key)
    execution.room().charge_names(list(stream.groups))
    configured = [group.settings for group in stream.groups.values() if group.settings is not None]
    execution.room().charge_names([each.dead_letter_stream or b"" for each in configured])
    execution.room().charge_names([each.filter.encode() for each in configured if each.filter is not None])
    execution.room().charge_names([(each.order_by or "").encode(*UTF8) for each in configured])
    return [
        GroupInfo(
            name=group.name,
            consumer_count=len(group.consumers),
            pending_count=group.pending.count,
            last_delivered_id=group.last_delivered_id,
            entries_read=group.entries_read,
            lag=lag_of(stream, group),
            settings=group.settings or NO_SETTINGS,
            dead_letter_count=group.dead_letter_count,
            lag_ms=_lag_ms(stream, group, execution.now_ms),
            held_count=None if group.order is None else group.held_count,
            keys_in_flight=None if group.order is None else len(group.order.in_flight),
            unread_count=unread_count(stream, group),
        )
        for group in stream.groups.values()
    ]


def _lag_ms(stream: Stream, group: Group, now_ms: int) -> int | None:
    since_ms = unread_since_ms(stream, group)
    return None if since_ms is None else idle_since(since_ms, now_ms)


def info_consumers(execution: Execution, command: InfoConsumers) -> list[ConsumerInfo]:
    """XINFO CONSUMERS: the consumers in byte order of their names. O(consumers).

    Raises NO_SUCH_STREAM or NOGROUP.
    """
    stream = _require_stream(execution, command.key)
    group = stream.groups.get(command.group)
    if group is None:
        raise no_group(command.key, command.group)
    execution.room().charge_names(list(group.consumers))
    return [
        ConsumerInfo(
            name=consumer.name,
            pending_count=consumer.pending_count,
            idle_ms=idle_since(consumer.seen_at_ms, execution.now_ms),
            inactive_ms=_inactive_ms(consumer, execution.now_ms),
        )
        for consumer in group.consumers.values()
    ]


def _inactive_ms(consumer: Consumer, now_ms: int) -> int:
    if consumer.active_at_ms == NEVER_ACTIVE_MS:
        return NEVER_ACTIVE_MS
    return idle_since(consumer.active_at_ms, now_ms)
