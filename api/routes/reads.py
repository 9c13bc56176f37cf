"""Routes that read several streams, with or without a consumer group."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.document.operations import operation
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.api.http.disconnect import execute_while_connected
from tailrace.api.operations.reads import group_read_of, read_of
from tailrace.api.operations.table import XREAD, XREADGROUP
from tailrace.api.problems.table import HttpCode
from tailrace.api.routes.serving import answered
from tailrace.api.schemas.reads import GroupReadBody, GroupReadPage, ReadBody, ReadPage
from tailrace.api.wire.bodies import read_body
from tailrace.api.wire.parameters import EntryShape, Prefer, Store, waiting
from tailrace.core.errors import ErrorCode

router = APIRouter(tags=["reads"], route_class=DeferredRoute)


@router.post(
    XREAD.path,
    **operation(
        XREAD.name,
        "Read several streams",
        reply=ReadPage,
        status=XREAD.status,
        body=ReadBody,
        errors=(
            HttpCode.INVALID_NAME,
            ErrorCode.INVALID_ID,
            ErrorCode.POSITION_TRIMMED,
            ErrorCode.TOO_MANY_READERS,
        ),
    ),
)
async def xread(request: Request, store: Store, shape: EntryShape, prefer: Prefer = None) -> Response:
    """Return the entries after a position in each stream. With `wait_ms`, wait for them.

    The server responds as soon as one of the streams has entries, or when the time is over. A missing stream
    counts as an empty one. With `incarnation`, the server refuses a position of an earlier stream with the
    same key. O(log n + entries) for each stream.
    """
    body = await read_body(request, ReadBody)
    wait = waiting(body.wait_ms, prefer)
    command = read_of(body, wait.block_ms)
    reply = await execute_while_connected(request, store, command)
    return answered(XREAD, reply, command, shape=shape, headers=wait.headers)


@router.post(
    XREADGROUP.path,
    **operation(
        XREADGROUP.name,
        "Read as a consumer of a group",
        reply=GroupReadPage,
        status=XREADGROUP.status,
        body=GroupReadBody,
        errors=(HttpCode.INVALID_NAME, ErrorCode.INVALID_ID, ErrorCode.NOGROUP, ErrorCode.TOO_MANY_READERS),
    ),
)
async def xreadgroup(request: Request, store: Store, shape: EntryShape, prefer: Prefer = None) -> Response:
    """Return entries that are new to the group. They are pending for the consumer until it acknowledges them.

    With `claim_min_idle_ms`, the consumer first claims entries that have been pending for that long. With an
    id instead of `>`, it reads its own pending entries. The group must exist on all streams (404 `NOGROUP`).
    """
    body = await read_body(request, GroupReadBody)
    wait = waiting(body.wait_ms, prefer)
    command = group_read_of(body, wait.block_ms)
    reply = await execute_while_connected(request, store, command)
    return answered(XREADGROUP, reply, command, shape=shape, headers=wait.headers)
