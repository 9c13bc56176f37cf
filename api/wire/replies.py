"""Engine replies as JSON: one function a reply, none of them knows HTTP parameters.

It owns the members and their order. Entries are joined from the stored bytes and put in raw.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec
from starlette.responses import Response

from tailrace.api.name_members import named
from tailrace.api.wire.negotiation import JSON
from tailrace.core.log.entry_json import Shape, wire_entries, wire_lines
from tailrace.core.replies import (
    AppendReply,
    ClaimReply,
    ConsumerFullInfo,
    ConsumerInfo,
    DeleteResult,
    Entries,
    GroupFullInfo,
    GroupInfo,
    PendingEntry,
    PendingSummaryReply,
    RangeReply,
    SeekReply,
    SplitReply,
    StreamFullInfo,
    StreamInfo,
    StreamList,
    StreamRead,
    StreamSummary,
)
from tailrace.core.stream_id import StreamId, format_id

Json: TypeAlias = dict[str, Any]

_encode: Final = msgspec.json.Encoder().encode

SLICE_ENTRIES: Final = 5_000
"""Entries of a range that are written before others are served: up to 20 ms."""

_RESULT_NAMES: Final = {
    DeleteResult.DELETED: "deleted",
    DeleteResult.REFERENCED: "referenced",
    DeleteResult.NOT_FOUND: "not_found",
}


def json_response(content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """`content` as JSON, without any validation: it was built here."""
    return Response(_encode(content), status, dict(headers or {}), JSON)


def no_content() -> Response:
    """Done, and there is nothing to say."""
    return Response(status_code=204)


# --- entries ---------------------------------------------------------------------------------------


def entries_json(entries: Entries, shape: Shape, *, deliveries: bool = False) -> msgspec.Raw:
    """The entries as a JSON array, joined from their stored bytes."""
    return msgspec.Raw(wire_entries(entries, shape, deliveries=deliveries))


def first_entry_json(entries: Entries, shape: Shape = Shape.NATURAL) -> msgspec.Raw | None:
    """The first entry as a JSON object; None for none."""
    lines = wire_lines(entries, shape)
    return msgspec.Raw(lines[0]) if lines else None


async def range_json(reply: RangeReply, shape: Shape) -> Json:
    """A page of a range. Others are served while a long one is written."""
    entries = reply.entries
    pieces = []
    for start in range(0, len(entries), SLICE_ENTRIES):
        if start:
            await asyncio.sleep(0)
        pieces.append(wire_entries(entries.part(start, start + SLICE_ENTRIES), shape)[1:-1])
    following = format_id(entries.ids[-1]) if reply.more and entries.ids else None
    return {"entries": msgspec.Raw(b"[%b]" % b",".join(pieces)), "next": following}


def tail_json(read: StreamRead, shape: Shape) -> Json:
    """A page of a read that goes on after a position."""
    return {"entries": entries_json(read.entries, shape), "next": format_id(read.next)}


def slice_json(read: StreamRead, shape: Shape, *, deliveries: bool) -> Json:
    """One stream of a read."""
    return {
        **named(key=read.key),
        "entries": entries_json(read.entries, shape, deliveries=deliveries),
        "next": format_id(read.next),
    }


def appended_json(reply: AppendReply, *, with_ids: bool = False) -> Json:
    """What a batch appended."""
    ids = reply.ids
    content: Json = {"count": len(ids), "first_id": format_id(ids[0]), "last_id": format_id(ids[-1])}
    return {**content, "ids": formatted(ids)} if with_ids else content


def formatted(ids: Sequence[StreamId]) -> list[str]:
    """The ids as text."""
    return [format_id(value) for value in ids]


def deletions_json(ids: Sequence[StreamId], results: Sequence[DeleteResult]) -> list[Json]:
    """What became of each id."""
    return [
        {"id": format_id(value), "result": _RESULT_NAMES[result]}
        for value, result in zip(ids, results, strict=True)
    ]


def split_json(reply: SplitReply) -> Json:
    """A planned split."""
    parts = [
        {"start": format_id(part.start), "end": format_id(part.end), "count": part.count}
        for part in reply.parts
    ]
    return {"parts": parts, "count": reply.count}


def seek_json(reply: SeekReply) -> Json:
    """Where a page ends."""
    return {"end": optional_id(reply.end), "count": reply.count}


def optional_id(value: StreamId | None) -> str | None:
    """The id as text; None where there is none."""
    return None if value is None else format_id(value)


# --- streams ---------------------------------------------------------------------------------------


def stream_json(key: bytes, info: StreamInfo) -> Json:
    """A stream as a whole."""
    return {
        **named(key=key),
        "length": info.length,
        "first_id": optional_id(_first_id(info)),
        "last_id": format_id(info.last_id),
        "max_deleted_id": format_id(info.max_deleted_id),
        "entries_added": info.entries_added,
        "recorded_first_id": format_id(info.first_id),
        "groups": info.group_count,
        "blocks": info.block_count,
        "idempotency": _idempotency_json(info),
        "first_entry": first_entry_json(info.first_entry),
        "last_entry": first_entry_json(info.last_entry),
    }


def stream_headers(info: StreamInfo) -> dict[str, str]:
    """What HEAD says of a stream; no `X-First-Id` where it is empty."""
    first_id = optional_id(_first_id(info))
    headers = {"X-Stream-Length": str(info.length), "X-Last-Id": format_id(info.last_id)}
    return headers if first_id is None else {**headers, "X-First-Id": first_id}


def _first_id(info: StreamInfo) -> StreamId | None:
    return info.first_entry.ids[0] if info.first_entry.ids else None


def _idempotency_json(info: StreamInfo) -> Json:
    return {
        "duration_s": info.idmp_duration_s,
        "maxsize": info.idmp_maxsize,
        "producers": info.producer_count,
        "keys": info.idmp_key_count,
        "keys_added": info.idmp_keys_added,
        "duplicates": info.idmp_duplicates,
    }


def full_json(full: StreamFullInfo, shape: Shape) -> Json:
    """What `full=true` adds to a stream."""
    return {
        "entries": entries_json(full.entries, shape),
        "group_details": [_group_detail_json(group) for group in full.groups],
    }


def _group_detail_json(group: GroupFullInfo) -> Json:
    return {
        **named(name=group.name),
        "last_delivered_id": format_id(group.last_delivered_id),
        "entries_read": group.entries_read,
        "lag": group.lag,
        "pending": group.pending_count,
        "nacked": group.nacked_count,
        "pending_entries": [pending_json(entry) for entry in group.pending],
        "consumers": [_consumer_detail_json(consumer) for consumer in group.consumers],
    }


def _consumer_detail_json(consumer: ConsumerFullInfo) -> Json:
    return {
        **named(name=consumer.name),
        "seen_at_ms": consumer.seen_at_ms,
        "active_at_ms": _known(consumer.active_at_ms),
        "pending": consumer.pending_count,
        "pending_entries": [pending_json(entry) for entry in consumer.pending],
    }


def stream_list_json(reply: StreamList) -> Json:
    """A page of streams."""
    streams = [_stream_item_json(stream) for stream in reply.streams]
    following = reply.streams[-1].key if reply.more and reply.streams else None
    return {"streams": streams, **named(next=following)}


def _stream_item_json(stream: StreamSummary) -> Json:
    return {
        **named(key=stream.key),
        "length": stream.length,
        "last_id": format_id(stream.last_id),
        "groups": stream.group_count,
    }


# --- groups ----------------------------------------------------------------------------------------


def group_json(group: GroupInfo) -> Json:
    """A consumer group."""
    return {
        **named(name=group.name),
        "consumers": group.consumer_count,
        "pending": group.pending_count,
        "last_delivered_id": format_id(group.last_delivered_id),
        "entries_read": group.entries_read,
        "lag": group.lag,
    }


def consumer_json(consumer: ConsumerInfo) -> Json:
    """A consumer of a group."""
    return {
        **named(name=consumer.name),
        "pending": consumer.pending_count,
        "idle_ms": consumer.idle_ms,
        "inactive_ms": _known(consumer.inactive_ms),
    }


def pending_json(entry: PendingEntry) -> Json:
    """A pending entry."""
    return {
        "id": format_id(entry.id),
        **named(consumer=entry.consumer),
        "idle_ms": _known(entry.idle_ms),
        "deliveries": entry.deliveries,
        "delivered_at_ms": entry.delivered_at_ms,
    }


def _known(value: int) -> int | None:
    """The engine writes -1 for what never was; JSON has a word for it."""
    return None if value < 0 else value


def overview_json(reply: PendingSummaryReply) -> Json:
    """What is pending in a group, in all."""
    return {
        "count": reply.count,
        "min_id": optional_id(reply.min_id),
        "max_id": optional_id(reply.max_id),
        "consumers": [{**named(name=name), "pending": count} for name, count in reply.consumers],
    }


def claim_json(reply: ClaimReply, shape: Shape) -> Json:
    """What was claimed."""
    if reply.just_id:
        return {"ids": formatted(reply.entries.ids)}
    return {"entries": entries_json(reply.entries, shape)}


def autoclaim_json(reply: ClaimReply, shape: Shape) -> Json:
    """What a scan claimed."""
    return {
        "cursor": format_id(reply.cursor),
        **claim_json(reply, shape),
        "deleted_ids": formatted(reply.deleted_ids),
    }
