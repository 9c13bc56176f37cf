"""JSON bodies: read, checked against their model, and refused with every place that does not fit.

It owns the difference between a body that is no JSON (400) and one that does not fit (422), and the bounds on
what may be decoded at all: models find every place that is wrong, and a body can have millions of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.requests import Request

from tailrace.api.problems.json_texts import JsonMistake, json_mistake
from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.schemas.texts import mistakes
from tailrace.api.wire.negotiation import JSON, require_content_type
from tailrace.api.wire.turns import Slices
from tailrace.core.errors import ErrorCode
from tailrace.core.limits import BODY_ELEMENTS_MAX, KIB

EXPLAINED_BYTES_MAX: Final = 256 * KIB
"""The largest body that a model reads again only to say well what is wrong with it."""

_UNCOMPRESSED: Final = frozenset({"", "identity"})

ERRORS_LISTED_MAX: Final = 100
"""Places that one problem lists: nobody mends more at once."""

# Up to the next comma that is in no string, or that many commas. Nothing is ever tried twice: O(bytes).
_ONE: Final = rb'(?:[^",]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+,'
_COMMAS: Final = tuple((step, re.compile(rb"(?s)(?:%b){%d}+" % (_ONE, step))) for step in (1_000, 1))

ModelT = TypeVar("ModelT", bound=BaseModel)
T = TypeVar("T")


async def json_body(request: Request) -> bytes:
    """The raw body of a request that must have one, in JSON by its own word."""
    raw = await request.body()
    require_content_type(request, JSON)
    _require_uncompressed(request)
    return raw


def _require_uncompressed(request: Request) -> None:
    given = request.headers.get("content-encoding", "").strip().lower()
    if given not in _UNCOMPRESSED:
        detail = (
            f"Content-Encoding {given!r} is not supported here; send the body uncompressed, or use "
            "`entries:import`"
        )
        headers = {"Accept-Encoding": "identity"}
        raise RequestRefused(HttpCode.UNSUPPORTED_MEDIA_TYPE, detail, headers=headers)


async def read_body(request: Request, model: type[ModelT]) -> ModelT:
    """The body as `model`. Raises `RequestRefused`: 400, 415 or 422."""
    return parse_body(await json_body(request), model)


async def read_optional_body(request: Request, model: type[ModelT]) -> ModelT:
    """The body as `model`, whose fields all have defaults; no body at all stands for an empty object."""
    raw = await request.body()
    if not raw:
        return model()
    require_content_type(request, JSON)
    _require_uncompressed(request)
    return parse_body(raw, model)


def parse_body(raw: bytes, model: type[ModelT]) -> ModelT:
    """`raw` as `model`. Raises `RequestRefused`: 400, 413 or 422."""
    require_few_elements(raw, BODY_ELEMENTS_MAX)
    try:
        return model.model_validate_json(raw)
    except ValidationError as error:
        raise refused(error, model) from None


def parse_value(raw: bytes, adapter: TypeAdapter[T], annotation: Any) -> T:
    """`raw` as any type that pydantic knows; `annotation` is the adapter's. Raises as `parse_body`."""
    require_few_elements(raw, BODY_ELEMENTS_MAX)
    try:
        return adapter.validate_json(raw)
    except ValidationError as error:
        raise refused(error, annotation) from None


def require_few_elements(raw: bytes, most: int) -> None:
    """Raises `RequestRefused` 413 where a JSON body has more than `most` members and items: to be asked
    before it is decoded. A body too small to have them costs nothing; else O(bytes), in C."""
    if len(raw) < most or raw.count(b",") < most:
        return
    if count_elements(raw, most) == most:
        raise too_many_elements(most)


def count_elements(raw: bytes, most: int) -> int:
    """How many commas of JSON stand outside of strings; counts to `most`. O(bytes)."""
    return max((count for count, _ in _counted(raw, most)), default=0)


async def require_few_elements_in_slices(raw: bytes, most: int, slices: Slices) -> None:
    """As `require_few_elements`; others are served meanwhile."""
    if len(raw) < most or raw.count(b",") < most:
        return
    begin = 0
    for count, end in _counted(raw, most):
        if count == most:
            raise too_many_elements(most)
        await slices.count(end - begin)
        begin = end


def _counted(raw: bytes, most: int) -> Iterator[tuple[int, int]]:
    """Counts to `most`, in steps: how many so far, and where the last of them is."""
    count = end = 0
    for step, commas in _COMMAS:
        while count + step <= most and (found := commas.match(raw, end)) is not None:
            count, end = count + step, found.end()
            yield count, end


def too_many_elements(most: int) -> RequestRefused:
    """What to raise for a body with more members and items than `most`."""
    return RequestRefused(ErrorCode.LIMIT_EXCEEDED, f"the body has more than {most} members and items")


def explained(raw: bytes, model: type[BaseModel], error: Exception) -> RequestRefused:
    """The best that can be said of a body that a fast decoder refused with `error`: the model sees more
    places than the decoder, which stops at the first."""
    if len(raw) <= EXPLAINED_BYTES_MAX:
        try:
            parse_body(raw, model)
        except RequestRefused as refusal:
            return refusal
    elif isinstance(error, msgspec.DecodeError) and not isinstance(error, msgspec.ValidationError):
        return malformed(JsonMistake(str(error)))
    return mismatch([("", str(error))])


def refused(error: ValidationError, annotation: Any) -> RequestRefused:
    """What to raise for a body that pydantic refuses as `annotation`."""
    if error.error_count() > ERRORS_LISTED_MAX:
        return mismatch([("", f"{error.error_count()} places do not fit the schema")])
    found: Sequence[Mapping[str, Any]] = error.errors(include_url=False)
    if found[0]["type"] == "json_invalid":
        return malformed(json_mistake(found[0]["ctx"]["error"]))
    return mismatch([(pointer_of(place), text) for place, text in mistakes(found, annotation)])


def malformed(mistake: JsonMistake) -> RequestRefused:
    """A body that is not JSON at all."""
    if mistake.line is None:
        return RequestRefused(HttpCode.MALFORMED_BODY, f"the body is not valid JSON: {mistake.reason}")
    where = f"line {mistake.line}, column {mistake.column}"
    item = {"detail": mistake.reason, "line": mistake.line, "column": mistake.column}
    return RequestRefused(
        HttpCode.MALFORMED_BODY, f"the body is not valid JSON at {where}: {mistake.reason}", errors=[item]
    )


def mismatch(places: Sequence[tuple[str, str]], **where: object) -> RequestRefused:
    """A body that is JSON and does not fit; `places` are JSON pointers and what is wrong there."""
    errors = [{"pointer": pointer, "detail": detail, **where} for pointer, detail in places]
    detail = "; ".join(f"{pointer or 'the body'}: {text}" for pointer, text in places[:5])
    return RequestRefused(HttpCode.BODY_MISMATCH, detail, errors=errors)


def pointer_of(location: Sequence[object]) -> str:
    """The JSON pointer (RFC 6901) of a place in a body; empty for the whole."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in location)
