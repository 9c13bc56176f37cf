"""Routes of whole streams: list, create, inspect, configure and delete them; and the epochs of producers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from msgspec import UNSET, UnsetType
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.document.operations import operation
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.api.name_members import named
from tailrace.api.operations.table import XINFO_STREAM, XLEN
from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.routes.serving import execute_together, served
from tailrace.api.schemas.appends import ProducerState, TakeOverBody
from tailrace.api.schemas.streams import (
    PositionBody,
    StreamCreated,
    StreamLengthReply,
    StreamPage,
    StreamSettings,
    StreamState,
)
from tailrace.api.schemas.texts import suggestion
from tailrace.api.wire.bodies import read_body, read_optional_body
from tailrace.api.wire.idempotency import stored_producer
from tailrace.api.wire.names import KeyPath, KeyPrefix, ProducerPath, StartAfter
from tailrace.api.wire.parameters import EntryShape, Store, id_of, optional_id_of
from tailrace.api.wire.replies import json_response, no_content
from tailrace.api.wire.stream_replies import (
    STREAM_HEADERS,
    epoch_json,
    full_json,
    stream_headers,
    stream_json,
    stream_list_json,
)
from tailrace.core.commands import (
    FULL_COUNT_DEFAULT,
    ConfigureStream,
    CreateStream,
    DeleteKeys,
    InfoProducer,
    InfoStream,
    ListStreams,
    RetentionRules,
    SetStreamPosition,
    StreamLength,
    TakeOverEpoch,
)
from tailrace.core.errors import ErrorCode, no_such_key
from tailrace.core.limits import LIST_PAGE_DEFAULT, LIST_PAGE_MAX, PAGE_ENTRIES_MAX
from tailrace.core.replies import StreamFullInfo, StreamInfo, StreamList

router = APIRouter(tags=["streams"], route_class=DeferredRoute)


@router.get("/v1/streams", **operation("list_streams", "List streams", reply=StreamPage))
async def list_streams(
    store: Store,
    prefix: KeyPrefix,
    start_after: StartAfter,
    limit: Annotated[
        int, Query(ge=1, le=LIST_PAGE_MAX, description="How many streams to return at most.", examples=[100])
    ] = LIST_PAGE_DEFAULT,
) -> Response:
    """List streams in byte order of their keys, page by page. O(log n + page)."""
    reply = await store.execute(ListStreams(prefix, start_after, limit))
    assert isinstance(reply, StreamList)
    return json_response(stream_list_json(reply))


@router.put(
    "/v1/streams/{key}",
    **operation(
        "create_stream",
        "Create a stream",
        reply=StreamCreated,
        status=201,
        body=StreamSettings,
        body_required=False,
        also={200: "The stream already exists. Its settings were changed to the given ones."},
        errors=(HttpCode.INVALID_NAME, ErrorCode.MEMORY_LIMIT),
    ),
)
async def create_stream(key: KeyPath, request: Request, store: Store) -> Response:
    """Create an empty stream, or change the settings of an existing one. Appends also create streams.
    O(1)."""
    body = await read_optional_body(request, StreamSettings)
    command = CreateStream(key, body.idmp_duration_s, body.idmp_maxsize, _rules_of(body))
    created = bool(await store.execute(command))
    return json_response({**named(key=key), "created": created}, 201 if created else 200)


def _rules_of(body: StreamSettings) -> RetentionRules | UnsetType | None:
    if "retention" not in body.model_fields_set:
        return UNSET
    return None if body.retention is None else RetentionRules(**body.retention.model_dump())


@router.get(
    XINFO_STREAM.path,
    **operation(
        XINFO_STREAM.name,
        "Inspect a stream",
        reply=StreamState,
        status=XINFO_STREAM.status,
        errors=(HttpCode.INVALID_NAME, ErrorCode.NO_SUCH_STREAM, ErrorCode.REPLY_TOO_LARGE),
    ),
)
async def xinfo_stream(
    key: KeyPath,
    store: Store,
    shape: EntryShape,
    *,
    full: Annotated[
        bool,
        Query(description="Also return entries, and groups with their pending entries.", examples=[True]),
    ] = False,
    count: Annotated[
        int,
        Query(
            ge=1,
            le=PAGE_ENTRIES_MAX,
            description="With `full`: how many entries, and pending entries of each list, to return at most.",
            examples=[10],
        ),
    ] = FULL_COUNT_DEFAULT,
) -> Response:
    """Return the length, ids, counters and settings of a stream; with `full` also entries and groups.

    O(log n), or O(response) with `full`.
    """
    commands = (InfoStream(key), InfoStream(key, count)) if full else (InfoStream(key),)
    info, *details = await execute_together(store, *commands)
    assert isinstance(info, StreamInfo)
    content = stream_json(key, info)
    for detail in details:
        assert isinstance(detail, StreamFullInfo)
        content |= await full_json(detail, shape)
    return json_response(content)


@router.head(
    "/v1/streams/{key}",
    **operation(
        "head_stream",
        "Get the length and ids of a stream as headers",
        extra={"responses": {"200": {"headers": STREAM_HEADERS}}},
        errors=(HttpCode.INVALID_NAME, ErrorCode.NO_SUCH_STREAM),
    ),
)
async def head_stream(key: KeyPath, store: Store) -> Response:
    """Return the length, the bytes, the first id, the last id and the incarnation of a stream as headers.
    O(log n)."""
    info = await store.execute(InfoStream(key))
    assert isinstance(info, StreamInfo)
    return Response(headers=stream_headers(info), media_type="application/json")


@router.get(
    XLEN.path,
    **operation(
        XLEN.name,
        "Count a stream's entries",
        reply=StreamLengthReply,
        status=XLEN.status,
        errors=(HttpCode.INVALID_NAME,),
    ),
)
async def xlen(key: KeyPath, store: Store) -> Response:
    """Return the number of entries of a stream. A missing stream counts as an empty one. O(1)."""
    return await served(XLEN, store, StreamLength(key))


@router.post(
    "/v1/streams/{key}:setid",
    **operation(
        "xsetid",
        "Set a stream's position",
        status=204,
        body=PositionBody,
        errors=(
            HttpCode.INVALID_NAME,
            ErrorCode.INVALID_ID,
            ErrorCode.INVALID_ARGUMENT,
            ErrorCode.NO_SUCH_STREAM,
        ),
    ),
)
async def xsetid(key: KeyPath, request: Request, store: Store) -> Response:
    """Set the last id and the counters of a stream. Values that contradict its entries are refused. O(1)."""
    body = await read_body(request, PositionBody)
    last_id, max_deleted_id = (
        id_of(body.last_id, "last_id"),
        optional_id_of(body.max_deleted_id, "max_deleted_id"),
    )
    if max_deleted_id is not None and last_id < max_deleted_id:
        raise RequestRefused(
            ErrorCode.INVALID_ARGUMENT,
            f"`last_id` is {body.last_id}, which is smaller than `max_deleted_id` {body.max_deleted_id}; "
            "send a greater `last_id`",
        )
    await store.execute(SetStreamPosition(key, last_id, body.entries_added, max_deleted_id))
    return no_content()


@router.post(
    "/v1/streams/{key}:configure",
    **operation(
        "xcfgset",
        "Configure a stream",
        status=204,
        body=StreamSettings,
        errors=(HttpCode.INVALID_NAME, ErrorCode.INVALID_ARGUMENT, ErrorCode.NO_SUCH_STREAM),
    ),
)
async def xcfgset(key: KeyPath, request: Request, store: Store) -> Response:
    """Change the settings of a stream. A change of idempotency makes the stream forget its keys. O(1)."""
    body = await read_body(request, StreamSettings)
    if not body.model_fields_set:
        raise RequestRefused(
            ErrorCode.INVALID_ARGUMENT,
            f"the body has no settings; {suggestion('', [*StreamSettings.model_fields])}",
        )
    await store.execute(ConfigureStream(key, body.idmp_duration_s, body.idmp_maxsize, _rules_of(body)))
    return no_content()


@router.delete(
    "/v1/streams/{key}",
    **operation(
        "delete_stream",
        "Delete a stream",
        status=204,
        errors=(HttpCode.INVALID_NAME, ErrorCode.NO_SUCH_STREAM),
    ),
)
async def delete_stream(key: KeyPath, store: Store) -> Response:
    """Delete a stream with its entries and groups. O(blocks)."""
    if not await store.execute(DeleteKeys((key,))):
        raise no_such_key(key)
    return no_content()


@router.get(
    "/v1/streams/{key}/producers/{producer}",
    **operation(
        "get_producer",
        "Inspect a producer",
        reply=ProducerState,
        errors=(HttpCode.INVALID_NAME, ErrorCode.NO_SUCH_STREAM),
    ),
)
async def get_producer(key: KeyPath, producer: ProducerPath, store: Store) -> Response:
    """Return the epochs of a producer that the stream remembers, with their layouts and numbers of keys.
    O(1)."""
    reply = await store.execute(InfoProducer(key, stored_producer(producer)))
    assert isinstance(reply, list)
    return json_response({**named(producer=producer), "epochs": [epoch_json(epoch) for epoch in reply]})


@router.post(
    "/v1/streams/{key}/producers/{producer}:takeover",
    **operation(
        "take_over_epoch",
        "Take over an epoch of a producer",
        status=204,
        body=TakeOverBody,
        errors=(
            HttpCode.INVALID_NAME,
            ErrorCode.NO_SUCH_STREAM,
            ErrorCode.STALE_EPOCH,
            ErrorCode.LAYOUT_CHANGED,
        ),
    ),
)
async def take_over_epoch(key: KeyPath, producer: ProducerPath, request: Request, store: Store) -> Response:
    """Give an epoch another layout, in one step. Appends with the former layout fail from now on. O(1).

    The epoch must have the layout `replaces` or none, and exactly `keys` idempotency keys; otherwise nothing
    changes. Appends without a layout are not affected.
    A repeated request has no further effect.
    """
    body = await read_body(request, TakeOverBody)
    replaces, layout = stored_producer(body.replaces.encode()), stored_producer(body.layout.encode())
    await store.execute(
        TakeOverEpoch(key, stored_producer(producer), body.epoch, replaces, layout, body.keys)
    )
    return no_content()
