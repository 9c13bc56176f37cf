"""Reads the names of streams, groups and consumers: 1 to 512 bytes of any value, in paths, queries and
bodies.

It owns percent-decoding and base64 of names. Names are bytes everywhere, so that no byte is lost.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Annotated, Final, Literal, TypeAlias
from urllib.parse import parse_qsl, unquote_to_bytes

from fastapi import Depends, Path, Query
from pydantic import BeforeValidator, WithJsonSchema
from starlette.requests import Request

from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.schemas.texts import shown
from tailrace.core.limits import NAME_BYTES_MAX
from tailrace.core.log.entry import BadEntry, from_base64

NameEncoding: TypeAlias = Literal["base64"] | None


def checked_name(name: bytes, what: str) -> bytes:
    """Return `name`. Raises `RequestRefused` 400 if it is empty or too long; `what` names it in the error."""
    if 0 < len(name) <= NAME_BYTES_MAX:
        return name
    wrong = f"has {len(name)} bytes" if name else "is empty"
    detail = f"{what}: the name {wrong}; a name has 1 to {NAME_BYTES_MAX} bytes"
    raise RequestRefused(HttpCode.INVALID_NAME, detail)


_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}")


def name_from_path(segment: str, what: str = "a name in the path") -> bytes:
    """Return the name that a path segment encodes, as it was sent. Raises `RequestRefused` 400."""
    if "%" in segment and (mistake := _BAD_ESCAPE.search(segment)):
        raise RequestRefused(
            HttpCode.INVALID_NAME,
            f"{what}: {mistake[0]!r} is not percent-encoding, which is `%` and two hexadecimal digits; "
            "write a percent sign as `%25`",
        )
    return checked_name(unquote_to_bytes(segment.encode("latin-1")), what)


def name_from_body(text: str, encoding: NameEncoding, what: str) -> bytes:
    """Return the name that a string of a JSON body encodes; `encoding` is that of its object.

    Raises `RequestRefused` 400.
    """
    if encoding is None:
        return checked_name(text.encode(), what)
    try:
        return checked_name(from_base64(text), what)
    except BadEntry:
        raise RequestRefused(HttpCode.INVALID_NAME, f"{what}: {shown(text)} is not base64") from None


# --- parameters ------------------------------------------------------------------------------------

_PERCENT: Final = " 1 to 512 bytes of any value, percent-encoded."

KeyPath: TypeAlias = Annotated[
    bytes,
    BeforeValidator(partial(name_from_path, what="key")),
    WithJsonSchema({"type": "string", "minLength": 1, "examples": ["race:france"]}),
    Path(description="The stream's key." + _PERCENT),
]
GroupPath: TypeAlias = Annotated[
    bytes,
    BeforeValidator(partial(name_from_path, what="group")),
    WithJsonSchema({"type": "string", "minLength": 1, "examples": ["judges"]}),
    Path(description="The consumer group's name." + _PERCENT),
]
ConsumerPath: TypeAlias = Annotated[
    bytes,
    BeforeValidator(partial(name_from_path, what="consumer")),
    WithJsonSchema({"type": "string", "minLength": 1, "examples": ["alice"]}),
    Path(description="The consumer's name." + _PERCENT),
]

ProducerPath: TypeAlias = Annotated[
    bytes,
    BeforeValidator(partial(name_from_path, what="producer")),
    WithJsonSchema({"type": "string", "minLength": 1, "examples": ["timing-gate-1"]}),
    Path(description="The producer, as in the header `Producer-Id`." + _PERCENT),
]


def raw_query_values(request: Request, wanted: str) -> list[bytes]:
    """Return all values of a query parameter as bytes."""
    query: str = request.scope["query_string"].decode("latin-1")
    pairs = parse_qsl(query, keep_blank_values=True, errors="surrogateescape")
    return [value.encode("utf-8", "surrogateescape") for name, value in pairs if name == wanted]


def _raw_query_value(request: Request, wanted: str) -> bytes:
    """Return the first value of a query parameter that the request has, as bytes."""
    return raw_query_values(request, wanted)[0]


async def _consumer(
    request: Request,
    consumer: Annotated[
        str | None,
        Query(
            description="Return only entries that are pending for this consumer." + _PERCENT,
            examples=["alice"],
        ),
    ] = None,
) -> bytes | None:
    return None if consumer is None else checked_name(_raw_query_value(request, "consumer"), "consumer")


async def _transfer_to(
    request: Request,
    transfer_to: Annotated[
        str | None,
        Query(description="The consumer that takes over the pending entries." + _PERCENT, examples=["bob"]),
    ] = None,
) -> bytes | None:
    if transfer_to is None:
        return None
    return checked_name(_raw_query_value(request, "transfer_to"), "transfer_to")


async def _prefix(
    request: Request,
    prefix: Annotated[
        str,
        Query(
            description="Return only streams whose key begins with these bytes. Percent-encoded.",
            examples=["race:"],
        ),
    ] = "",
) -> bytes:
    return _raw_query_value(request, "prefix") if prefix else b""


async def _start_after(
    request: Request,
    start_after: Annotated[
        str | None,
        Query(
            description="Return only streams whose key follows this key in byte order: `next` of the "
            "previous page."
        ),
    ] = None,
) -> bytes | None:
    return None if start_after is None else _raw_query_value(request, "start_after")


ConsumerFilter: TypeAlias = Annotated[bytes | None, Depends(_consumer)]
TransferTo: TypeAlias = Annotated[bytes | None, Depends(_transfer_to)]
KeyPrefix: TypeAlias = Annotated[bytes, Depends(_prefix)]
StartAfter: TypeAlias = Annotated[bytes | None, Depends(_start_after)]
