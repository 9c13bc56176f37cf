"""Tails: streams as Server-Sent Events, from positions on or as a group's consumer.

It owns the parameters of a tail, and the checks that are answered before its first byte. What a tail
asks and sends is `api.tails.tail`', how it is carried `api.tails.tail_response`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple, TypeAlias

from fastapi import APIRouter, Depends, Header, Query
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.document.operations import operation
from tailrace.api.http.head import is_head
from tailrace.api.ports import StreamStore
from tailrace.api.problems.table import HttpCode, RequestRefused, request_id_of
from tailrace.api.schemas.base import I64_MAX
from tailrace.api.tails import sse
from tailrace.api.tails.group_tail import GroupReader, GroupTail
from tailrace.api.tails.tail import Form, PlainTail, Tail
from tailrace.api.tails.tail_response import TailResponse
from tailrace.api.tallies import OpenLimit
from tailrace.api.wire.names import KeyPath, checked_name, raw_query_values
from tailrace.api.wire.parameters import EntryShape, Store, id_of, position_of
from tailrace.core.commands import PendingSummary, Read, ReadFrom, ReadGroup, ReadLimits, Special
from tailrace.core.errors import ErrorCode
from tailrace.core.limits import READ_STREAMS_MAX
from tailrace.core.log.entry_json import Shape
from tailrace.core.replies import ReadReply
from tailrace.core.stream_id import MAX_ID, StreamId

router = APIRouter(tags=["reads"])

_EXAMPLE: Final = """\
retry: 2000
id: 1692632094485-0

event: entries
id: 1692632102976-0
data: [{"id":"1692632102976-0","fields":{"rider":"Prickett","speed":"29.7"}}]

:

"""

_EXAMPLE_OF_SEVERAL: Final = """\
retry: 2000
id: race%3Afrance=1692632094485-0&race%3Ausa=0-3

event: entries
id: race%3Ausa=0-3&race%3Afrance=1692632102976-0
data: {"key":"race:france","entries":[{"id":"1692632102976-0","fields":{"rider":"Prickett"}}],\
"next":"1692632102976-0"}

