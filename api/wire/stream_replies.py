"""Writes engine replies about whole streams as JSON.

It owns the members and their order.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import asdict

from tailrace.api.name_members import named
from tailrace.api.schemas.base import INCARNATION_EXAMPLE
from tailrace.api.wire.group_replies import group_detail_json
from tailrace.api.wire.replies import Json, entries_json, first_entry_json, incarnation_json, optional_id
from tailrace.api.wire.turns import Slices
from tailrace.core.log.entry_json import Shape
from tailrace.core.replies import (
    EpochInfo,
    RetentionInfo,
    StreamFullInfo,
    StreamInfo,
    StreamList,
    StreamSummary,
)
from tailrace.core.stream_id import StreamId, format_id

INCARNATION_HEADER: Final[dict[str, Any]] = {
    "description": "What tells the stream from every other one, as in the state of the stream; absent if the "
    "stream does not exist.",
    "schema": {"type": "string"},
    "example": INCARNATION_EXAMPLE,
}
"""The description of the header `X-Incarnation`."""


def stream_json(key: bytes, info: StreamInfo) -> Json:
    """Return the state of a stream."""
    return {
        **named(key=key),
        **incarnation_json(info.incarnation),
        "length": info.length,
        "first_id": optional_id(_first_id(info)),
        "last_id": format_id(info.last_id),
        "max_deleted_id": format_id(info.max_deleted_id),
        "entries_added": info.entries_added,
        "recorded_first_id": format_id(info.first_id),
        "groups": info.group_count,
        "blocks": info.block_count,
        "bytes": info.size_bytes,
        "idempotency": _idempotency_json(info),
        **_retention_json(info.retention),
        **({"scheduled": info.scheduled_count} if info.scheduled_count else {}),
        "first_entry": first_entry_json(info.first_entry),
        "last_entry": first_entry_json(info.last_entry),
    }


def stream_headers(info: StreamInfo) -> dict[str, str]:
    """Return the headers that HEAD returns for a stream; an empty stream has no `X-First-Id`, and a
    stream behind a gateway no `X-Stream-Bytes`."""
    first_id = optional_id(_first_id(info))
    headers = {"X-Stream-Length": str(info.length), "X-Last-Id": format_id(info.last_id)}
    if first_id is not None:
        headers["X-First-Id"] = first_id
    if info.size_bytes is not None:
        headers["X-Stream-Bytes"] = str(info.size_bytes)
    return headers | incarnation_headers(info.incarnation)


def incarnation_headers(incarnation: str | None) -> dict[str, str]:
    """Return the header with the incarnation of a stream; none for a missing stream."""
    return {} if incarnation is None else {"X-Incarnation": incarnation}


def _first_id(info: StreamInfo) -> StreamId | None:
    return info.first_entry.ids[0] if info.first_entry.ids else None


def _retention_json(retention: RetentionInfo | None) -> Json:
    if retention is None:
        return {}
    state = {
        **{name: rule for name, rule in asdict(retention.rules).items() if rule is not None},
        "removed": retention.removed,
        "removed_at_ms": retention.removed_at_ms,
        "protected_entries": retention.protected_count,
        "protected_bytes": retention.protected_bytes,
    }
    return {"retention": state}


def _idempotency_json(info: StreamInfo) -> Json:
    return {
        "duration_s": info.idmp_duration_s,
        "maxsize": info.idmp_maxsize,
        "producers": info.producer_count,
        "keys": info.idmp_key_count,
        "keys_added": info.idmp_keys_added,
        "duplicates": info.idmp_duplicates,
    }


def epoch_json(epoch: EpochInfo) -> Json:
    """Return an epoch of a producer."""
    layout = None if epoch.layout is None else epoch.layout.decode("utf-8", "backslashreplace")
    return {"epoch": epoch.number, "layout": layout, "keys": epoch.key_count}


async def full_json(full: StreamFullInfo, shape: Shape) -> Json:
    """Return the members that `full=true` adds to the state of a stream. Other requests are served while many
    pending entries are written."""
    slices = Slices()
    return {
        "entries": entries_json(full.entries, shape),
        "group_details": [await group_detail_json(group, slices) for group in full.groups],
    }


def _header(description: str, schema_type: str, example: str | int) -> dict[str, Any]:
    return {"description": description, "schema": {"type": schema_type}, "example": example}


STREAM_HEADERS: Final = {
    "X-Stream-Length": _header("How many entries the stream has.", "integer", 3),
    "X-Stream-Bytes": _header(
        "The bytes of the entries, as in the state of the stream; absent behind a gateway.",
        "integer",
        201,
    ),
    "X-First-Id": _header(
        "The id of the first entry; absent if the stream is empty.", "string", "1692632086370-0"
    ),
    "X-Last-Id": _header("The last id that the stream issued.", "string", "1692632102976-0"),
    "X-Incarnation": INCARNATION_HEADER,
}
"""The headers of `HEAD /v1/streams/{key}`."""


def stream_list_json(reply: StreamList) -> Json:
    """Return a page of the list of streams."""
    streams = [_stream_item_json(stream) for stream in reply.streams]
    following = reply.streams[-1].key if reply.more and reply.streams else None
    return {"streams": streams, **named(next=following)}


def _stream_item_json(stream: StreamSummary) -> Json:
    return {
        **named(key=stream.key),
        "length": stream.length,
        "last_id": format_id(stream.last_id),
        "entries_added": stream.entries_added,
        "groups": stream.group_count,
    }
