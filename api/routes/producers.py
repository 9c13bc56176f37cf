"""Routes of producers that replay whole batches: show the epochs of a producer, and take an epoch over.

This module converts requests and replies. It never decides whether an epoch can be taken over: the core does.
"""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.document.operations import operation
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.api.name_members import named
from tailrace.api.problems.table import HttpCode
from tailrace.api.schemas.producers import ProducerState, TakeOverBody
from tailrace.api.wire.bodies import read_body
from tailrace.api.wire.idempotency import stored_producer
from tailrace.api.wire.names import KeyPath, ProducerPath
from tailrace.api.wire.parameters import Store
from tailrace.api.wire.replies import json_response, no_content
from tailrace.api.wire.stream_replies import epoch_json
from tailrace.core.commands import InfoProducer, TakeOverEpoch
from tailrace.core.errors import ErrorCode

router = APIRouter(tags=["streams"], route_class=DeferredRoute)


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
