"""Routes of consumer groups: the groups, their settings, and their dead letters."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.document.operations import operation
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.api.operations.table import XINFO_GROUP
from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.routes.serving import execute_together, served
from tailrace.api.schemas.groups import (
    CONFIGURED_EXAMPLE,
    Group,
    GroupBody,
    GroupList,
    GroupPositionBody,
    GroupSettingsBody,
    RedriveBody,
    RedriveReply,
)
from tailrace.api.wire.bodies import read_body, read_optional_body
from tailrace.api.wire.filtering import compiled
from tailrace.api.wire.group_replies import group_json, group_named, redrive_json
from tailrace.api.wire.names import GroupPath, KeyPath, name_from_body
from tailrace.api.wire.negotiation import JSON
from tailrace.api.wire.parameters import Store, group_start_of, ids_of, start_of
from tailrace.api.wire.replies import json_response, no_content
from tailrace.api.wire.turns import Slices
from tailrace.core import replies
from tailrace.core.commands import (
    ConfigureGroup,
    CreateGroup,
    DestroyGroup,
    InfoGroups,
    Redrive,
    SetGroupPosition,
)
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


@router.post(
    "/v1/streams/{key}/groups/{group}:configure",
    **operation(
        "configure_group",
        "Configure a group",
        reply=Group,
        body=GroupSettingsBody,
        extra={"responses": {"200": {"content": {JSON: {"example": CONFIGURED_EXAMPLE}}}}},
        errors=(
            HttpCode.INVALID_NAME,
            ErrorCode.INVALID_ARGUMENT,
            ErrorCode.INVALID_FILTER,
            ErrorCode.NO_SUCH_STREAM,
            ErrorCode.NOGROUP,
        ),
    ),
)
async def configure_group(key: KeyPath, group: GroupPath, request: Request, store: Store) -> Response:
    """Change settings of a group, and return the group. Takes effect with the next delivery. O(groups)."""
    body = await read_body(request, GroupSettingsBody)
    named = body.model_fields_set - {"encoding"}
    if not named:
        raise RequestRefused(
            ErrorCode.INVALID_ARGUMENT,
            "the body has no settings; send at least one, or null to remove it: "
            + ", ".join(f"`{name}`" for name in GroupSettingsBody.model_fields if name != "encoding"),
        )
    settings: dict[str, Any] = {name: getattr(body, name) for name in named - {"backoff"}}
    if "dead_letter_stream" in named:
        settings["dead_letter_stream"] = _stream_of(body)
    if "backoff" in named:
        settings |= _backoff_of(body)
    if body.filter is not None:
        await compiled(body.filter)
    _, infos = await execute_together(store, ConfigureGroup(key, group, **settings), InfoGroups(key))
    return json_response(group_json(group_named(infos, key, group)))


def _backoff_of(body: GroupSettingsBody) -> dict[str, Any]:
    if body.backoff is None:
        return {"backoff_initial_ms": None, "backoff_factor": None, "backoff_max_ms": None}
    return {f"backoff_{name}": value for name, value in body.backoff.model_dump().items()}


def _stream_of(body: GroupSettingsBody) -> bytes | None:
    if body.dead_letter_stream is None:
        return None
    return name_from_body(body.dead_letter_stream, body.encoding, "dead_letter_stream")


@router.post(
    "/v1/streams/{key}/groups/{group}:redrive",
    **operation(
        "redrive",
        "Send dead letters back",
        reply=RedriveReply,
        body=RedriveBody,
        body_required=False,
        errors=(
            HttpCode.INVALID_NAME,
            ErrorCode.INVALID_ID,
            ErrorCode.INVALID_ARGUMENT,
            ErrorCode.NO_SUCH_STREAM,
            ErrorCode.NOGROUP,
            ErrorCode.ID_EXHAUSTED,
            ErrorCode.MEMORY_LIMIT,
        ),
    ),
)
async def redrive(key: KeyPath, group: GroupPath, request: Request, store: Store) -> Response:
    """Append dead letters of the group to its stream again, and delete them from the dead-letter stream.

    Each entry gets its own fields and a new id. A request that is repeated sends no entry twice. Continue
    with `next`. O(limit).
    """
    body = await read_optional_body(request, RedriveBody)
    if body.ids is not None and "start" in body.model_fields_set:
        raise RequestRefused(ErrorCode.INVALID_ARGUMENT, "`ids` and `start` exclude each other; send one")
    ids = None if body.ids is None else ids_of(body.ids)
    known = group_named(await store.execute(InfoGroups(key)), key, group)
    target = known.settings.dead_letter_stream
    command = Redrive(key, group, body.limit, ids, start_of(body.start), target)
    store.require_dead_letter_stream(command, known)
    reply = await store.execute(command)
    assert isinstance(reply, replies.RedriveReply)
    return json_response(redrive_json(reply))
