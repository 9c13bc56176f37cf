"""The parameters of a read of one stream: the range or the position, the page, and how long to wait."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple, TypeAlias

from fastapi import Depends, Query
from starlette.requests import Request

from tailrace.api.http.head import is_head
from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.schemas.base import POSITION_INCARNATION
from tailrace.api.schemas.texts import any_of
from tailrace.api.wire.filtering import EntryFilter, FilterParameter
from tailrace.api.wire.parameters import EntryShape, PageCount, RangeEnd, RangeStart, Strict
from tailrace.api.wire.waiting import Prefer, Waiting, WaitMs, waiting
from tailrace.core.limits import PAGE_ENTRIES_MAX
from tailrace.core.log.entry_json import Shape


class Bounds(NamedTuple):
    """The range that the request asks for, as text."""

    start: str
    end: str
    order: str


class Following(NamedTuple):
    """The position after which to read, if given, how long to wait, and the incarnation of the stream in
    which the position was reached."""

    after: str | None
    wait: Waiting
    incarnation: str | None


class Page(NamedTuple):
    """The size and form of a page, whether trimmed entries are an error, and which entries it has (None:
    all)."""

    most: int
    shape: Shape
    strict: bool
    wanted: EntryFilter | None


async def _bounds(
    start: RangeStart = "-",
    end: RangeEnd = "+",
    order: Annotated[
        Literal["asc", "desc"],
        Query(description="`desc` reads backwards from `end` (XREVRANGE).", examples=["asc"]),
    ] = "asc",
) -> Bounds:
    return Bounds(start, end, order)


async def _following(
    request: Request,
    after: Annotated[
        str | None,
        Query(
            description=(
                "Read entries after this id instead (XREAD). `$`: only entries appended from now on. `+`: "
                "from the last entry on. It cannot be combined with `start`, `end` and `order`."
            ),
        ),
    ] = None,
    wait_ms: WaitMs = None,
    prefer: Prefer = None,
    incarnation: Annotated[
        str | None,
        Query(description=f"{POSITION_INCARNATION} With it, the response has the header `X-Incarnation`."),
    ] = None,
) -> Following:
    if wait_ms and after is None:
        raise RequestRefused(
            HttpCode.INVALID_PARAMETER,
            "`wait_ms` needs `after`: the position after which to wait, such as `after=$`",
        )
    if incarnation is not None and after is None:
        raise RequestRefused(
            HttpCode.INVALID_PARAMETER, "`incarnation` needs `after`: the position that belongs to it"
        )
    given = [name for name in Bounds._fields if name in request.query_params]
    if after is not None and given:
        raise RequestRefused(
            HttpCode.INVALID_PARAMETER,
            f"`after` excludes {any_of(f'`{name}`' for name in given)}: send only one of them",
        )
    wait = waiting(wait_ms, prefer)
    return Following(after, wait._replace(block_ms=None) if is_head(request) else wait, incarnation)


async def _page(
    shape: EntryShape,
    wanted: FilterParameter,
    count: PageCount = PAGE_ENTRIES_MAX,
    strict: Strict = False,  # noqa: FBT002
) -> Page:
    return Page(count, shape, strict, wanted)


BoundsParameter: TypeAlias = Annotated[Bounds, Depends(_bounds)]
FollowingParameter: TypeAlias = Annotated[Following, Depends(_following)]
PageParameter: TypeAlias = Annotated[Page, Depends(_page)]
