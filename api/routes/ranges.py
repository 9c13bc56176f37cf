"""Reading one stream: by range, from a position on, one entry, or all of it as NDJSON."""

from __future__ import annotations

from typing import Annotated, Final, Literal, NamedTuple

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.access.cutting import GuardedStreamingResponse
from tailrace.api.document.operations import operation
from tailrace.api.http.disconnect import execute_while_connected
from tailrace.api.http.head import is_head
from tailrace.api.name_members import named
from tailrace.api.ports import StreamStore
from tailrace.api.problems.refusal_texts import quoted
from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.schemas.entries import Entry, RangePage
from tailrace.api.schemas.texts import any_of
from tailrace.api.wire.names import KeyPath
from tailrace.api.wire.ndjson import export_page, exported
from tailrace.api.wire.negotiation import NDJSON
from tailrace.api.wire.parameters import (
    EncodingParameter,
    EntryIdPath,
    EntryShape,
    PageCount,
    Prefer,
    RangeEnd,
    RangeStart,
    Store,
    Strict,
    Waiting,
    WaitMs,
    end_of,
    export_shape,
    id_of,
    position_of,
    start_of,
    waiting,
)
from tailrace.api.wire.replies import first_entry_json, json_response, range_json, tail_json
from tailrace.core.commands import Range, Read, ReadFrom, ReadLimits
from tailrace.core.errors import ErrorCode, no_such_key
from tailrace.core.limits import PAGE_BYTES_MAX, PAGE_ENTRIES_MAX, READ_ENTRIES_MAX
from tailrace.core.log.entry_json import Shape
from tailrace.core.replies import RangeReply, ReadReply

router = APIRouter(tags=["entries"])

EXPORT_EXAMPLE: Final = (
    '{"id":"1692632086370-0","fields":{"rider":"Castilla","speed":"30.2","position":"1","location_id":"1"}}\n'
)


class _Bounds(NamedTuple):
    """The part of a stream that is asked for, as it was written."""

    start: str
    end: str
    order: str


class _Following(NamedTuple):
    """The position to read on after, if any, and how long to wait there."""

    after: str | None
    wait: Waiting


class _Page(NamedTuple):
    """What a page is like, wherever it begins."""

    most: int
    shape: Shape
    strict: bool


async def _bounds(
    start: RangeStart = "-",
    end: RangeEnd = "+",
    order: Annotated[
        Literal["asc", "desc"],
        Query(description="`desc` reads from `end` down (XREVRANGE).", examples=["asc"]),
    ] = "asc",
) -> _Bounds:
    return _Bounds(start, end, order)


async def _following(
    request: Request,
    after: Annotated[
        str | None,
        Query(
            description=(
                "Read on after this id instead (XREAD): `$` is only what comes from now on, `+` from the "
                "last entry there is. Excludes `start`, `end` and `order`."
            ),
        ),
    ] = None,
    wait_ms: WaitMs = None,
    prefer: Prefer = None,
) -> _Following:
    if wait_ms and after is None:
        raise RequestRefused(
            HttpCode.INVALID_PARAMETER, "`wait_ms` needs `after`: the position to wait at, such as `after=$`"
        )
    given = [name for name in _Bounds._fields if name in request.query_params]
    if after is not None and given:
        raise RequestRefused(
            HttpCode.INVALID_PARAMETER,
            f"`after` excludes {any_of(f'`{name}`' for name in given)}: send one or the other",
        )
    wait = waiting(wait_ms, prefer)
    return _Following(after, wait._replace(block_ms=None) if is_head(request) else wait)


async def _page(shape: EntryShape, count: PageCount = PAGE_ENTRIES_MAX, strict: Strict = False) -> _Page:  # noqa: FBT002
    return _Page(count, shape, strict)


