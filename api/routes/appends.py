"""Routes that append entries, at once or later, and that list and cancel scheduled entries."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Final, Literal, TypeAlias
from urllib.parse import unquote

from fastapi import APIRouter, Header, Path, Query
from pydantic import BeforeValidator
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.document.operations import operation
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.api.name_members import named
from tailrace.api.operations.appends import append_command, lines_command, xadd_command
from tailrace.api.operations.table import IMPORT_ENTRIES, REPLAYED_STATUS, XADD, XADD_BATCH
from tailrace.api.problems.refusal_texts import quoted
from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.routes.serving import answered, served
from tailrace.api.schemas.appends import (
    BatchReply,
    ImportCheck,
    XaddBatchBody,
    XaddBody,
    XaddReply,
)
from tailrace.api.schemas.scheduled import (
    SCHEDULED_ID_EXAMPLE,
    ScheduledBatchReply,
    ScheduledPage,
    ScheduledReply,
)
from tailrace.api.wire.appends import TRACE_HEADERS, scheduled_id_of, scheduled_page_json, traced
from tailrace.api.wire.batches import read_batch
from tailrace.api.wire.bodies import json_body
from tailrace.api.wire.idempotency import PRODUCER_HEADERS, idempotency_of
from tailrace.api.wire.names import KeyPath
from tailrace.api.wire.ndjson import ENTRY_LINES, FIELDS_LINES, Imports
from tailrace.api.wire.negotiation import NDJSON, require_content_type
from tailrace.api.wire.parameters import EntryShape, Store
from tailrace.api.wire.replies import appended_json, json_response, no_content
from tailrace.api.wire.turns import off_the_loop
from tailrace.core import replies
from tailrace.core.commands import (
    Append,
    CancelScheduled,
    FindAppend,
    ListScheduled,
)
from tailrace.core.errors import ErrorCode
from tailrace.core.limits import SCHEDULED_PAGE_MAX
from tailrace.core.replies import AppendReply

router = APIRouter(tags=["entries"], route_class=DeferredRoute)

APPEND_HEADERS: Final = (*PRODUCER_HEADERS, *TRACE_HEADERS)
_REPLAYED: Final = {
    REPLAYED_STATUS: (
        "The key was used before: nothing is appended, these are the first ids. `Idempotent-Replayed: true`."
    )
}

_REFUSALS: Final = (
    HttpCode.INVALID_NAME,
    ErrorCode.INVALID_ID,
    ErrorCode.INVALID_ARGUMENT,
    ErrorCode.ID_NOT_GREATER,
    ErrorCode.ID_EXHAUSTED,
    ErrorCode.STALE_EPOCH,
    ErrorCode.LAYOUT_CHANGED,
    ErrorCode.ENTRY_TOO_LARGE,
    ErrorCode.IDEMPOTENCY_MISMATCH,
    ErrorCode.LIMIT_EXCEEDED,
    ErrorCode.MEMORY_LIMIT,
)
"""The error codes of every append; each route adds its own."""

LineShapeParameter: TypeAlias = Annotated[
    Literal["fields", "entry"],
    Query(description="What each line contains: only the fields, or a whole entry.", examples=["fields"]),
]
ContentEncoding: TypeAlias = Annotated[
    str | None,
    Header(
        alias="content-encoding",
        description="The compression of the body: `gzip` or `zstd`.",
        examples=["identity"],
    ),
]
WithIds: TypeAlias = Annotated[
    bool,
    Query(
        description="Return the ids of all entries, in order, as well as the first and the last.",
        examples=[True],
    ),
]


@router.post(
    XADD.path,
    **operation(
        XADD.name,
        "Append an entry",
        reply=XaddReply,
        status=XADD.status,
        body=XaddBody,
        also=_REPLAYED,
        parameters=APPEND_HEADERS,
        later=ScheduledReply,
        errors=(*_REFUSALS, ErrorCode.NO_SUCH_STREAM, ErrorCode.PRECONDITION_FAILED),
    ),
)
async def xadd(key: KeyPath, request: Request, store: Store) -> Response:
    """Append one entry. The stream is created if it does not exist, unless `nomkstream` is true. O(1).

    Without `id`, the server chooses the id. Ids always increase, even if the server's clock is set back. With
    `delay_ms` or `deliver_at_ms`, the server stores the entry, appends it then, and responds with 202.
    """
    raw = await json_body(request)
    make = partial(xadd_command, key, raw, partial(idempotency_of, request.headers.raw, raw))
    command = await off_the_loop(len(raw), lambda: traced(request.headers, make()))
    return await served(XADD, store, command)


@router.post(
    XADD_BATCH.path,
    **operation(
        XADD_BATCH.name,
        "Append several entries",
        reply=BatchReply,
        status=XADD_BATCH.status,
        body=XaddBatchBody,
        also=_REPLAYED,
        later=ScheduledBatchReply,
        parameters=APPEND_HEADERS,
        errors=(*_REFUSALS, ErrorCode.PRECONDITION_FAILED),
    ),
)
async def xadd_batch(key: KeyPath, request: Request, store: Store, *, ids: WithIds = False) -> Response:
    """Append several entries in order: all of them or none. O(entries).

    With `delay_ms` or `deliver_at_ms`, the server stores them, appends all of them then, and responds with
    202.
    """
    raw = await json_body(request)
    options, new = await read_batch(raw)
    make = partial(append_command, key, options, new, partial(idempotency_of, request.headers.raw, raw))
    command = await off_the_loop(len(raw), lambda: traced(request.headers, make()))
    reply = await store.execute(command)
    if ids and isinstance(reply, AppendReply):
        status, headers = XADD_BATCH.head_of(reply)
        return json_response(appended_json(reply, with_ids=True), status, headers)
    return answered(XADD_BATCH, reply, command)


IMPORT_EXAMPLE: Final = (
    '{"rider":"Castilla","speed":"29.9","position":"1","location_id":"2"}\n{"rider":"Norem","speed":"28.8"}\n'
)
_IMPORT_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "description": (
            "One JSON object in each line: the fields of an entry, or with `shape=entry` a whole "
            "`EntryToAppend`."
        ),
        "content": {IMPORT_ENTRIES.media_type: {"schema": {"type": "string"}, "example": IMPORT_EXAMPLE}},
    },
}


@router.post(
    IMPORT_ENTRIES.path,
    **operation(
        IMPORT_ENTRIES.name,
        "Append the lines of an NDJSON body",
        reply=BatchReply,
        status=IMPORT_ENTRIES.status,
        also=_REPLAYED,
        parameters=APPEND_HEADERS,
        extra=_IMPORT_BODY,
        errors=(
            *_REFUSALS,
            HttpCode.MALFORMED_BODY,
            HttpCode.BODY_MISMATCH,
            HttpCode.UNSUPPORTED_MEDIA_TYPE,
        ),
    ),
)
async def import_entries(
    key: KeyPath,
    request: Request,
    store: Store,
    *,
    shape: LineShapeParameter = "fields",
    _content_encoding: ContentEncoding = None,
) -> Response:
    """Append one entry for each line: all of them or none. Blank lines are ignored. O(bytes).

    With an idempotency key, a repeated request must have the same bytes as the first one, including their
    compression.
    """
    return await served(IMPORT_ENTRIES, store, await _import_command(key, request, shape))


async def _import_command(key: bytes, request: Request, shape: Literal["fields", "entry"]) -> Append:
    """Return the command of an import. Raises `RequestRefused` if the body or a header is invalid."""
    require_content_type(request, NDJSON)
    imports: Imports = request.app.state.imports
    new = await imports.read(request, FIELDS_LINES if shape == "fields" else ENTRY_LINES)
    raw = await request.body()
    make = partial(lines_command, key, new, partial(idempotency_of, request.headers.raw, raw))
    return await off_the_loop(len(raw), lambda: traced(request.headers, make()))


@router.post(
    "/v1/streams/{key}/entries:check",
    **operation(
        "check_import",
        "Check an import without appending",
        reply=ImportCheck,
        parameters=PRODUCER_HEADERS,
        extra=_IMPORT_BODY,
        errors=(
            HttpCode.INVALID_NAME,
            ErrorCode.INVALID_ID,
            ErrorCode.INVALID_ARGUMENT,
            ErrorCode.STALE_EPOCH,
            ErrorCode.LAYOUT_CHANGED,
            ErrorCode.ENTRY_TOO_LARGE,
            ErrorCode.IDEMPOTENCY_MISMATCH,
            ErrorCode.LIMIT_EXCEEDED,
            HttpCode.MALFORMED_BODY,
            HttpCode.BODY_MISMATCH,
            HttpCode.UNSUPPORTED_MEDIA_TYPE,
        ),
    ),
)
async def check_import(
    key: KeyPath,
    request: Request,
    store: Store,
    *,
    shape: LineShapeParameter = "fields",
    _content_encoding: ContentEncoding = None,
) -> Response:
    """Check a request of `entries:import`, and append nothing. O(bytes).

    The response says whether an import with this idempotency key appended the lines earlier. A request that
    the import would refuse for its body or its headers is refused here, too.
    """
    command = await _import_command(key, request, shape)
    known = await store.execute(FindAppend(command.key, command.idempotency))
    return json_response({"known": known is not None, "count": len(command.fragments)})


ScheduledIdPath: TypeAlias = Annotated[
    str,
    BeforeValidator(unquote),
    Path(description="The scheduled id, as the append returned it.", examples=[SCHEDULED_ID_EXAMPLE]),
]


@router.get(
    "/v1/streams/{key}/scheduled",
    **operation(
        "list_scheduled",
        "List scheduled entries",
        reply=ScheduledPage,
        errors=(HttpCode.INVALID_NAME, ErrorCode.INVALID_ID, ErrorCode.NO_SUCH_STREAM),
    ),
)
async def list_scheduled(
    key: KeyPath,
    store: Store,
    shape: EntryShape,
    *,
    after: Annotated[
        str | None,
        Query(
            description="Return only entries after this one: `next` of the previous page.",
            examples=[SCHEDULED_ID_EXAMPLE],
        ),
    ] = None,
    limit: Annotated[
        int,
        Query(ge=1, le=SCHEDULED_PAGE_MAX, description="How many entries to return at most.", examples=[100]),
    ] = 100,
) -> Response:
    """List the entries that were appended with a delay and are not visible yet, in the order of their times.
    O(log n + page)."""
    command = ListScheduled(key, None if after is None else scheduled_id_of(after), limit)
    page = await store.execute(command)
    assert isinstance(page, replies.ScheduledPage)
    return json_response(scheduled_page_json(page, shape))


@router.delete(
    "/v1/streams/{key}/scheduled/{id}",
    **operation(
        "cancel_scheduled",
        "Cancel a scheduled entry",
        status=204,
        errors=(
            HttpCode.INVALID_NAME,
            ErrorCode.INVALID_ID,
            ErrorCode.NO_SUCH_STREAM,
            HttpCode.NO_SUCH_ENTRY,
        ),
    ),
)
async def cancel_scheduled(key: KeyPath, id: ScheduledIdPath, store: Store) -> Response:  # noqa: A002
    """Remove an entry before its time, so that it is never appended. O(log n).

    404 `NO_SUCH_ENTRY`: the entry was appended, or cancelled before.
    """
    if not await store.execute(CancelScheduled(key, (scheduled_id_of(id),))):
        raise RequestRefused(
            HttpCode.NO_SUCH_ENTRY,
            f"the stream {quoted(key)} has no scheduled entry {id}: it was appended or cancelled, or the id "
            "is of another stream",
            members={**named(key=key), "id": id},
        )
    return no_content()
