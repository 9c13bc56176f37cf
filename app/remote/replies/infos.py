"""The answers of XINFO and XPENDING as values of `core.replies`.

An engine older than Redis 8.10.2 leaves out some members; their values are then those of a stream that never
used the feature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tailrace.app.remote.link.port import Resp
from tailrace.app.remote.replies.shapes import entries_of, id_of, int_of, map_of
from tailrace.core.limits import IDMP_DURATION_S_DEFAULT, IDMP_MAXSIZE_DEFAULT
from tailrace.core.replies import (
    ConsumerFullInfo,
    ConsumerInfo,
    GroupFullInfo,
    GroupInfo,
    PendingEntry,
    PendingSummaryReply,
    StreamFullInfo,
    StreamInfo,
)

UNOWNED_IDLE_MS = -1
"""The idle time of an entry without an owner."""

NEVER_ACTIVE_MS = -1
"""The time of activity of a consumer that never received an entry, or whose engine does not record it."""


def stream_info(answer: Resp) -> StreamInfo:
    """Return the short form of XINFO STREAM."""
    return _stream(map_of(answer))


def _stream(found: Mapping[bytes, Resp]) -> StreamInfo:
    groups = found[b"groups"]
    first, last = found.get(b"first-entry"), found.get(b"last-entry")
    return StreamInfo(
        length=_int(found, b"length"),
        block_count=_int(found, b"radix-tree-keys"),
        last_id=id_of(found[b"last-generated-id"]),
        max_deleted_id=id_of(found.get(b"max-deleted-entry-id", b"0-0")),
        entries_added=_int(found, b"entries-added"),
        first_id=id_of(found.get(b"recorded-first-entry-id", b"0-0")),
        idmp_duration_s=_int(found, b"idmp-duration", IDMP_DURATION_S_DEFAULT),
        idmp_maxsize=_int(found, b"idmp-maxsize", IDMP_MAXSIZE_DEFAULT),
        producer_count=_int(found, b"pids-tracked"),
        idmp_key_count=_int(found, b"iids-tracked"),
        idmp_keys_added=_int(found, b"iids-added"),
        idmp_duplicates=_int(found, b"iids-duplicates"),
        group_count=len(groups) if isinstance(groups, list) else int_of(groups),
        first_entry=entries_of([] if first is None else [first]),
        last_entry=entries_of([] if last is None else [last]),
    )


def stream_full_info(answer: Resp, now_ms: int) -> StreamFullInfo:
    """Return the full form of XINFO STREAM; `now_ms`: the time of the answer."""
    found = map_of(answer)
    return StreamFullInfo(
        _stream(found),
        entries_of(_rows(found[b"entries"])),
        [_full_group(each, now_ms) for each in _rows(found[b"groups"])],
    )


def _full_group(answer: Resp, now_ms: int) -> GroupFullInfo:
    found = map_of(answer)
    pending = [_full_pending(row, now_ms) for row in _rows(found.get(b"pending", found.get(b"pel")))]
    return GroupFullInfo(
        name=_bytes(found[b"name"]),
        last_delivered_id=id_of(found[b"last-delivered-id"]),
        entries_read=_optional(found.get(b"entries-read")),
        lag=_lag(found),
        pending_count=_int(found, b"pel-count"),
        nacked_count=_int(found, b"nacked-count"),
        pending=pending,
        consumers=[_full_consumer(each, now_ms) for each in _rows(found[b"consumers"])],
    )


def _lag(group: Mapping[bytes, Resp]) -> int | None:
    """Return the lag of a group; None for a negative one, which engines show after XSETID set the stream's
    counter below that of the group."""
    lag = _optional(group.get(b"lag"))
    return None if lag is None or lag < 0 else lag


def _full_pending(row: Resp, now_ms: int) -> PendingEntry:
    value, consumer, at_ms, deliveries = _rows(row)
    return _pending_entry(id_of(value), _bytes(consumer), int_of(at_ms), now_ms, int_of(deliveries))


def _full_consumer(answer: Resp, now_ms: int) -> ConsumerFullInfo:
    found = map_of(answer)
    name = _bytes(found[b"name"])
    rows = [_rows(row) for row in _rows(found.get(b"pending", found.get(b"pel")))]
    return ConsumerFullInfo(
        name=name,
        seen_at_ms=_int(found, b"seen-time"),
        active_at_ms=_int(found, b"active-time", NEVER_ACTIVE_MS),
        pending_count=_int(found, b"pel-count"),
        pending=[_pending_entry(id_of(row[0]), name, int_of(row[1]), now_ms, int_of(row[2])) for row in rows],
    )


def _pending_entry(value: int, consumer: bytes, at_ms: int, now_ms: int, deliveries: int) -> PendingEntry:
    if not consumer and not at_ms:  # a consumer can have an empty name
        return PendingEntry(value, None, UNOWNED_IDLE_MS, 0, deliveries)
    return PendingEntry(value, consumer, max(now_ms - at_ms, 0), at_ms, deliveries)


def group_infos(rows: Sequence[Resp]) -> list[GroupInfo]:
    """Return the reply of XINFO GROUPS."""
    return [
        GroupInfo(
            name=_bytes(found[b"name"]),
            consumer_count=_int(found, b"consumers"),
            pending_count=_int(found, b"pending"),
            last_delivered_id=id_of(found[b"last-delivered-id"]),
            entries_read=_optional(found.get(b"entries-read")),
            lag=_lag(found),
        )
        for found in map(map_of, rows)
    ]


def consumer_infos(rows: Sequence[Resp]) -> list[ConsumerInfo]:
    """Return the reply of XINFO CONSUMERS."""
    return [
        ConsumerInfo(
            name=_bytes(found[b"name"]),
            pending_count=_int(found, b"pending"),
            idle_ms=_int(found, b"idle"),
            inactive_ms=_int(found, b"inactive", NEVER_ACTIVE_MS),
        )
        for found in map(map_of, rows)
    ]


def pending_summary(answer: Resp) -> PendingSummaryReply:
    """Return the reply of XPENDING without a range."""
    count, least, greatest, consumers = _rows(answer)
    pairs = [_rows(each) for each in _rows(consumers)]
    return PendingSummaryReply(
        int_of(count),
        None if least is None else id_of(least),
        None if greatest is None else id_of(greatest),
        [(_bytes(name), int_of(each)) for name, each in pairs],
    )


def pending_entries(rows: Sequence[Resp], now_ms: int) -> list[PendingEntry]:
    """Return the reply of XPENDING with a range; `now_ms`: the time of the answer."""
    found = []
    for row in rows:
        value, consumer, idle_ms, deliveries = _rows(row)
        idle = int_of(idle_ms)
        name = _bytes(consumer)
        found.append(
            PendingEntry(id_of(value), name, idle, now_ms - idle, int_of(deliveries))
            if name or idle != UNOWNED_IDLE_MS
            else PendingEntry(id_of(value), None, UNOWNED_IDLE_MS, 0, int_of(deliveries))
        )
    return found


def _rows(answer: Resp) -> list[Resp]:
    assert answer is None or isinstance(answer, list)
    return [] if answer is None else answer  # type: ignore[return-value] # no errors inside of these answers


def _bytes(answer: Resp) -> bytes:
    assert isinstance(answer, bytes)
    return answer


def _int(found: Mapping[bytes, Resp], name: bytes, missing: int = 0) -> int:
    value = found.get(name)
    return missing if value is None else int_of(value)


def _optional(answer: Resp) -> int | None:
    return None if answer is None else int_of(answer)
