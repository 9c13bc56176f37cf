"""Reads over several streams: alone, or as a consumer of a group."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api import hot
from tailrace.api.document.operations import operation
from tailrace.api.http.disconnect import execute_while_connected
from tailrace.api.problems.table import HttpCode
from tailrace.api.schemas.reads import GroupReadBody, GroupReadPage, ReadBody, ReadPage, ReadPosition
from tailrace.api.wire.bodies import read_body
from tailrace.api.wire.names import name_from_body
from tailrace.api.wire.negotiation import JSON
from tailrace.api.wire.parameters import EntryShape, Prefer, Store, Waiting, position_of, waiting
from tailrace.core.commands import Read, ReadFrom
from tailrace.core.errors import ErrorCode
from tailrace.core.log.entry_json import Shape
from tailrace.core.replies import Reply

router = APIRouter(tags=["reads"])


@router.post(
    "/v1/read",
    **operation(
        "xread",
        "Read several streams",
        reply=ReadPage,
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
    """Entries after a position in each stream, waiting for the first ones if `wait_ms` says so.

    It is answered as soon as any stream has entries, and when the time is over; a missing stream is an
    empty one. O(log n + entries) a stream.
    """
    body = await read_body(request, ReadBody)
    wait = waiting(body.wait_ms, prefer)
    streams = tuple([_read_from(position) for position in body.streams])
    command = Read(streams, hot.read_limits(body), wait.block_ms, body.strict)
    reply = await execute_while_connected(request, store, command)
    return _slices(reply, shape, wait, deliveries=False)


@router.post(
    "/v1/read-group",
    **operation(
        "xreadgroup",
        "Read as a consumer of a group",
        reply=GroupReadPage,
        body=GroupReadBody,
        errors=(HttpCode.INVALID_NAME, ErrorCode.INVALID_ID, ErrorCode.NOGROUP, ErrorCode.TOO_MANY_READERS),
    ),
)
async def xreadgroup(request: Request, store: Store, shape: EntryShape, prefer: Prefer = None) -> Response:
    """Entries that the group has not been given yet; they are pending for the consumer until acknowledged.

    With `claim_min_idle_ms` first those that others, or it, left pending for so long. With an id in
    place of `>` the consumer's own pending entries. All streams must have the group (404 `NOGROUP`).
    """
    body = await read_body(request, GroupReadBody)
    wait = waiting(body.wait_ms, prefer)
    command = hot.group_read_command(body, wait.block_ms)
    reply = await execute_while_connected(request, store, command)
    return _slices(reply, shape, wait, deliveries=True)


def _read_from(position: ReadPosition) -> ReadFrom:
    return ReadFrom(name_from_body(position.key, position.encoding, "key"), position_of(position.after))


def _slices(reply: Reply, shape: Shape, wait: Waiting, *, deliveries: bool) -> Response:
    content = hot.slices_bytes(reply, shape, deliveries=deliveries)
    return Response(content, 200, wait.headers, JSON)
