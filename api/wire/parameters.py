"""Parameters that routes share: how they are documented, bounded and turned into the engine's types.

It owns positions and ids as text, page sizes, waiting and the form of entries. Names are `api.wire.names`'.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias
from urllib.parse import unquote

from fastapi import Depends, Header, Path, Query
from pydantic import BeforeValidator
from starlette.requests import Request

from tailrace.api.access.guarded_store import GuardedStore
from tailrace.api.access.operation_scopes import scope_of
from tailrace.api.access.security import guard_of
from tailrace.api.ports import TurnStore
from tailrace.api.problems.table import RequestRefused
from tailrace.api.schemas.base import ReferencesName
from tailrace.api.schemas.entries import Trimming
from tailrace.core.commands import AutoSeq, IdRequest, References, Special, Trim
from tailrace.core.errors import StreamError
from tailrace.core.limits import PAGE_ENTRIES_MAX, WAIT_MS_MAX
from tailrace.core.log.entry_json import Shape
from tailrace.core.stream_id import StreamId, id_ms, parse_id, parse_ids, parse_range_end, parse_range_start


async def _store(request: Request) -> GuardedStore:
    store: TurnStore = request.app.state.store
    operation: str = request.scope["route"].operation_id
    return GuardedStore(store, guard_of(request), scope_of(operation), operation)


Store: TypeAlias = Annotated[GuardedStore, Depends(_store)]
"""The store that `create_api` was given, under the rights of the request, for what the operation needs."""

# --- entry ids and positions -----------------------------------------------------------------------

EntryIdPath: TypeAlias = Annotated[
    str, BeforeValidator(unquote), Path(description="The entry's id, `ms-seq`.", examples=["1692632086370-0"])
]
RangeStart: TypeAlias = Annotated[
    str,
    Query(
        description="The least id, inclusive: `-`, `ms`, `ms-seq`, or `(id` for exclusive.",
        examples=["1692632086370-0"],
    ),
]
RangeEnd: TypeAlias = Annotated[
    str,
    Query(
        description="The greatest id, inclusive: `+`, `ms` (with all of its sequences), `ms-seq`, or `(id`.",
        examples=["+"],
    ),
]

_SPECIAL_POSITIONS: Final = {"$": Special.LAST_ID, "+": Special.LAST_ENTRY}

_ID: Final = "an id such as 1526919030474-0"
_APPENDED: Final = f"{_ID}, `1526919030474-*` to let the server choose the sequence, or `*`"
_GROUP_READ: Final = f"`>` for new entries, or {_ID} for the consumer's own pending entries after it"
_START: Final = f"`-` for the first entry, {_ID}, milliseconds alone, or `(` before an id to exclude it"
_END: Final = f"`+` for the last entry, {_ID}, milliseconds alone, or `(` before an id to exclude it"
_READ_AFTER: Final = f"{_ID}, `0` for all entries, `$` for entries from now on, or `+` for the last entry"
_GROUP_AFTER: Final = f"{_ID}, `0` for all entries, or `$` for entries from now on"
"""The forms that arguments take."""


def _refused(error: StreamError, argument: str, forms: str) -> RequestRefused:
    """What to raise for an argument that is no id; `forms`: what it takes."""
    given = error.details.get("given")
    if given is None:
        detail = f"`{argument}` excludes the last id that could match; it selects no entry"
        return RequestRefused(error.code, detail, members={"argument": argument})
    detail = f"`{argument}` is {given!r}, which is not an entry id; it takes {forms}"
    return RequestRefused(error.code, detail, members={"given": given, "argument": argument})


def id_of(text: str, argument: str = "id", forms: str = _ID) -> StreamId:
    """The id that `text` writes. Raises `RequestRefused` INVALID_ID."""
    try:
        return parse_id(text.encode())
    except StreamError as error:
        raise _refused(error, argument, forms) from None


def optional_id_of(text: str | None, argument: str) -> StreamId | None:
    """Like `id_of`; None where there is none."""
    return None if text is None else id_of(text, argument)


def ids_of(texts: Sequence[str]) -> tuple[StreamId, ...] | range:
    """All ids of a list, or `RequestRefused` INVALID_ID for the first that is none."""
    try:
        ids = parse_ids(texts)
    except StreamError as error:
        raise _refused(error, "ids", _ID) from None
    return ids if isinstance(ids, range) else tuple(ids)


def start_of(text: str) -> StreamId:
    """The inclusive lower end of a range. Raises `RequestRefused`."""
    try:
        return parse_range_start(text.encode())
    except StreamError as error:
        raise _refused(error, "start", _START) from None


def end_of(text: str) -> StreamId:
    """The inclusive upper end of a range. Raises `RequestRefused`."""
    try:
        return parse_range_end(text.encode())
    except StreamError as error:
        raise _refused(error, "end", _END) from None


def position_of(text: str) -> StreamId | Special:
    """The position that a read goes on after: an id, `$` or `+`."""
    return _SPECIAL_POSITIONS.get(text) or id_of(text, "after", _READ_AFTER)


def group_start_of(text: str, parse: Callable[[bytes], StreamId] = parse_id) -> StreamId | Special:
    """The position that a group is created at or set to: an id or `$`."""
    try:
        return Special.LAST_ID if text == "$" else parse(text.encode())
    except StreamError as error:
        raise _refused(error, "after", _GROUP_AFTER) from None


_AUTO_SEQ: Final = re.compile(r"([0-9]{1,20})-\*", re.ASCII)


def requested_id_of(text: str | None) -> IdRequest:
    """The id that an append asks for: None and `*` leave it to the engine, `ms-*` its sequence."""
    if text is None or text == "*":
        return None
    match = _AUTO_SEQ.fullmatch(text)
    if match is not None:
        return AutoSeq(id_ms(id_of(match[1], forms=_APPENDED)))
    return id_of(text, forms=_APPENDED)


def group_read_position_of(text: str) -> StreamId | Special:
    """The position of a group read: `>`, or an id in the consumer's own pending entries."""
    return Special.NEW if text == ">" else id_of(text, forms=_GROUP_READ)


