"""Appending: one entry, a batch, or an import of NDJSON lines."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Final, Literal, TypeAlias

from fastapi import APIRouter, Header, Query
from starlette.requests import Request
from starlette.responses import Response

from api import hot
from api.bodies import json_body
from api.idempotency import PRODUCER_HEADERS, producer_of
from api.names import KeyPath
from api.ndjson import decompressed
from api.negotiation import JSON, NDJSON, require_content_type
from api.operations import operation
from api.parameters import Store
from api.schemas.entries import BatchReply, XaddBatchBody, XaddBody, XaddReply
from core.commands import Idempotency
from core.errors import ErrorCode, StreamError
from core.replies import Reply

router = APIRouter(tags=["entries"])

_REPLAYED: Final = {
    200: "The key was used before: nothing is appended, these are the first ids. `Idempotent-Replayed: true`."
}

WithIds: TypeAlias = Annotated[
    bool, Query(description="Answer all ids, in order, not only the first and the last.", examples=[True])
]


@router.post(
    "/v1/streams/{key}/entries",
    **operation(
        "xadd",
        "Append an entry",
        reply=XaddReply,
        status=201,
        body=XaddBody,
        errors=(404, 409, 412),
        also=_REPLAYED,
        parameters=PRODUCER_HEADERS,
    ),
)
async def xadd(key: KeyPath, request: Request, store: Store) -> Response:
    """Append one entry; the stream is created where there is none, unless `nomkstream`. O(1).

    The id is chosen by the server unless `id` is given; it rises through a clock that steps back.
    """
    raw = await json_body(request)
    reply = await store.execute(hot.xadd_command(key, raw, partial(_idempotency, request, raw)))
    return _answer(reply, hot.xadd_bytes(reply))


@router.post(
    "/v1/streams/{key}/entries:batch",
    **operation(
        "xadd_batch",
        "Append several entries",
        reply=BatchReply,
        status=201,
        body=XaddBatchBody,
        errors=(409, 412),
        also=_REPLAYED,
        parameters=PRODUCER_HEADERS,
    ),
)
async def xadd_batch(key: KeyPath, request: Request, store: Store, *, ids: WithIds = False) -> Response:
    """Append entries in order, all or none. O(entries)."""
    raw = await json_body(request)
    reply = await store.execute(hot.batch_command(key, raw, partial(_idempotency, request, raw)))
    return _answer(reply, hot.batch_bytes(reply, with_ids=ids))


IMPORT_EXAMPLE: Final = (
    '{"rider":"Castilla","speed":"29.9","position":"1","location_id":"2"}\n{"rider":"Norem","speed":"28.8"}\n'
)
_IMPORT_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "description": (
            "One JSON object a line: an entry's fields, or a whole `EntryToAppend` with `shape=entry`."
        ),
        "content": {NDJSON: {"schema": {"type": "string"}, "example": IMPORT_EXAMPLE}},
    }
}


@router.post(
    "/v1/streams/{key}/entries:import",
    **operation(
        "import_entries",
        "Append the lines of an NDJSON body",
        reply=BatchReply,
        status=201,
        errors=(409, 415, 422),
        also=_REPLAYED,
        parameters=PRODUCER_HEADERS,
        extra=_IMPORT_BODY,
    ),
)
async def import_entries(
    key: KeyPath,
    request: Request,
    store: Store,
    *,
    shape: Annotated[
        Literal["fields", "entry"],
        Query(description="What a line holds: the fields alone, or a whole entry.", examples=["fields"]),
    ] = "fields",
    content_encoding: Annotated[
        str | None,
        Header(description="`gzip` or `zstd`: how the body is compressed.", examples=["identity"]),
    ] = None,
) -> Response:
    """Append one entry a line, all or none; blank lines are passed over. O(bytes).

    The idempotency fingerprint is that of the body as it was sent, compressed or not.
    """
    require_content_type(request, NDJSON)
    raw = await request.body()
    lines = decompressed(raw, content_encoding)
    idempotency = partial(_idempotency, request, raw)
    if shape == "fields":
        command = hot.import_command(key, lines, idempotency)
    else:
        command = hot.import_entries_command(key, lines, idempotency)
    reply = await store.execute(command)
    return _answer(reply, hot.batch_bytes(reply))


def _idempotency(request: Request, raw: bytes, server_chooses: bool) -> Idempotency | None:  # noqa: FBT001
    producer = producer_of(request.headers)
    if producer is None:
        return None
    if not server_chooses:
        raise StreamError(
            ErrorCode.INVALID_ARGUMENT,
            "ERR Idempotency-Key can be used only with ids that the server chooses",
        )
    return producer.idempotency(raw)


def _answer(reply: Reply, content: bytes) -> Response:
    if hot.appended(reply).replayed:
        return Response(content, 200, {"Idempotent-Replayed": "true"}, JSON)
    return Response(content, 201, media_type=JSON)
