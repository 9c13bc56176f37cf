"""Routes of a group's consumers: list, create and delete them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from tailrace.api.document.operations import operation
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.api.name_members import named
from tailrace.api.problems.table import HttpCode
from tailrace.api.schemas.groups import ConsumerCreated, ConsumerDeleted, ConsumerList
from tailrace.api.wire.group_replies import consumer_json
from tailrace.api.wire.names import ConsumerPath, GroupPath, KeyPath, TransferTo
from tailrace.api.wire.parameters import Store
from tailrace.api.wire.replies import json_response
from tailrace.api.wire.turns import Slices
from tailrace.core.commands import CreateConsumer, DeleteConsumer, InfoConsumers
from tailrace.core.errors import ErrorCode, no_such_consumer

router = APIRouter(tags=["consumers"], route_class=DeferredRoute)


@router.get(
    "/v1/streams/{key}/groups/{group}/consumers",
    **operation(
        "xinfo_consumers",
        "List a group's consumers",
        reply=ConsumerList,
        errors=(
            HttpCode.INVALID_NAME,
            ErrorCode.NO_SUCH_STREAM,
            ErrorCode.NOGROUP,
            ErrorCode.REPLY_TOO_LARGE,
        ),
    ),
)
async def xinfo_consumers(key: KeyPath, group: GroupPath, store: Store) -> Response:
    """List the consumers of a group with their numbers of pending entries, in byte order of their names.

    O(consumers).
    """
    reply = await store.execute(InfoConsumers(key, group))
    assert isinstance(reply, list)
    return json_response({"consumers": await Slices().rows(reply, consumer_json)})


@router.put(
    "/v1/streams/{key}/groups/{group}/consumers/{consumer}",
    **operation(
        "xgroup_createconsumer",
        "Create a consumer",
        reply=ConsumerCreated,
        status=201,
        also={200: "The consumer already exists."},
        errors=(HttpCode.INVALID_NAME, ErrorCode.NO_SUCH_STREAM, ErrorCode.NOGROUP, ErrorCode.MEMORY_LIMIT),
    ),
)
async def xgroup_createconsumer(
    key: KeyPath, group: GroupPath, consumer: ConsumerPath, store: Store
) -> Response:
    """Create a consumer. Reads and claims also create their consumer if it does not exist. O(1)."""
    created = bool(await store.execute(CreateConsumer(key, group, consumer)))
    return json_response({**named(name=consumer), "created": created}, 201 if created else 200)


@router.delete(
    "/v1/streams/{key}/groups/{group}/consumers/{consumer}",
    **operation(
        "xgroup_delconsumer",
        "Delete a consumer",
        reply=ConsumerDeleted,
        errors=(
            HttpCode.INVALID_NAME,
            ErrorCode.NO_SUCH_STREAM,
            ErrorCode.NOGROUP,
            ErrorCode.NO_SUCH_CONSUMER,
            ErrorCode.CONSUMER_HAS_PENDING,
        ),
    ),
)
async def xgroup_delconsumer(
    key: KeyPath,
    group: GroupPath,
    consumer: ConsumerPath,
    store: Store,
    transfer_to: TransferTo,
    *,
    force: Annotated[
        bool, Query(description="Drop the pending entries of the consumer permanently.", examples=[False])
    ] = False,
) -> Response:
    """Delete a consumer. If it has pending entries, `transfer_to` or `force` is required. O(pending)."""
    command = DeleteConsumer(key, group, consumer, transfer_to, refuse_pending=not force)
    dropped = await store.execute(command)
    if dropped is None:
        raise no_such_consumer(key, group, consumer)
    return json_response({"pending_dropped": dropped})