# --- forms and policies ----------------------------------------------------------------------------

_SHAPES: Final = {
    ("fields", False): Shape.NATURAL,
    ("fields", True): Shape.NATURAL_BASE64,
    ("pairs", False): Shape.PAIRS,
    ("pairs", True): Shape.PAIRS_BASE64,
}

EncodingParameter: TypeAlias = Annotated[
    Literal["base64"] | None,
    Query(description="`base64`: all names and values of all entries in base64.", examples=["base64"]),
]


async def _entry_shape(
    shape: Annotated[
        Literal["fields", "pairs"],
        Query(
            description="`fields`: an object where names are unique, else pairs. `pairs`: always pairs.",
            examples=["fields"],
        ),
    ] = "fields",
    encoding: EncodingParameter = None,
) -> Shape:
    return _SHAPES[shape, encoding is not None]


EntryShape: TypeAlias = Annotated[Shape, Depends(_entry_shape)]


def export_shape(shape: str, encoding: str | None) -> Shape:
    """How an export writes the entries that it writes whole."""
    return _SHAPES["pairs" if shape == "pairs" else "fields", encoding is not None]


def references_of(name: ReferencesName | None) -> References:
    """The policy of that name; None is the default one."""
    return References.KEEP if name is None else References(name)


def trim_of(trimming: Trimming) -> Trim:
    """The engine's trimming rule."""
    return Trim(
        max_length=trimming.max_length,
        min_id=optional_id_of(trimming.min_id, "min_id"),
        approximate=trimming.approximate,
        limit=trimming.limit,
        references=References(trimming.references),
    )


# --- pages and waiting -----------------------------------------------------------------------------

PageCount: TypeAlias = Annotated[
    int,
    Query(ge=1, le=PAGE_ENTRIES_MAX, description="The most entries in the page.", examples=[100]),
]
Strict: TypeAlias = Annotated[
    bool,
    Query(
        description="Refuse (410) where entries at or after the position were trimmed away.",
        examples=[False],
    ),
]
WaitMs: TypeAlias = Annotated[
    int | None,
    Query(
        ge=0,
        le=WAIT_MS_MAX,
        description="How long to wait for entries where there are none; needs `after`. 0 by default.",
        examples=[0],
    ),
]
Prefer: TypeAlias = Annotated[
    str | None,
    Header(
        description="`wait=N` asks to wait N seconds where `wait_ms` does not say it.", examples=["wait=5"]
    ),
]

_PREFER_WAIT: Final = re.compile(r"(?:^|[,;])\s*wait\s*=\s*\"?([0-9]{1,9})\"?\s*(?=$|[,;])", re.ASCII)


class Waiting(NamedTuple):
    """How long to wait, and the headers that say that a preference was followed.

    `block_ms` None does not wait at all, as in `core.commands.Read`.
    """

    block_ms: int | None
    headers: dict[str, str]


def waiting(wait_ms: int | None, prefer: str | None) -> Waiting:
    """`wait_ms` where it is given, else what the `Prefer` header says, at most the server's limit."""
    if wait_ms is not None:
        return Waiting(wait_ms or None, {})
    match = _PREFER_WAIT.search(prefer or "")
    if match is None:
        return Waiting(None, {})
    wait_s = min(int(match[1]), WAIT_MS_MAX // 1000)
    return Waiting(wait_s * 1000 or None, {"Preference-Applied": f"wait={wait_s}"})
