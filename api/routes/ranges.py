"""Routes that read ranges of one stream: pages of entries, exports, plans, with their parameters."""

from __future__ import annotations

from typing import Annotated, Final, Literal, NamedTuple, TypeAlias

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.access.token_end import GuardedStreamingResponse
from tailrace.api.document.operations import operation
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.api.http.disconnect import execute_while_connected, while_connected
from tailrace.api.http.layers import is_head
from tailrace.api.operations.reads import after_command, entry_command, range_command
from tailrace.api.operations.table import GET_ENTRY, XRANGE
from tailrace.api.ports import StreamStore
from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.routes.serving import answered, served
from tailrace.api.schemas.base import POSITION_INCARNATION
from tailrace.api.schemas.entries import Entry, RangePage
from tailrace.api.schemas.texts import any_of
from tailrace.api.wire.filtering import EntryFilter, FilterParameter, scanned_range, scanned_read
from tailrace.api.wire.names import KeyPath
from tailrace.api.wire.ndjson import EXPORT_PAGE_ENTRIES, LineForm, export_page, exported
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
    start_of,
    waiting,
)
from tailrace.api.wire.replies import json_response, range_json, scanned_json
from tailrace.api.wire.stream_replies import INCARNATION_HEADER, incarnation_headers
from tailrace.core.commands import Range
from tailrace.core.errors import ErrorCode
from tailrace.core.limits import PAGE_ENTRIES_MAX
from tailrace.core.log.entry_json import FieldChoice, Shape
from tailrace.core.replies import RangeReply, ReadReply


class Bounds(NamedTuple):
    """The range that the request asks for, as text."""

    start: str
    end: str
    order: str


class Following(NamedTuple):
    """The position after which to read, if given, how long to wait, and the incarnation of the stream in
    which the position was reached."""

    after: str | None
    wait: Waiting
    incarnation: str | None


class Page(NamedTuple):
    """The size and form of a page, whether trimmed entries are an error, and which entries it has (None:
    all)."""

    most: int
    shape: Shape
    strict: bool
    wanted: EntryFilter | None


async def _bounds(
    start: RangeStart = "-",
    end: RangeEnd = "+",
    order: Annotated[
        Literal["asc", "desc"],
        Query(description="`desc` reads backwards from `end` (XREVRANGE).", examples=["asc"]),
    ] = "asc",
) -> Bounds:
    return Bounds(start, end, order)


async def _following(
    request: Request,
    after: Annotated[
        str | None,
        Query(
            description=(
                "Read entries after this id instead (XREAD). `$`: only entries appended from now on. `+`: "
                "from the last entry on. It cannot be combined with `start`, `end` and `order`."
            ),
        ),
    ] = None,
    wait_ms: WaitMs = None,
    prefer: Prefer = None,
    incarnation: Annotated[
        str | None,
        Query(description=f"{POSITION_INCARNATION} With it, the response has the header `X-Incarnation`."),
    ] = None,
) -> Following:
    if wait_ms and after is None:
        raise RequestRefused(
            HttpCode.INVALID_PARAMETER,
            "`wait_ms` needs `after`: the position after which to wait, such as `after=$`",
        )
    if incarnation is not None and after is None:
        raise RequestRefused(
            HttpCode.INVALID_PARAMETER, "`incarnation` needs `after`: the position that belongs to it"
        )
    given = [name for name in Bounds._fields if name in request.query_params]
    if after is not None and given:
        raise RequestRefused(
            HttpCode.INVALID_PARAMETER,
            f"`after` excludes {any_of(f'`{name}`' for name in given)}: send only one of them",
        )
    wait = waiting(wait_ms, prefer)
    return Following(after, wait._replace(block_ms=None) if is_head(request) else wait, incarnation)


async def _page(
    shape: EntryShape,
    wanted: FilterParameter,
    count: PageCount = PAGE_ENTRIES_MAX,
    strict: Strict = False,  # noqa: FBT002
) -> Page:
    return Page(count, shape, strict, wanted)


BoundsParameter: TypeAlias = Annotated[Bounds, Depends(_bounds)]
FollowingParameter: TypeAlias = Annotated[Following, Depends(_following)]
PageParameter: TypeAlias = Annotated[Page, Depends(_page)]


router = APIRouter(tags=["entries"], route_class=DeferredRoute)

CHOSEN_FIELDS_MAX: Final = 1_000
"""Names of fields that one export may choose."""

_INCARNATION_IF_ASKED: Final = {
    **INCARNATION_HEADER,
    "description": "The incarnation of the stream, if the request has the parameter `incarnation`.",
    "required": False,
}

EXPORT_EXAMPLE: Final = (
    '{"id":"1692632086370-0","fields":{"rider":"Castilla","speed":"30.2","position":"1","location_id":"1"}}\n'
)


