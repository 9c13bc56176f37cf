"""Routes that read several streams, with or without a consumer group."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.document.operations import operation
from tailrace.api.hot import answers, commands
from tailrace.api.hot.operations import XREAD, XREADGROUP
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.api.http.disconnect import execute_while_connected
from tailrace.api.problems.table import HttpCode
from tailrace.api.schemas.reads import GroupReadBody, GroupReadPage, ReadBody, ReadPage
from tailrace.api.wire.bodies import read_body
from tailrace.api.wire.negotiation import JSON
from tailrace.api.wire.parameters import EntryShape, Store
from tailrace.api.wire.replies import Json, json_response, slice_json
from tailrace.api.wire.waiting import Prefer, Waiting, waiting
from tailrace.core.commands import ReadFrom
from tailrace.core.errors import ErrorCode
from tailrace.core.log.entry_json import Shape
from tailrace.core.replies import ReadReply, Reply, StreamRead

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
    command = commands.read_command(body, wait.block_ms)
    reply = await execute_while_connected(request, store, command)
    if any(source.incarnation is not None for source in command.streams):
        assert isinstance(reply, ReadReply)
        pairs = zip(command.streams, reply.streams, strict=True)
        slices = [_with_incarnation(source, read, shape) for source, read in pairs]
        return json_response({"streams": slices}, headers=wait.headers)
    return _slices(reply, shape, wait, deliveries=False)


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
    command = commands.group_read_command(body, wait.block_ms)
    reply = await execute_while_connected(request, store, command)
    return _slices(reply, shape, wait, deliveries=True)


def _with_incarnation(source: ReadFrom, read: StreamRead, shape: Shape) -> Json:
    """Return the entries of one stream, with its incarnation if the request asks for it."""
    content = slice_json(read, shape, deliveries=False)
    if source.incarnation is None or read.incarnation is None:
        return content
    return {**content, "incarnation": read.incarnation}


def _slices(reply: Reply, shape: Shape, wait: Waiting, *, deliveries: bool) -> Response:
    content = answers.slices_bytes(reply, shape, deliveries=deliveries)
    return Response(content, 200, wait.headers, JSON)
