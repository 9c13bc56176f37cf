"""Routes that follow streams as Server-Sent Events, with or without a consumer group.

They do the checks that must fail before the first byte of the response. `api.routes.tail_parameters` reads
the parameters, `api.follow.tails` decides what a tail reads and sends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.access.guarded_store import GuardedStore
from tailrace.api.document.operations import operation
from tailrace.api.follow import sse
from tailrace.api.follow.followers import Start
from tailrace.api.follow.response import TailResponse
from tailrace.api.follow.tails import EventForm, GroupTail, PlainTail, Tail, TailConsumer
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.api.http.layers import is_head
from tailrace.api.ports import StreamStore
from tailrace.api.problems.table import HttpCode, request_id_of
from tailrace.api.routes.tail_parameters import (
    AFTER,
    LastEventId,
    OfIncarnation,
    ReaderParameter,
    Streams,
    TailReader,
)
from tailrace.api.server_limits import OpenLimit
from tailrace.api.wire.names import KeyPath
from tailrace.api.wire.parameters import Store, id_of, position_of
from tailrace.api.wire.stream_replies import INCARNATION_HEADER, incarnation_headers
from tailrace.core.commands import (
    SOME_INCARNATION,
    PendingSummary,
    Read,
    ReadFrom,
    ReadGroup,
    ReadLimits,
    Special,
)
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.filters import Filter
from tailrace.core.replies import ReadReply
from tailrace.core.stream_id import MAX_ID, StreamId

router = APIRouter(tags=["reads"], route_class=DeferredRoute)

_EXAMPLE: Final = """\
retry: 2000
event: entries
id: 1692632094485-0
data: []

event: entries
id: 1692632102976-0
data: [{"id":"1692632102976-0","fields":{"rider":"Prickett","speed":"29.7"}}]

:
"""

_EXAMPLE_OF_SEVERAL: Final = """\
retry: 2000
event: entries
id: race%3Afrance=1692632094485-0~b4e1c2d0&race%3Ausa=0-3~90d3f14a
data: {"key":"race:usa","entries":[],"next":"0-3"}

event: entries
id: race%3Ausa=0-3~90d3f14a&race%3Afrance=1692632102976-0~b4e1c2d0
data: {"key":"race:france","entries":[{"id":"1692632102976-0","fields":{"rider":"Prickett"}}],\
"next":"1692632102976-0"}

"""


def _event_stream(example: str, headers: Mapping[str, Any] | None = None) -> dict[str, Any]:
    content = {sse.EVENT_STREAM: {"schema": {"type": "string"}, "example": example}}
    return {
        "responses": {
            "200": {
                "description": "Events, until the client or the server ends the response.",
                "content": content,
                **({"headers": headers} if headers else {}),
            }
        }
    }


@router.get(
    "/v1/streams/{key}/entries:tail",
    **operation(
        "tail",
        "Follow a stream",
        media_type=sse.EVENT_STREAM,
        extra=_event_stream(_EXAMPLE, {"X-Incarnation": INCARNATION_HEADER}),
        errors=(HttpCode.INVALID_NAME, ErrorCode.INVALID_ID, ErrorCode.INVALID_FILTER, ErrorCode.NOGROUP),
    ),
)
async def tail(
    request: Request,
    store: Store,
    key: KeyPath,
    reader: ReaderParameter,
    after: Annotated[str | None, Query(description=AFTER, examples=["$"])] = None,
    incarnation: OfIncarnation = None,
    last_event_id: LastEventId = None,
) -> Response:
    """Send the entries of a stream as Server-Sent Events, as soon as they are appended.

    The events are `entries` (an array), `gap`, `end` and `problem`. The `id` of an event is the position
    from which to resume: send it as `Last-Event-ID`. The first event has no entries, only the position.
    `gap` means that the entries after `from` and before `to` were trimmed before the tail could send them.
    If the stream was deleted and created again, a `gap` with an `incarnation` says so, and the tail continues
    with the first entry of the new stream. `end` and `problem` contain a problem; then the server closes the
    connection. The server sends a comment every 15 s. If the client reads nothing for 30 s, the server
    closes the connection.

    With `filter`, the tail sends only the entries that match. An event without entries moves the position
    over entries that do not match.

    With `group` and `consumer`, the tail reads like XREADGROUP. Its entries have `idle_ms` and `deliveries`,
    and the consumer acknowledges them with `xack` on any connection. At most `prefetch` entries are
    unacknowledged at a time.
    """
    positions = {key: last_event_id or after}
    resumed = {key: incarnation or SOME_INCARNATION} if last_event_id else {}
    return await _tail(request, store, positions, resumed, reader, labelled=False)


@router.get(
    "/v1/tail",
    **operation(
        "tail_streams",
        "Follow several streams",
        media_type=sse.EVENT_STREAM,
        extra=_event_stream(_EXAMPLE_OF_SEVERAL),
        errors=(HttpCode.INVALID_NAME, ErrorCode.INVALID_ID, ErrorCode.INVALID_FILTER, ErrorCode.NOGROUP),
    ),
)
async def tail_streams(
    request: Request,
    store: Store,
    streams: Streams,
    reader: ReaderParameter,
    last_event_id: LastEventId = None,
) -> Response:
    """Send the entries of several streams as Server-Sent Events.

    It works like `tail`, but each `entries` event is an object with `key`, `entries` and `next` of one
    stream. The
    `id` of an event has the positions of all streams, and which streams they were: `key=id~mark&key=id~mark`,
    with percent-encoded keys. A stream that is missing in `Last-Event-ID` starts at its `after`. The streams
    take turns.
    """
    positions: dict[bytes, str | StreamId | None] = dict(streams)
    resumed: dict[bytes, str] = {}
    if last_event_id:
        reached = sse.parse_composite_id(last_event_id)
        positions |= {key: reached[key].at for key in streams if key in reached}
        resumed = {key: mark.incarnation for key, mark in reached.items()}
    return await _tail(request, store, positions, resumed, reader, labelled=True)


async def _tail(
    request: Request,
    store: Store,
    positions: Mapping[bytes, str | StreamId | None],
    resumed: Mapping[bytes, str],
    reader: TailReader,
    *,
    labelled: bool,
) -> Response:
    open_limit: OpenLimit = request.app.state.open_limits.event_streams
    open_limit.require_room()
    form = EventForm(reader.shape, labelled)
    made: Tail
    incarnation = None
    if reader.group is None:
        made = await _plain_tail(request, store, positions, resumed, form, reader.wanted)
        incarnation = made.incarnation
    else:
        store = store.under("consume")
        if is_head(request):
            await _require_group(store, positions, reader.group.group)
            return _head()
        made = await _group_tail(request, store, positions, reader.group, form)
    if is_head(request):
        return _head(incarnation)
    return TailResponse(made, store.guard, open_limit, incarnation=incarnation)


def _head(incarnation: str | None = None) -> Response:
    """Return the head of a tail's response, without a length."""
    head = Response(headers={**sse.HEADERS, **incarnation_headers(incarnation)}, media_type=sse.EVENT_STREAM)
    del head.headers["Content-Length"]
    return head