@router.get(
    XRANGE.path,
    **operation(
        XRANGE.name,
        "Read a range of entries",
        reply=RangePage,
        status=XRANGE.status,
        extra={"responses": {"200": {"headers": {"X-Incarnation": _INCARNATION_IF_ASKED}}}},
        errors=(
            HttpCode.INVALID_NAME,
            ErrorCode.INVALID_ID,
            ErrorCode.INVALID_ARGUMENT,
            ErrorCode.INVALID_FILTER,
            ErrorCode.POSITION_TRIMMED,
            ErrorCode.TOO_MANY_READERS,
        ),
    ),
)
async def xrange(
    request: Request,
    key: KeyPath,
    store: Store,
    bounds: BoundsParameter,
    following: FollowingParameter,
    page: PageParameter,
) -> Response:
    """Return a page of the entries between two ids, inclusive. A missing stream counts as an empty one.

    With `after` and `wait_ms` (or `Prefer: wait=N`), the request waits for entries. The server responds as
    soon as there are entries, or with an empty page when the time is over. Send `next` as the `after` of the
    next request. With `incarnation`, the server refuses a position of an earlier stream with the same key.
    O(log n + page).

    With `filter`, the page has only the entries that match. One request examines a limited number of entries,
    so a page with `next` can be empty: send the next request. O(log n + examined entries).
    """
    if following.after is not None:
        block_ms = following.wait.block_ms
        known = following.incarnation
        command = after_command(
            key, following.after, page.most, block_ms, strict=page.strict, incarnation=known
        )
        if page.wanted is not None:
            work = scanned_read(store, command, page.wanted)
            found = await while_connected(request.scope, request.receive, work)
            headers = _followed_headers(following, found.incarnation)
            return json_response(await scanned_json(found, page.shape), headers=headers)
        reply = await execute_while_connected(request, store, command)
        assert isinstance(reply, ReadReply)
        headers = _followed_headers(following, reply.streams[0].incarnation)
        return answered(XRANGE, reply, command, shape=page.shape, headers=headers)
    reverse = bounds.order == "desc"
    query = range_command(key, bounds.start, bounds.end, page.most, reverse=reverse, strict=page.strict)
    if page.wanted is not None:
        found = await while_connected(
            request.scope, request.receive, scanned_range(store, query, page.wanted)
        )
        return json_response(await scanned_json(found, page.shape))
    return json_response(await range_json(await _range(store, query), page.shape))


def _followed_headers(following: Following, incarnation: str | None) -> dict[str, str]:
    """Return the headers of a read after a position: with the incarnation if the request asks for it."""
    told = {} if following.incarnation is None else incarnation_headers(incarnation)
    return {**following.wait.headers, **told}


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
                    "description": "The entries, one JSON object in each line.",
                    "headers": {"X-Incarnation": INCARNATION_HEADER},
                    "content": {NDJSON: {"schema": {"type": "string"}, "example": EXPORT_EXAMPLE}},
                }
            }
        },
        errors=(
            HttpCode.INVALID_NAME,
            ErrorCode.INVALID_ID,
            ErrorCode.INVALID_ARGUMENT,
            ErrorCode.INVALID_FILTER,
        ),
    ),
)
async def export_entries(  # noqa: PLR0913 - one parameter an option
    request: Request,
    key: KeyPath,
    store: Store,
    *,
    start: RangeStart = "-",
    end: RangeEnd = "+",
    shape: Annotated[
        Literal["entry", "pairs", "fields"],
        Query(
            description=(
                "`entry`: whole entries. `pairs`: whole entries, with fields as pairs. `fields`: only the "
                "fields, in the format of `entries:import`; an entry that repeats a name or is not UTF-8 is "
                "written as a whole entry."
            ),
            examples=["entry"],
        ),
    ] = "entry",
    encoding: EncodingParameter = None,
    wanted: FilterParameter,
    field: Annotated[
        list[str] | None,
        Query(
            max_length=CHOSEN_FIELDS_MAX,
            description="Write only the fields with these names, in this order. Repeat the parameter for "
            "each name. An entry without any of them is written with no fields.",
            examples=[["rider", "speed"]],
        ),
    ] = None,
) -> Response:
    """Return all entries of a range, however many. A missing stream counts as an empty one. O(n).

    The export includes entries in the range that are appended while it runs. All entries are of the stream
    that `X-Incarnation` names. With `filter`, the export has only the entries that match.
    """
    query = Range(key, start_of(start), end_of(end))
    turns = request.app.state.scan_turns
    await turns.take(EXPORT_PAGE_ENTRIES)
    first = await _range(store, export_page(query, wanted))
    choice = None if field is None else FieldChoice(field)
    form = LineForm(export_shape(shape, encoding), shape == "fields", choice)
    lines = exported(store, query, first, form, turns, wanted)
    return GuardedStreamingResponse(store.guard, lines, NDJSON, incarnation_headers(first.incarnation))


@router.get(
    GET_ENTRY.path,
    **operation(
        GET_ENTRY.name,
        "Read one entry",
        reply=Entry,
        status=GET_ENTRY.status,
        errors=(
            HttpCode.INVALID_NAME,
            ErrorCode.INVALID_ID,
            ErrorCode.NO_SUCH_STREAM,
            HttpCode.NO_SUCH_ENTRY,
        ),
    ),
)
async def get_entry(key: KeyPath, id: EntryIdPath, store: Store, shape: EntryShape) -> Response:  # noqa: A002
    """Return the entry with this id. O(log n)."""
    return await served(GET_ENTRY, store, entry_command(key, id), (key, id.encode()), shape)
