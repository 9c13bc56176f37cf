"""Writes engine replies with entries as JSON: one function for each reply.

It owns the members and their order. Entries are joined from stored bytes and inserted as raw JSON.
`api.wire.stream_replies` and `api.wire.group_replies` write the other replies.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec
from starlette.responses import Response

from tailrace.api.name_members import named
from tailrace.api.wire.filtering import Scanned
from tailrace.api.wire.negotiation import JSON
from tailrace.core.log.entry_json import Shape, wire_entries, wire_lines
from tailrace.core.replies import (
    AppendReply,
    DeleteResult,
    Entries,
    RangeReply,
    SeekReply,
    SplitReply,
    StreamRead,
)
from tailrace.core.stream_id import StreamId, format_id

Json: TypeAlias = dict[str, Any]

_encode: Final = msgspec.json.Encoder().encode

SLICE_ENTRIES: Final = 5_000
"""How many entries of a range are written before other requests are served: up to 20 ms of work."""

_RESULT_NAMES: Final = {
    DeleteResult.DELETED: "deleted",
    DeleteResult.REFERENCED: "referenced",
    DeleteResult.NOT_FOUND: "not_found",
}


def json_response(content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response with `content` as JSON. The content is not validated."""
    return Response(_encode(content), status, dict(headers or {}), JSON)


def no_content() -> Response:
    """Return a response without a body (204)."""
    return Response(status_code=204)


# --- entries ---------------------------------------------------------------------------------------


def entries_json(entries: Entries, shape: Shape, *, deliveries: bool = False) -> msgspec.Raw:
    """Return the entries as a JSON array, joined from their stored bytes. O(bytes)."""
    return msgspec.Raw(wire_entries(entries, shape, deliveries=deliveries))


def first_entry_json(entries: Entries, shape: Shape = Shape.NATURAL) -> msgspec.Raw | None:
    """Return the first entry as a JSON object, or None without entries."""
    lines = wire_lines(entries, shape)
    return msgspec.Raw(lines[0]) if lines else None


async def range_json(reply: RangeReply, shape: Shape) -> Json:
    """Return a page of a range. Other requests are served while a long page is written."""
    return page_json(reply, await _long_entries_json(reply.entries, shape))


def page_json(reply: RangeReply, entries: msgspec.Raw) -> Json:
    """Return a page of a range, whose entries are written already."""
    ids = reply.entries.ids
    return {"entries": entries, "next": format_id(ids[-1]) if reply.more and ids else None}


async def scanned_json(found: Scanned, shape: Shape) -> Json:
    """Return a page of a read with a filter."""
    return {
        "entries": await _long_entries_json(found.entries, shape),
        "next": optional_id(found.next),
        "scanned": found.scanned,
        "matched": len(found.entries),
    }


async def _long_entries_json(entries: Entries, shape: Shape) -> msgspec.Raw:
    pieces = []
    for start in range(0, len(entries), SLICE_ENTRIES):
        if start:
            await asyncio.sleep(0)
        pieces.append(wire_entries(entries.part(start, start + SLICE_ENTRIES), shape)[1:-1])
    return msgspec.Raw(b"[%b]" % b",".join(pieces))


def tail_json(read: StreamRead, shape: Shape) -> Json:
    """Return a page of a read after a position."""
    return {"entries": entries_json(read.entries, shape), "next": format_id(read.next)}


def slice_json(read: StreamRead, shape: Shape, *, deliveries: bool) -> Json:
    """Return the entries of one stream of a read."""
    return {
        **named(key=read.key),
        "entries": entries_json(read.entries, shape, deliveries=deliveries),
        "next": format_id(read.next),
    }


def appended_json(reply: AppendReply, *, with_ids: bool = False) -> Json:
    """Return the result of a batch or an import."""
    ids = reply.ids
    content: Json = {"count": len(ids), "first_id": format_id(ids[0]), "last_id": format_id(ids[-1])}
    return {**content, "ids": formatted(ids)} if with_ids else content


def formatted(ids: Sequence[StreamId]) -> list[str]:
    """Return the ids as text."""
    return [format_id(value) for value in ids]


def deletions_json(ids: Sequence[StreamId], results: Sequence[DeleteResult]) -> list[Json]:
    """Return the result for each id."""
    return [
        {"id": format_id(value), "result": _RESULT_NAMES[result]}
        for value, result in zip(ids, results, strict=True)
    ]


def split_json(reply: SplitReply) -> Json:
    """Return the parts of a range."""
    parts = [
        {"start": format_id(part.start), "end": format_id(part.end), "count": part.count}
        for part in reply.parts
    ]
    return {"parts": parts, "count": reply.count, **incarnation_json(reply.incarnation)}


def seek_json(reply: SeekReply) -> Json:
    """Return the end of a page."""
    return {"end": optional_id(reply.end), "count": reply.count, **incarnation_json(reply.incarnation)}


def incarnation_json(incarnation: str | None) -> Json:
    """Return the member with the incarnation of a stream; none for a missing stream."""
    return {} if incarnation is None else {"incarnation": incarnation}


def optional_id(value: StreamId | None) -> str | None:
    """Return the id as text, or None for None."""
    return None if value is None else format_id(value)
