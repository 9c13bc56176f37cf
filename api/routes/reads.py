"""Reads over several streams: alone, or as a consumer of a group."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.bodies import read_body
from api.disconnect import execute_while_connected
from api.names import name_from_body
from api.operations import operation
from api.parameters import EntryShape, Prefer, Store, Waiting, id_of, position_of, waiting
from api.replies import json_response, slice_json
from api.schemas.reads import (
    GroupReadBody,
    GroupReadPage,
    GroupReadPosition,
    ReadBody,
    ReadBounds,
    ReadPage,
    ReadPosition,
)
from core.commands import Read, ReadFrom, ReadGroup, ReadLimits, Special
from core.entry import Shape
from core.limits import PAGE_BYTES_MAX, PAGE_ENTRIES_MAX
from core.replies import ReadReply, Reply

router = APIRouter(tags=["reads"])


@router.post(
    "/v1/read",
    **operation("xread", "Read several streams", reply=ReadPage, body=ReadBody, errors=(410,)),
)
async def xread(request: Request, store: Store, shape: EntryShape, prefer: Prefer = None) -> Response:
    """Entries after a position in each stream, waiting for the first ones if `wait_ms` says so.

    It is answered as soon as any stream has entries, and when the time is over; a missing stream is an
    empty one. O(log n + entries) a stream.
    """
    body = await read_body(request, ReadBody)
    wait = waiting(body.wait_ms, prefer)
    streams = tuple([_read_from(position) for position in body.streams])
    command = Read(streams, _limits(body), wait.block_ms, body.strict)
    reply = await execute_while_connected(request, store, command)
    return _slices(reply, shape, wait, deliveries=False)


@router.post(
    "/v1/read-group",
    **operation(
        "xreadgroup",
        "Read as a consumer of a group",
        reply=GroupReadPage,
        body=GroupReadBody,
        errors=(404,),
    ),
)
async def xreadgroup(request: Request, store: Store, shape: EntryShape, prefer: Prefer = None) -> Response:
    """Entries that the group has not been given yet; they are pending for the consumer until acknowledged.

    With `claim_min_idle_ms` first those that others, or it, left pending for so long. With an id in
    place of `>` the consumer's own pending entries. All streams must have the group (404 `NOGROUP`).
    """
    body = await read_body(request, GroupReadBody)
    wait = waiting(body.wait_ms, prefer)
    command = ReadGroup(
        name_from_body(body.group, body.encoding, "group"),
        name_from_body(body.consumer, body.encoding, "consumer"),
        tuple([_group_read_from(position) for position in body.streams]),
        _limits(body),
        wait.block_ms,
        body.claim_min_idle_ms,
        body.noack,
    )
    reply = await execute_while_connected(request, store, command)
    return _slices(reply, shape, wait, deliveries=True)


def _read_from(position: ReadPosition) -> ReadFrom:
    return ReadFrom(name_from_body(position.key, position.encoding, "key"), position_of(position.after))


def _group_read_from(position: GroupReadPosition) -> ReadFrom:
    key = name_from_body(position.key, position.encoding, "key")
    return ReadFrom(key, Special.NEW if position.id == ">" else id_of(position.id))


def _limits(bounds: ReadBounds) -> ReadLimits:
    """The bounds asked for; where none are, those of a page."""
    return ReadLimits(
        count=bounds.count,
        max_count=bounds.max_count or PAGE_ENTRIES_MAX,
        max_bytes=bounds.max_bytes or PAGE_BYTES_MAX,
    )


def _slices(reply: Reply, shape: Shape, wait: Waiting, *, deliveries: bool) -> Response:
    assert isinstance(reply, ReadReply)
    streams: Sequence[object] = [slice_json(read, shape, deliveries=deliveries) for read in reply.streams]
    return json_response({"streams": streams}, headers=wait.headers)