"""


def _event_stream(example: str) -> dict[str, Any]:
    content = {sse.EVENT_STREAM: {"schema": {"type": "string"}, "example": example}}
    return {"responses": {"200": {"description": "Events, until either side ends.", "content": content}}}


# --- parameters ------------------------------------------------------------------------------------

LastEventId: TypeAlias = Annotated[
    str | None,
    Header(
        alias="Last-Event-ID",
        description="The `id:` of the last event received; it beats `after`. Browsers send it themselves.",
    ),
]

_AFTER: Final = (
    "Begin after this id; `$`: with what comes from now on; `+`: with the last entry there is. With `group`: "
    "first the consumer's own pending entries after this id, all of them after `0-0`; none by default."
)


def _invalid(detail: str) -> RequestRefused:
    return RequestRefused(HttpCode.INVALID_PARAMETER, detail)


async def _group_reader(
    request: Request,
    group: Annotated[
        str | None,
        Query(description="Read as a consumer of this group; percent-encoded.", examples=["judges"]),
    ] = None,
    consumer: Annotated[
        str | None,
        Query(description="The consumer, created if new; percent-encoded.", examples=["alice"]),
    ] = None,
    claim_min_idle_ms: Annotated[
        int | None,
        Query(
            ge=0,
            le=I64_MAX,
            description="First take over what has been pending for anyone at least this long.",
            examples=[60000],
        ),
    ] = None,
    prefetch: Annotated[
        int,
        Query(
            ge=1,
            le=sse.PREFETCH_MAX,
            description="How many deliveries of this tail may be unacknowledged; then it waits for acks.",
            examples=[sse.PREFETCH_DEFAULT],
        ),
    ] = sse.PREFETCH_DEFAULT,
    *,
    noack: Annotated[
        bool,
        Query(description="New entries do not become pending: `prefetch` does not count.", examples=[False]),
    ] = False,
) -> GroupReader | None:
    if (group is None) != (consumer is None):
        raise _invalid(
            f"`{'group' if group is None else 'consumer'}` is missing: `group` and `consumer` need each other"
        )
    if group is None:
        _refuse_group_options(request)
        return None
    names = [
        checked_name(raw_query_values(request, parameter)[0], parameter)
        for parameter in ("group", "consumer")
    ]
    return GroupReader(names[0], names[1], prefetch, claim_min_idle_ms, noack)


def _refuse_group_options(request: Request) -> None:
    options = ("claim_min_idle_ms", "prefetch", "noack")
    if given := [name for name in options if name in request.query_params]:
        raise _invalid(f"{', '.join(f'`{name}`' for name in given)} can be used only with `group`")


class _Reader(NamedTuple):
    """Who reads (None: nobody of a group) and in which form."""

    group: GroupReader | None
    shape: Shape


async def _reader(group: Annotated[GroupReader | None, Depends(_group_reader)], shape: EntryShape) -> _Reader:
    return _Reader(group, shape)


async def _streams(
    request: Request,
    stream: Annotated[
        list[str],
        Query(
            min_length=1,
            max_length=READ_STREAMS_MAX,
            description="A stream's key, percent-encoded; once for each stream.",
            examples=[["race:france", "race:usa"]],
        ),
    ],
    after: Annotated[
        list[str] | None,
        Query(description=_AFTER + " Once for all streams, or once for each, in their order."),
    ] = None,
) -> dict[bytes, str | None]:
    """Each stream and the `after` given for it."""
    keys = [checked_name(key, "stream") for key in raw_query_values(request, "stream")]
    if len(set(keys)) < len(keys):
        raise _invalid("`stream` names a stream twice")
    positions: Sequence[str | None] = after or [None]
    if len(positions) == 1:
        positions = [positions[0]] * len(stream)
    if len(positions) != len(keys):
        raise _invalid("`after` is given once, or once for each `stream`")
    return dict(zip(keys, positions, strict=True))


# --- routes ----------------------------------------------------------------------------------------


@router.get(
    "/v1/streams/{key}/entries:tail",
    **operation(
        "tail",
        "Follow a stream",
        media_type=sse.EVENT_STREAM,
        extra=_event_stream(_EXAMPLE),
        errors=(HttpCode.INVALID_NAME, ErrorCode.INVALID_ID, ErrorCode.NOGROUP),
    ),
)
async def tail(
    request: Request,
    store: Store,
    key: KeyPath,
    reader: Annotated[_Reader, Depends(_reader)],
    after: Annotated[str | None, Query(description=_AFTER, examples=["$"])] = None,
    last_event_id: LastEventId = None,
) -> Response:
    """Entries as they come, as Server-Sent Events: `entries` (an array), `gap`, `end`, `error`.

    An event's `id` is the position to resume from, sent back as `Last-Event-ID`. `gap` tells that
    entries after `from` and before `to` were trimmed away unseen; `end` and `error` carry a problem, and
    the connection closes. A comment comes every 15 s. A client that takes nothing for 30 s is cut off.

    With `group` and `consumer` it reads as XREADGROUP does: entries carry `idle_ms` and `deliveries`, and
    are acknowledged by `xack` on any connection. At most `prefetch` of them are unacknowledged at a time.
    """
    positions = {key: last_event_id or after}
    return await _tail(request, store, positions, reader, labelled=False)


@router.get(
    "/v1/tail",
    **operation(
        "tail_streams",
        "Follow several streams",
        media_type=sse.EVENT_STREAM,
        extra=_event_stream(_EXAMPLE_OF_SEVERAL),
        errors=(HttpCode.INVALID_NAME, ErrorCode.INVALID_ID, ErrorCode.NOGROUP),
    ),
)
async def tail_streams(
    request: Request,
    store: Store,
    streams: Annotated[dict[bytes, str | None], Depends(_streams)],
    reader: Annotated[_Reader, Depends(_reader)],
    last_event_id: LastEventId = None,
) -> Response:
    """Like `tail`, over several streams: each `entries` event is one stream's `{"key", "entries", "next"}`.

    An event's `id` holds the positions of all streams, `key=id&key=id` with keys percent-encoded; a stream
    that is not in a `Last-Event-ID` begins as it would without one. Streams take turns.
    """
    positions: dict[bytes, str | StreamId | None] = dict(streams)
    if last_event_id:
        resumed = sse.parse_composite_id(last_event_id)
        positions |= {key: resumed[key] for key in streams if key in resumed}
    return await _tail(request, store, positions, reader, labelled=True)


async def _tail(
    request: Request,
    store: Store,
    positions: Mapping[bytes, str | StreamId | None],
    reader: _Reader,
    *,
    labelled: bool,
) -> Response:
    open_limit: OpenLimit = request.app.state.open_limits.event_streams
    open_limit.require_room()
    form = Form(reader.shape, labelled)
    made: Tail
    if reader.group is None:
        made = await _plain_tail(store, positions, form)
    else:
        store = store.under("consume")
        if is_head(request):
            await _require_group(store, positions, reader.group.group)
            return _head()
        made = await _group_tail(store, positions, reader.group, form)
    if is_head(request):
        return _head()
    return TailResponse(store, made, request_id=request_id_of(request.scope), open_limit=open_limit)


def _head() -> Response:
    """The head of a tail, whose length nobody knows."""
    head = Response(headers=sse.HEADERS, media_type=sse.EVENT_STREAM)
    del head.headers["Content-Length"]
    return head


async def _plain_tail(
    store: StreamStore, positions: Mapping[bytes, str | StreamId | None], form: Form
) -> PlainTail:
    """A tail whose `$` and `+` are resolved now: what comes while the client connects is not lost."""
    sources = [ReadFrom(key, _position(position)) for key, position in positions.items()]
    reply = await store.execute(Read(tuple(sources), ReadLimits(count=1)))
    assert isinstance(reply, ReadReply)
    resolved = {}
    for source, read in zip(sources, reply.streams, strict=True):
        last_entry = read.entries.ids[0] - 1 if read.entries.ids else read.next
        resolved[source.key] = source.after if isinstance(source.after, int) else last_entry
    return PlainTail(resolved, form)


def _position(given: str | StreamId | None) -> StreamId | Special:
    return given if isinstance(given, int) else position_of(given or "$")


async def _require_group(
    store: StreamStore, positions: Mapping[bytes, str | StreamId | None], group: bytes
) -> None:
    """Raises what a tail of `group` would, and creates no consumer as that does."""
    _history(positions)
    for key in positions:
        await store.execute(PendingSummary(key, group))


async def _group_tail(
    store: StreamStore, positions: Mapping[bytes, str | StreamId | None], reader: GroupReader, form: Form
) -> GroupTail:
    """A tail of a group that is there on all streams, or the store's NOGROUP before the first byte."""
    history = _history(positions)
    # The consumer's own entries above all that there are: nothing is taken, and the groups are checked.
    above_all = tuple([ReadFrom(key, MAX_ID - 1) for key in positions])
    await store.execute(ReadGroup(reader.group, reader.consumer, above_all, ReadLimits(max_count=1)))
    return GroupTail(reader, list(positions), history, form)


def _history(positions: Mapping[bytes, str | StreamId | None]) -> dict[bytes, StreamId]:
    """Where the consumer's own pending entries are read from, for the streams that give a position."""
    return {
        key: position if isinstance(position, int) else id_of(position, "after")
        for key, position in positions.items()
        if position is not None
    }
