"""Reads JSON bodies, checks them against their model, and lists every mistake.

A body that is not JSON is a 400; a body that does not match its model is a 422. Limits on members and items
apply before decoding, because a body can have millions of mistakes and models look for all of them.
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
from tailrace.api.wire.members import require_unique_in_model
from tailrace.api.wire.negotiation import JSON, require_content_type
from tailrace.api.wire.turns import Slices
from tailrace.core.errors import ErrorCode
from tailrace.core.limits import KIB, REQUEST_ELEMENTS_MAX

EXPLAINED_BYTES_MAX: Final = 256 * KIB
"""The largest body that is validated a second time to describe its mistakes."""

_UNCOMPRESSED: Final = frozenset({"", "identity"})

ERRORS_LISTED_MAX: Final = 100
"""How many mistakes one problem lists."""

POINTER_NAME_LENGTH_MAX: Final = 1_000
"""How many characters of a member's name a pointer shows."""

# Matches up to the next comma outside of strings, or up to a number of commas. It never backtracks: O(bytes).
_ONE: Final = rb'(?:[^",]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+,'
_COMMAS: Final = tuple((step, re.compile(rb"(?s)(?:%b){%d}+" % (_ONE, step))) for step in (1_000, 1))

_skim: Final = msgspec.json.Decoder(msgspec.Raw).decode
"""Checks that a text is JSON, and decodes nothing."""

ModelT = TypeVar("ModelT", bound=BaseModel)
T = TypeVar("T")


async def json_body(request: Request) -> bytes:
    """Return the raw body of a request whose `Content-Type` is JSON. Raises `RequestRefused` 415."""
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
    """Return the body as `model`. Raises `RequestRefused`: 400, 413, 415 or 422."""
    return parse_body(await json_body(request), model)


async def read_optional_body(request: Request, model: type[ModelT]) -> ModelT:
    """Return the body as `model`, all of whose fields have defaults. An empty body means an empty object."""
    raw = await request.body()
    if not raw:
        return model()
    require_content_type(request, JSON)
    _require_uncompressed(request)
    return parse_body(raw, model)


def parse_body(raw: bytes, model: type[ModelT]) -> ModelT:
    """Return `raw` as `model`. Raises `RequestRefused`: 400, 413 or 422."""
    require_few_elements(raw, REQUEST_ELEMENTS_MAX)
    try:
        body = model.model_validate_json(raw)
    except ValidationError as error:
        raise _refused_text(raw, error, model) from None
    require_unique_in_model(raw, body)
    return body


def parse_value(raw: bytes, adapter: TypeAdapter[T], annotation: Any) -> T:
    """Return `raw` as the adapter's type, which is `annotation`. Raises `RequestRefused`: 400, 413 or 422."""
    require_few_elements(raw, REQUEST_ELEMENTS_MAX)
    try:
        return adapter.validate_json(raw)
    except ValidationError as error:
        raise _refused_text(raw, error, annotation) from None


def require_few_elements(raw: bytes, most: int) -> None:
    """Raise `RequestRefused` 413 if a JSON body has more than `most` members and items.

    Call it before decoding. O(1) for a body that is too small to have them, otherwise O(bytes), in C.
    """
    if len(raw) < most or raw.count(b",") < most:
        return
    if count_elements(raw, most) == most:
        raise too_many_elements(most)


def count_elements(raw: bytes, most: int) -> int:
    """Count the commas outside of strings in JSON, up to `most`. O(bytes)."""
    return max((count for count, _ in _counted(raw, most)), default=0)


async def require_few_elements_in_slices(raw: bytes, most: int, slices: Slices) -> None:
    """Check like `require_few_elements`, and let other requests run between slices of the work."""
    if len(raw) < most or raw.count(b",") < most:
        return
    begin = 0
    for count, end in _counted(raw, most):
        if count == most:
            raise too_many_elements(most)
        await slices.count(end - begin)
        begin = end