@router.get(
    "/v1/streams/{key}/entries",
    **operation(
        "xrange",
        "Read a range of entries",
        reply=RangePage,
        errors=(
            HttpCode.INVALID_NAME,
            ErrorCode.INVALID_ID,
            ErrorCode.INVALID_ARGUMENT,
            ErrorCode.POSITION_TRIMMED,
            ErrorCode.TOO_MANY_READERS,
        ),
    ),
)
async def xrange(
    request: Request,
    key: KeyPath,
    store: Store,
    bounds: Annotated[_Bounds, Depends(_bounds)],
    following: Annotated[_Following, Depends(_following)],
    page: Annotated[_Page, Depends(_page)],
) -> Response:
    """Entries between two ids, both included, a page at a time; a missing stream is an empty one.

    With `after` and `wait_ms` (or `Prefer: wait=N`) it waits for entries: the answer comes with the
    first ones, or empty when the time is over, and its `next` is the `after` of the next request.
    O(log n + page).
    """
    if following.after is not None:
        command = _read_after(ReadFrom(key, position_of(following.after)), page, following.wait)
        reply = await execute_while_connected(request, store, command)
        assert isinstance(reply, ReadReply)
        return json_response(tail_json(reply.streams[0], page.shape), headers=following.wait.headers)
    query = Range(
        key,
        start_of(bounds.start),
        end_of(bounds.end),
        count=page.most,
        reverse=bounds.order == "desc",
        max_bytes=PAGE_BYTES_MAX,
        strict=page.strict,
    )
    return json_response(await range_json(await _range(store, query), page.shape))


def _read_after(source: ReadFrom, page: _Page, wait: Waiting) -> Read:
    limits = ReadLimits(count=min(page.most, READ_ENTRIES_MAX), page_bytes=PAGE_BYTES_MAX)
    return Read((source,), limits, wait.block_ms, page.strict)


async def _range(store: StreamStore, query: Range) -> RangeReply:
    reply = await store.execute(query)
    assert isinstance(reply, RangeReply)
    return reply


@router.get(
    "/v1/streams/{key}/entries:export",
    **operation(
        "export_entries",
        "Export entries as NDJSON",
        media_type=NDJSON,
        extra={
            "responses": {
                "200": {
                    "description": "The entries, one JSON object a line.",
                    "content": {NDJSON: {"schema": {"type": "string"}, "example": EXPORT_EXAMPLE}},
                }
            }
        },
        errors=(
            HttpCode.INVALID_NAME,
            ErrorCode.INVALID_ID,
            ErrorCode.INVALID_ARGUMENT,
        ),
    ),
)
async def export_entries(
    key: KeyPath,
    store: Store,
    *,
    start: RangeStart = "-",
    end: RangeEnd = "+",
    shape: Annotated[
        Literal["entry", "pairs", "fields"],
        Query(
            description=(
                "`entry`: whole entries. `pairs`: the same, fields as pairs. `fields`: the fields alone, as "
                "`entries:import` takes them; an entry that repeats a name or is not UTF-8 is written whole."
            ),
            examples=["entry"],
        ),
    ] = "entry",
    encoding: EncodingParameter = None,
) -> Response:
    """All entries of a range, streamed: there is no bound on their number; a missing stream is an empty one.
    O(n).

    What is appended while it runs is part of it where it lies in the range.
    """
    query = Range(key, start_of(start), end_of(end))
    first = await _range(store, export_page(query))
    lines = exported(store, query, first, export_shape(shape, encoding), fields_only=shape == "fields")
    return GuardedStreamingResponse(store.guard, lines, NDJSON)


@router.get(
    "/v1/streams/{key}/entries/{id}",
    **operation(
        "get_entry",
        "Read one entry",
        reply=Entry,
        errors=(
            HttpCode.INVALID_NAME,
            ErrorCode.INVALID_ID,
            ErrorCode.NO_SUCH_STREAM,
            HttpCode.NO_SUCH_ENTRY,
        ),
    ),
)
async def get_entry(key: KeyPath, id: EntryIdPath, store: Store, shape: EntryShape) -> Response:  # noqa: A002
    """The entry with this id. O(log n)."""
    value = id_of(id)
    reply = await _range(store, Range(key, value, value, count=1))
    if not reply.exists:
        raise no_such_key(key)
    if not reply.entries.ids:
        raise no_such_entry(key, id)
    return json_response(first_entry_json(reply.entries, shape))


def no_such_entry(key: bytes, entry_id: str) -> RequestRefused:
    """There is a stream, and in it no entry with this id."""
    return RequestRefused(
        HttpCode.NO_SUCH_ENTRY,
        f"the stream {quoted(key)} has no entry {entry_id}",
        members={**named(key=key), "id": entry_id},
    )