async def _plain_tail(
    request: Request,
    store: GuardedStore,
    positions: Mapping[bytes, str | StreamId | None],
    resumed: Mapping[bytes, str],
    form: EventForm,
    wanted: Filter | None,
) -> PlainTail:
    """Return a tail whose `$` and `+` are replaced by ids now, so that it misses no entry appended later.

    `resumed`: the incarnations, or their marks, of the streams whose position comes from an earlier tail.
    """
    sources = [ReadFrom(key, _position(position)) for key, position in positions.items()]
    reply = await store.execute(Read(tuple(sources), ReadLimits(count=1)))
    assert isinstance(reply, ReadReply)
    refusals = await _refusals(store, sources)
    starts = []
    for source, read in zip(sources, reply.streams, strict=True):
        key = source.key
        refusal = refusals.get(key)
        is_beyond = refusal is not None and "next" in refusal.details
        last_entry = read.entries.ids[0] - 1 if read.entries.ids else read.next
        after = source.after if isinstance(source.after, int) else last_entry
        incarnation = read.incarnation or (None if is_beyond else SOME_INCARNATION)
        if key in resumed:
            is_own = resumed[key] == sse.mark_of(read.incarnation) or not (resumed[key] or is_beyond)
            incarnation = (read.incarnation if is_own else None) or resumed[key]
        gap = None if is_beyond or (incarnation or None) != read.incarnation else refusal
        starts.append(Start(key, after, incarnation, is_beyond and key not in resumed, gap))
    turns, request_id = request.app.state.scan_turns, request_id_of(request.scope)
    return PlainTail(store.followed, starts, form, wanted, turns=turns, request_id=request_id)


async def _refusals(store: StreamStore, sources: Sequence[ReadFrom]) -> dict[bytes, StreamError]:
    """Return the errors of positions with a gap after them, and of those that their streams have not reached:
    their last id is before the position, or they are missing (the error has the detail `next`)."""
    probes = [
        Read((ReadFrom(source.key, source.after, SOME_INCARNATION),), ReadLimits(count=1), strict=True)
        for source in sources
        if isinstance(source.after, int)
    ]
    answers = await asyncio.gather(*[store.execute_all([probe]) for probe in probes])
    return {
        probe.streams[0].key: answer
        for probe, [answer] in zip(probes, answers, strict=True)
        if isinstance(answer, StreamError)
    }


def _position(given: str | StreamId | None) -> StreamId | Special:
    return given if isinstance(given, int) else position_of(given or "$")


async def _require_group(
    store: StreamStore, positions: Mapping[bytes, str | StreamId | None], group: bytes
) -> None:
    """Raise the errors that a tail of `group` would raise, without creating the consumer."""
    _history(positions)
    for key in positions:
        await store.execute(PendingSummary(key, group, consumers_max=0))


async def _group_tail(
    request: Request,
    store: GuardedStore,
    positions: Mapping[bytes, str | StreamId | None],
    reader: TailConsumer,
    form: EventForm,
) -> GroupTail:
    """Return a tail of a group. Raises NOGROUP, before the first byte, if a stream does not have the
    group."""
    history = _history(positions)
    # Reading the consumer's own entries above the greatest id delivers nothing, but checks the groups.
    above_all = tuple([ReadFrom(key, MAX_ID - 1) for key in positions])
    await store.execute(ReadGroup(reader.group, reader.consumer, above_all, ReadLimits(max_count=1)))
    request_id = request_id_of(request.scope)
    return GroupTail(store.followed, reader, list(positions), history, form, request_id=request_id)


def _history(positions: Mapping[bytes, str | StreamId | None]) -> dict[bytes, StreamId]:
    """Return the ids after which to read the consumer's pending entries, for streams with a position."""
    return {
        key: position if isinstance(position, int) else id_of(position, "after")
        for key, position in positions.items()
        if position is not None
    }