def _counted(raw: bytes, most: int) -> Iterator[tuple[int, int]]:
    """Count commas up to `most`, in steps: yield the count so far and the position after the last comma."""
    count = end = 0
    for step, commas in _COMMAS:
        while count + step <= most and (found := commas.match(raw, end)) is not None:
            count, end = count + step, found.end()
            yield count, end


def too_many_elements(most: int) -> RequestRefused:
    """Return the error for a body with more members and items than `most`."""
    return RequestRefused(
        ErrorCode.LIMIT_EXCEEDED, f"the body has too many members and items; at most {most} are allowed"
    )


def explained(raw: bytes, model: type[BaseModel], error: Exception) -> RequestRefused:
    """Return the error for a body that a fast decoder refused with `error`.

    The decoder stops at the first mistake; the model finds all of them, with their places.
    """
    if len(raw) <= EXPLAINED_BYTES_MAX:
        try:
            parse_body(raw, model)
        except RequestRefused as refusal:
            if refusal.code is HttpCode.MALFORMED_BODY or not _is_malformed(error):
                return refusal
    if _is_malformed(error):  # and too large for a second validation
        return malformed(json_mistake(str(error), raw))
    return mismatch([("", str(error))])


def _is_malformed(error: Exception) -> bool:
    return isinstance(error, msgspec.DecodeError) and not isinstance(error, msgspec.ValidationError)


def _refused_text(raw: bytes, error: ValidationError, annotation: Any) -> RequestRefused:
    """Return the error for a text that pydantic refused as `annotation`: pydantic takes NaN for JSON."""
    refusal = refused(error, annotation)
    if refusal.code is HttpCode.BODY_MISMATCH:
        try:
            _skim(raw)
        except msgspec.DecodeError as malformation:
            return malformed(json_mistake(str(malformation), raw))
    return refusal


def refused(error: ValidationError, annotation: Any) -> RequestRefused:
    """Return the error for a body that pydantic refused as `annotation`."""
    if error.error_count() > ERRORS_LISTED_MAX:
        count = error.error_count()
        return mismatch(
            [("", f"it has {count} mistakes, too many to list; compare it with its schema in /docs")]
        )
    found: Sequence[Mapping[str, Any]] = error.errors(include_url=False)
    if found[0]["type"] == "json_invalid":
        return malformed(json_mistake(found[0]["ctx"]["error"], found[0]["input"]))
    return mismatch([(pointer_of(place), text) for place, text in mistakes(found, annotation)])


def malformed(mistake: JsonMistake) -> RequestRefused:
    """Return the error for a body that is not JSON (400)."""
    if mistake.line is None:
        return RequestRefused(HttpCode.MALFORMED_BODY, f"the body is not valid JSON: {mistake.reason}")
    where = f"line {mistake.line}, column {mistake.column}"
    item = {"detail": mistake.reason, "line": mistake.line, "column": mistake.column}
    return RequestRefused(
        HttpCode.MALFORMED_BODY, f"the body is not valid JSON at {where}: {mistake.reason}", errors=[item]
    )


def mismatch(places: Sequence[tuple[str, str]], **where: object) -> RequestRefused:
    """Return the error for JSON that does not match its model (422). `places` are JSON pointers and error
    texts."""
    errors = [{"pointer": pointer, "detail": detail, **where} for pointer, detail in places]
    detail = "; ".join(f"{pointer or 'the body'}: {text}" for pointer, text in places[:5])
    return RequestRefused(HttpCode.BODY_MISMATCH, detail, errors=errors)


def pointer_of(location: Sequence[object]) -> str:
    """Return the JSON pointer (RFC 6901) of a place in a body; empty for the whole body.

    It shows the first `POINTER_NAME_LENGTH_MAX` characters of a longer name, because a name can be huge.
    """
    return "".join(f"/{_shortened(str(step)).replace('~', '~0').replace('/', '~1')}" for step in location)


def _shortened(name: str) -> str:
    return name if len(name) <= POINTER_NAME_LENGTH_MAX else f"{name[:POINTER_NAME_LENGTH_MAX]}..."
