"""Routes of a stream's consumer groups: list, create, inspect, move and delete them."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.document.operations import operation
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.api.operations.table import XINFO_GROUP
from tailrace.api.problems.table import HttpCode
from tailrace.api.routes.serving import execute_together, served
from tailrace.api.schemas.groups import Group, GroupBody, GroupList, GroupPositionBody
from tailrace.api.wire.bodies import read_body, read_optional_body
from tailrace.api.wire.group_replies import group_json, group_named
from tailrace.api.wire.names import GroupPath, KeyPath
from tailrace.api.wire.negotiation import JSON
from tailrace.api.wire.parameters import Store, group_start_of
from tailrace.api.wire.replies import json_response, no_content
from tailrace.api.wire.turns import Slices
from tailrace.core.commands import CreateGroup, DestroyGroup, InfoGroups, SetGroupPosition
from tailrace.core.errors import ErrorCode, no_group
from tailrace.core.stream_id import parse_position

router = APIRouter(tags=["groups"], route_class=DeferredRoute)

NEW_GROUP_EXAMPLE: Final = {
    "name": "judges",
    "consumers": 0,
    "pending": 0,
    "last_delivered_id": "0-0",
    "entries_read": 0,
    "lag": 3,
    "lag_ms": 61603,
}


@router.get(
    "/v1/streams/{key}/groups",
    **operation(
        "xinfo_groups",
        "List a stream's groups",
        reply=GroupList,
        errors=(HttpCode.INVALID_NAME, ErrorCode.NO_SUCH_STREAM, ErrorCode.REPLY_TOO_LARGE),
    ),
)
async def xinfo_groups(key: KeyPath, store: Store) -> Response:
    """List the groups of a stream with their positions and lags, in byte order of their names. O(groups)."""
    reply = await store.execute(InfoGroups(key))
    assert isinstance(reply, list)
    return json_response({"groups": await Slices().rows(reply, group_json)})


@router.put(
    "/v1/streams/{key}/groups/{group}",
    **operation(
        "xgroup_create",
        "Create a group",
        reply=Group,
        status=201,
        body=GroupBody,
        body_required=False,
        extra={"responses": {"201": {"content": {JSON: {"example": NEW_GROUP_EXAMPLE}}}}},
        errors=(
            HttpCode.INVALID_NAME,
            ErrorCode.INVALID_ID,
            ErrorCode.NO_SUCH_STREAM,
            ErrorCode.BUSYGROUP,
            ErrorCode.MEMORY_LIMIT,
        ),
    ),
)
async def xgroup_create(key: KeyPath, group: GroupPath, request: Request, store: Store) -> Response:
    """Create a group. Its position is the end of the stream, unless `after` is given. O(1)."""
    body = await read_optional_body(request, GroupBody)
    command = CreateGroup(key, group, group_start_of(body.after), body.create_stream, body.entries_read)
    _, infos = await execute_together(store, command, InfoGroups(key))
    return json_response(group_json(group_named(infos, key, group)), 201)


@router.get(
    XINFO_GROUP.path,
    **operation(
        XINFO_GROUP.name,
        "Inspect a group",
        reply=Group,
        status=XINFO_GROUP.status,
        errors=(HttpCode.INVALID_NAME, ErrorCode.NO_SUCH_STREAM, ErrorCode.NOGROUP),
    ),
)
async def xinfo_group(key: KeyPath, group: GroupPath, store: Store) -> Response:
    """Return one group with its position and lag. O(groups)."""
    return await served(XINFO_GROUP, store, InfoGroups(key), (key, group))


@router.post(
    "/v1/streams/{key}/groups/{group}:setid",
    **operation(
        "xgroup_setid",
        "Move a group",
        status=204,
        body=GroupPositionBody,
        errors=(HttpCode.INVALID_NAME, ErrorCode.INVALID_ID, ErrorCode.NO_SUCH_STREAM, ErrorCode.NOGROUP),
    ),
)
async def xgroup_setid(key: KeyPath, group: GroupPath, request: Request, store: Store) -> Response:
    """Set the position of a group. Its pending entries stay pending. O(1)."""
    body = await read_body(request, GroupPositionBody)
    after = group_start_of(body.after, parse_position)
    await store.execute(SetGroupPosition(key, group, after, body.entries_read))
    return no_content()


@router.delete(
    "/v1/streams/{key}/groups/{group}",
    **operation(
        "xgroup_destroy",
        "Delete a group",
        status=204,
        errors=(HttpCode.INVALID_NAME, ErrorCode.NO_SUCH_STREAM, ErrorCode.NOGROUP),
    ),
)
async def xgroup_destroy(key: KeyPath, group: GroupPath, store: Store) -> Response:
    """Delete a group with its consumers and pending entries. O(pending)."""
    if not await store.execute(DestroyGroup(key, group)):
        raise no_group(key, group)
    return no_content()
