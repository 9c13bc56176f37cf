"""Routes of scheduled entries: list them, and cancel one. `api.routes.appends` has the appends with a
delay."""

from __future__ import annotations

from typing import Annotated, TypeAlias
from urllib.parse import unquote

from fastapi import APIRouter, Path, Query
from pydantic import BeforeValidator
from starlette.responses import Response

from tailrace.api.document.operations import operation
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.api.name_members import named
from tailrace.api.problems.refusal_texts import quoted
from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.schemas.scheduled import SCHEDULED_ID_EXAMPLE, ScheduledPage
from tailrace.api.wire.names import KeyPath
from tailrace.api.wire.parameters import EntryShape, Store
from tailrace.api.wire.replies import json_response, no_content
from tailrace.api.wire.scheduling import scheduled_id_of, scheduled_page_json
from tailrace.core import replies
from tailrace.core.commands import CancelScheduled, ListScheduled
from tailrace.core.errors import ErrorCode
from tailrace.core.limits import SCHEDULED_PAGE_MAX

router = APIRouter(tags=["entries"], route_class=DeferredRoute)

ScheduledIdPath: TypeAlias = Annotated[
    str,
    BeforeValidator(unquote),
    Path(description="The scheduled id, as the append returned it.", examples=[SCHEDULED_ID_EXAMPLE]),
]


@router.get(
    "/v1/streams/{key}/scheduled",
    **operation(
        "list_scheduled",
        "List scheduled entries",
        reply=ScheduledPage,
        errors=(HttpCode.INVALID_NAME, ErrorCode.INVALID_ID, ErrorCode.NO_SUCH_STREAM),
    ),
)
async def list_scheduled(
    key: KeyPath,
    store: Store,
    shape: EntryShape,
    *,
    after: Annotated[
        str | None,
        Query(
            description="Return only entries after this one: `next` of the previous page.",
            examples=[SCHEDULED_ID_EXAMPLE],
        ),
    ] = None,
    limit: Annotated[
        int,
        Query(ge=1, le=SCHEDULED_PAGE_MAX, description="How many entries to return at most.", examples=[100]),
    ] = 100,
) -> Response:
    """List the entries that were appended with a delay and are not visible yet, in the order of their times.
    O(log n + page)."""
    command = ListScheduled(key, None if after is None else scheduled_id_of(after), limit)
    page = await store.execute(command)
    assert isinstance(page, replies.ScheduledPage)
    return json_response(scheduled_page_json(page, shape))


@router.delete(
    "/v1/streams/{key}/scheduled/{id}",
    **operation(
        "cancel_scheduled",
        "Cancel a scheduled entry",
        status=204,
        errors=(
            HttpCode.INVALID_NAME,
            ErrorCode.INVALID_ID,
            ErrorCode.NO_SUCH_STREAM,
            HttpCode.NO_SUCH_ENTRY,
        ),
    ),
)
async def cancel_scheduled(key: KeyPath, id: ScheduledIdPath, store: Store) -> Response:  # noqa: A002
    """Remove an entry before its time, so that it is never appended. O(log n).

    404 `NO_SUCH_ENTRY`: the entry was appended, or cancelled before.
    """
    if not await store.execute(CancelScheduled(key, (scheduled_id_of(id),))):
        raise RequestRefused(
            HttpCode.NO_SUCH_ENTRY,
            f"the stream {quoted(key)} has no scheduled entry {id}: it was appended or cancelled, or the id "
            "is of another stream",
            members={**named(key=key), "id": id},
        )
    return no_content()
