"""The parameters of tails: positions, streams, the consumer group, and its options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, NamedTuple, TypeAlias

from fastapi import Depends, Header, Query
from starlette.requests import Request

from tailrace.api.follow import sse
from tailrace.api.follow.tails import TailConsumer
from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.schemas.base import I64_MAX, INCARNATION_EXAMPLE
from tailrace.api.wire.filtering import FilterParameter
from tailrace.api.wire.names import checked_name, raw_query_values
from tailrace.api.wire.parameters import EntryShape
from tailrace.core.filters import Filter
from tailrace.core.limits import READ_STREAMS_MAX
from tailrace.core.log.entry_json import Shape

LastEventId: TypeAlias = Annotated[
    str | None,
    Header(
        alias="Last-Event-ID",
        description="The `id:` of the last event that the client received. It overrides `after`. Browsers "
        "send it when they reconnect.",
    ),
]

OfIncarnation: TypeAlias = Annotated[
    str | None,
    Query(
        description="The incarnation of the stream to which `Last-Event-ID` belongs. If the stream has "
        "another one now, the tail sends a `gap` and continues with the first entry.",
        examples=[INCARNATION_EXAMPLE],
    ),
]

AFTER: Final = (
    "Send entries after this id. `$` (the default): only entries appended from now on. `+`: from the last "
    "entry on. With `group`: first send the consumer's own pending entries after this id (`0-0` for all of "
    "them); by default none of them."
)


def _invalid(detail: str) -> RequestRefused:
    return RequestRefused(HttpCode.INVALID_PARAMETER, detail)


async def _group_reader(
    request: Request,
    group: Annotated[
        str | None,
        Query(description="Read as a consumer of this group. Percent-encoded.", examples=["judges"]),
    ] = None,
    consumer: Annotated[
        str | None,
        Query(description="The consumer; created if it does not exist. Percent-encoded.", examples=["alice"]),
    ] = None,
    claim_min_idle_ms: Annotated[
        int | None,
        Query(
            ge=0,
            le=I64_MAX,
            description="First claim entries that have been pending for any consumer at least this many "
            "milliseconds.",
            examples=[60000],
        ),
    ] = None,
    prefetch: Annotated[
        int,
        Query(
            ge=1,
            le=sse.PREFETCH_MAX,
            description="How many entries of this tail can be unacknowledged at a time. Then the tail "
            "waits for acks.",
            examples=[sse.PREFETCH_DEFAULT],
        ),
    ] = sse.PREFETCH_DEFAULT,
    *,
    noack: Annotated[
        bool,
        Query(
            description="New entries do not become pending, and `prefetch` has no effect.", examples=[False]
        ),
    ] = False,
) -> TailConsumer | None:
    if (group is None) != (consumer is None):
        raise _invalid(
            f"`{'group' if group is None else 'consumer'}` is missing: send both `group` and `consumer`, "
            "or neither"
        )
    if group is None:
        _refuse_group_options(request)
        return None
    names = [
        checked_name(raw_query_values(request, parameter)[0], parameter)
        for parameter in ("group", "consumer")
    ]
    return TailConsumer(names[0], names[1], prefetch, claim_min_idle_ms, noack)


def _refuse_group_options(request: Request) -> None:
    options = ("claim_min_idle_ms", "prefetch", "noack")
    if given := [name for name in options if name in request.query_params]:
        raise _invalid(f"{', '.join(f'`{name}`' for name in given)} can be used only with `group`")


class TailReader(NamedTuple):
    """The group and consumer that read (None without a group), the form of the entries, and the filter."""

    group: TailConsumer | None
    shape: Shape
    wanted: Filter | None


async def _reader(
    group: Annotated[TailConsumer | None, Depends(_group_reader)], shape: EntryShape, wanted: FilterParameter
) -> TailReader:
    if wanted is None:
        return TailReader(group, shape, None)
    if group is not None:
        raise _invalid("`filter` cannot be used with `group`: set the filter of the group with `:configure`")
    return TailReader(group, shape, wanted.filter)


async def _streams(
    request: Request,
    stream: Annotated[
        list[str],
        Query(
            min_length=1,
            max_length=READ_STREAMS_MAX,
            description="The key of a stream, percent-encoded. Give it once for each stream.",
            examples=[["race:france", "race:usa"]],
        ),
    ],
    after: Annotated[
        list[str] | None,
        Query(
            description=AFTER + " Give it once for all streams, or once for each stream, in the same order."
        ),
    ] = None,
) -> dict[bytes, str | None]:
    """Return the position of each stream: the value of its `after`, or None."""
    keys = [checked_name(key, "stream") for key in raw_query_values(request, "stream")]
    if len(set(keys)) < len(keys):
        raise _invalid("`stream` names the same stream twice; name each stream once")
    positions: Sequence[str | None] = after or [None]
    if len(positions) == 1:
        positions = [positions[0]] * len(stream)
    if len(positions) != len(keys):
        raise _invalid(
            f"there are {len(positions)} `after` for {len(keys)} `stream`; give one `after`, or one for "
            "each `stream`"
        )
    return dict(zip(keys, positions, strict=True))


ReaderParameter: TypeAlias = Annotated[TailReader, Depends(_reader)]
Streams: TypeAlias = Annotated[dict[bytes, str | None], Depends(_streams)]
