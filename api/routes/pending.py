"""Routes of pending entries: list, acknowledge, return (nack) and claim them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.document.operations import operation
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.api.operations.pending import PENDING_PAGE_DEFAULT, pending_command
from tailrace.api.operations.table import (
    EXTEND,
    XACK,
    XAUTOCLAIM,
    XCLAIM,
    XNACK,
    XPENDING,
    XPENDING_SUMMARY,
)
from tailrace.api.problems.table import HttpCode
from tailrace.api.routes.serving import served
from tailrace.api.schemas.base import I64_MAX
from tailrace.api.schemas.pending import (
    AckBody,
    AckReply,
    AutoClaimBody,
    AutoClaimReply,
    ClaimBody,
    ClaimReply,
    ExtendBody,
    ExtendReply,
    NackBody,
    NackReply,
    PendingOverview,
    PendingPage,
)
from tailrace.api.wire.bodies import json_body
from tailrace.api.wire.group_replies import pending_page_json, whole_overview_json
from tailrace.api.wire.names import ConsumerFilter, GroupPath, KeyPath
from tailrace.api.wire.parameters import (
    EntryShape,
    PageCount,
    RangeEnd,
    RangeStart,
    Store,
)
from tailrace.api.wire.replies import json_response
from tailrace.core import replies
from tailrace.core.commands import PendingSummary
from tailrace.core.errors import ErrorCode

router = APIRouter(tags=["pending"], route_class=DeferredRoute)


@router.get(
    XPENDING.path,
    **operation(
        XPENDING.name,
        "List pending entries",
        reply=PendingPage,
        status=XPENDING.status,
        errors=(
            HttpCode.INVALID_NAME,
            ErrorCode.INVALID_ID,
            ErrorCode.INVALID_ARGUMENT,
            ErrorCode.LIMIT_EXCEEDED,
            ErrorCode.NOGROUP,
            ErrorCode.REPLY_TOO_LARGE,
        ),
    ),
)
async def xpending(
    key: KeyPath,
    group: GroupPath,
    store: Store,
    consumer: ConsumerFilter,
    *,
    min_idle_ms: Annotated[
        int,
        Query(
            ge=0,
            le=I64_MAX,
            description="Return only entries whose last delivery is at least this many milliseconds ago.",
            examples=[30000],
        ),
    ] = 0,
    start: RangeStart = "-",
    end: RangeEnd = "+",
    count: PageCount = PENDING_PAGE_DEFAULT,
) -> Response:
    """List pending entries in id order, with owner, idle time and delivery count. O(log n + page)."""
    command = pending_command(key, group, start, end, count, min_idle_ms, consumer)
    entries = await store.execute(command)
    assert isinstance(entries, list)
    return json_response(await pending_page_json(entries, command.count))


@router.get(
    XPENDING_SUMMARY.path,
    **operation(
        XPENDING_SUMMARY.name,
        "Summarise pending entries",
        reply=PendingOverview,
        status=XPENDING_SUMMARY.status,
        errors=(HttpCode.INVALID_NAME, ErrorCode.NOGROUP, ErrorCode.REPLY_TOO_LARGE),
    ),
)
async def xpending_summary(key: KeyPath, group: GroupPath, store: Store) -> Response:
    """Return how many entries are pending, their smallest and greatest id, and the count for each consumer.

    O(consumers).
    """
    reply = await store.execute(PendingSummary(key, group))
    assert isinstance(reply, replies.PendingSummaryReply)
    return json_response(await whole_overview_json(reply))


@router.post(
    XACK.path,
    **operation(
        XACK.name,
        "Acknowledge entries",
        reply=AckReply,
        status=XACK.status,
        body=AckBody,
        errors=(HttpCode.INVALID_NAME, ErrorCode.INVALID_ID, ErrorCode.NOGROUP),
    ),
)
async def xack(key: KeyPath, group: GroupPath, request: Request, store: Store) -> Response:
    """Acknowledge entries (XACK): they are no longer pending. With `delete`, also delete them (XACKDEL).

    Ids that are not pending in the group are ignored. If the stream or the group does not exist, the request
    fails with 404 `NOGROUP`. O(ids).
    """
    return await served(XACK, store, XACK.command_of(key, group, await json_body(request)))


@router.post(
    XNACK.path,
    **operation(
        XNACK.name,
        "Return entries unprocessed (nack)",
        reply=NackReply,
        status=XNACK.status,
        body=NackBody,
        errors=(
            HttpCode.INVALID_NAME,
            ErrorCode.INVALID_ID,
            ErrorCode.INVALID_ARGUMENT,
            ErrorCode.NOGROUP,
        ),
    ),
)
async def xnack(key: KeyPath, group: GroupPath, request: Request, store: Store) -> Response:
    """Return entries to the group: they lose their owner, and the next claim takes them first.

    With `delay_ms`, or by the `backoff` of the group, no claim takes them before that time. O(ids log n).
    """
    return await served(XNACK, store, XNACK.command_of(key, group, await json_body(request)))


@router.post(
    XCLAIM.path,
    **operation(
        XCLAIM.name,
        "Claim entries",
        reply=ClaimReply,
        status=XCLAIM.status,
        body=ClaimBody,
        errors=(
            HttpCode.INVALID_NAME,
            ErrorCode.INVALID_ID,
            ErrorCode.NOGROUP,
            ErrorCode.REPLY_TOO_LARGE,
        ),
    ),
)
async def xclaim(
    key: KeyPath, group: GroupPath, request: Request, store: Store, shape: EntryShape
) -> Response:
    """Claim pending entries for a consumer, if they have been idle long enough. O(ids log n)."""
    command = XCLAIM.command_of(key, group, await json_body(request))
    return await served(XCLAIM, store, command, shape=shape)


@router.post(
    EXTEND.path,
    **operation(
        EXTEND.name,
        "Keep entries (heartbeat)",
        reply=ExtendReply,
        status=EXTEND.status,
        body=ExtendBody,
        errors=(HttpCode.INVALID_NAME, ErrorCode.INVALID_ID, ErrorCode.NOGROUP),
    ),
)
async def extend(key: KeyPath, group: GroupPath, request: Request, store: Store) -> Response:
    """Begin the idle time of a consumer's own pending entries again, so that no other consumer claims them.

    Delivery counts stay. The consumer counts as seen. Ids that it does not own are in `lost`, and stay
    unchanged. O(ids log n).
    """
    return await served(EXTEND, store, EXTEND.command_of(key, group, await json_body(request)))


@router.post(
    XAUTOCLAIM.path,
    **operation(
        XAUTOCLAIM.name,
        "Claim idle entries by a scan",
        reply=AutoClaimReply,
        status=XAUTOCLAIM.status,
        body=AutoClaimBody,
        errors=(HttpCode.INVALID_NAME, ErrorCode.INVALID_ID, ErrorCode.INVALID_ARGUMENT, ErrorCode.NOGROUP),
    ),
)
async def xautoclaim(
    key: KeyPath, group: GroupPath, request: Request, store: Store, shape: EntryShape
) -> Response:
    """Scan pending entries in id order and claim the idle ones. Continue the scan with `cursor`. O(count)."""
    command = XAUTOCLAIM.command_of(key, group, await json_body(request))
    return await served(XAUTOCLAIM, store, command, shape=shape)
