"""Routes that delete and trim entries, and that plan reads with the block index."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.document.operations import operation
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.api.operations.reads import no_such_entry
from tailrace.api.problems.table import HttpCode
from tailrace.api.routes.serving import execute_on_existing
from tailrace.api.schemas.appends import Trimming
from tailrace.api.schemas.base import I64_MAX
from tailrace.api.schemas.entries import DeleteBody, DeleteReply, SeekPosition, SplitPlan, TrimReply
from tailrace.api.wire.bodies import read_body
from tailrace.api.wire.names import KeyPath
from tailrace.api.wire.parameters import (
    EntryIdPath,
    RangeEnd,
    RangeStart,
    Store,
    end_of,
    id_of,
    ids_of,
    references_of,
    start_of,
    trim_of,
)
from tailrace.api.wire.replies import deletions_json, json_response, no_content, seek_json, split_json
from tailrace.core.commands import DeleteEntries, DeleteEntriesByPolicy, SeekRange, SplitRange, TrimStream
from tailrace.core.errors import ErrorCode
from tailrace.core.limits import SPLIT_PARTS_MAX
from tailrace.core.replies import DeleteResult, SeekReply, SplitReply

router = APIRouter(tags=["entries"], route_class=DeferredRoute)


@router.delete(
    "/v1/streams/{key}/entries/{id}",
    **operation(
        "delete_entry",
        "Delete one entry",
        status=204,
        errors=(
            HttpCode.INVALID_NAME,
            ErrorCode.INVALID_ID,
            ErrorCode.NO_SUCH_STREAM,
            HttpCode.NO_SUCH_ENTRY,
        ),
    ),
)
async def delete_entry(key: KeyPath, id: EntryIdPath, store: Store) -> Response:  # noqa: A002
    """Delete one entry. If it is pending in a group, it stays pending and is marked as deleted. O(log n)."""
    if not await execute_on_existing(store, key, DeleteEntries(key, (id_of(id),))):
        raise no_such_entry(key, id)
    return no_content()


@router.post(
    "/v1/streams/{key}/entries:delete",
    **operation(
        "xdel",
        "Delete entries",
        reply=DeleteReply,
        body=DeleteBody,
        errors=(HttpCode.INVALID_NAME, ErrorCode.INVALID_ID, ErrorCode.NO_SUCH_STREAM),
    ),
)
async def xdel(key: KeyPath, request: Request, store: Store) -> Response:
    """Delete entries by id (XDEL). `references` says what to do if they are pending (XDELEX). O(ids log
    n)."""
    body = await read_body(request, DeleteBody)
    ids = ids_of(body.ids)
    command = DeleteEntriesByPolicy(key, ids, len(ids), references_of(body.references))
    results = await execute_on_existing(store, key, command)
    assert isinstance(results, list)
    deleted = sum(result is DeleteResult.DELETED for result in results)
    return json_response({"deleted": deleted, "results": deletions_json(ids, results)})


@router.post(
    "/v1/streams/{key}/entries:trim",
    **operation(
        "xtrim",
        "Trim a stream",
        reply=TrimReply,
        body=Trimming,
        errors=(HttpCode.INVALID_NAME, ErrorCode.INVALID_ID, ErrorCode.NO_SUCH_STREAM),
    ),
)
async def xtrim(key: KeyPath, request: Request, store: Store) -> Response:
    """Remove the oldest entries of a stream, by number or by id. O(entries removed)."""
    command = TrimStream(key, trim_of(await read_body(request, Trimming)))
    return json_response({"trimmed": await execute_on_existing(store, key, command)})


@router.get(
    "/v1/streams/{key}/entries:split",
    **operation(
        "split_entries",
        "Plan a split of a range",
        reply=SplitPlan,
        errors=(
            HttpCode.INVALID_NAME,
            ErrorCode.INVALID_ID,
            ErrorCode.INVALID_ARGUMENT,
        ),
    ),
)
async def split_entries(
    key: KeyPath,
    store: Store,
    *,
    parts: Annotated[
        int,
        Query(
            ge=1,
            le=SPLIT_PARTS_MAX,
            description="How many parts to return; fewer if the range has fewer entries.",
            examples=[2],
        ),
    ],
    start: RangeStart = "-",
    end: RangeEnd = "+",
) -> Response:
    """Return boundaries that split a range into parts with about the same number of entries. O(blocks).

    A missing stream counts as an empty one.
    """
    reply = await store.execute(SplitRange(key, start_of(start), end_of(end), parts))
    assert isinstance(reply, SplitReply)
    return json_response(split_json(reply))


@router.get(
    "/v1/streams/{key}/entries:seek",
    **operation(
        "seek_entries",
        "Find where a page ends",
        reply=SeekPosition,
        errors=(
            HttpCode.INVALID_NAME,
            ErrorCode.INVALID_ID,
            ErrorCode.INVALID_ARGUMENT,
        ),
    ),
)
async def seek_entries(
    key: KeyPath,
    store: Store,
    *,
    count: Annotated[
        int, Query(ge=1, le=I64_MAX, description="How many entries the page has.", examples=[2])
    ],
    start: RangeStart = "-",
) -> Response:
    """Return the id at which a page of `count` entries ends, without reading entries. O(blocks).

    For a missing stream, `end` is null.
    """
    reply = await store.execute(SeekRange(key, start_of(start), count))
    assert isinstance(reply, SeekReply)
    return json_response(seek_json(reply))
