"""Routes of a group's settings and of its dead letters: configure the group, send dead letters back."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.document.operations import operation
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.routes.serving import execute_together
from tailrace.api.schemas.dead_letters import CONFIGURED_EXAMPLE, GroupSettingsBody, RedriveBody, RedriveReply
from tailrace.api.schemas.groups import Group
from tailrace.api.wire.bodies import read_body, read_optional_body
from tailrace.api.wire.filtering import compiled
from tailrace.api.wire.group_replies import group_json, group_named, redrive_json
from tailrace.api.wire.names import GroupPath, KeyPath, name_from_body
from tailrace.api.wire.negotiation import JSON
from tailrace.api.wire.parameters import Store, ids_of, start_of
from tailrace.api.wire.replies import json_response
from tailrace.core import replies
from tailrace.core.commands import ConfigureGroup, InfoGroups, Redrive
from tailrace.core.errors import ErrorCode

router = APIRouter(tags=["groups"], route_class=DeferredRoute)


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
