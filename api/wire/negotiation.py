"""Checks that run before a handler: the headers `Accept` and `Content-Type`, and the query parameters.

It refuses query parameters that a route does not have, so that the client notices a misspelt one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Final, get_args, get_origin

from fastapi.dependencies.models import Dependant
from starlette.requests import Request

from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.schemas.texts import SHOWN_LENGTH_MAX, suggestion

JSON: Final = "application/json"
NDJSON: Final = "application/x-ndjson"


def settles(media_type: str) -> Callable[[Request], Awaitable[None]]:
    """Return the dependency of a route that answers `media_type`. It raises `RequestRefused`: 400 or 406."""

    async def settle(request: Request) -> None:
        accept = ", ".join(request.headers.getlist("accept"))
        if accept.strip(" ,") and not accepts(accept, media_type):
            raise RequestRefused(
                HttpCode.NOT_ACCEPTABLE,
                f"`Accept: {accept[:SHOWN_LENGTH_MAX]}` excludes {media_type}, the only type of this "
                "resource; accept that type, or omit the header",
            )
        if request.scope["query_string"]:
            _refuse_unknown_parameters(request)

    return settle


def accepts(accept: str, media_type: str) -> bool:
    """Return whether the header's most specific range for `media_type` accepts it."""
    if accept in {"*/*", media_type}:
        return True
    main = media_type.partition("/")[0]
    ranges = dict(map(_range_and_weight, accept.lower().split(",")))
    for candidate in (media_type, f"{main}/*", "*/*"):
        if candidate in ranges:
            return ranges[candidate]
    return False


def _range_and_weight(item: str) -> tuple[str, bool]:
    name, *parameters = (part.strip() for part in item.split(";"))
    return name, not any(_is_zero_weight(parameter) for parameter in parameters)


def _is_zero_weight(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return name.strip() == "q" and value.strip().rstrip("0") in {"", ".", "0."}


def _refuse_unknown_parameters(request: Request) -> None:
    counts = Counter(name for name, _ in request.query_params.multi_items())
    known = dict(_query_parameters(request.scope["route"].dependant))
    _refuse(
        {name: f"unknown parameter; {suggestion(name, [*known])}" for name in counts if name not in known}
    )
    repeated = (name for name, count in counts.items() if count > 1 and not known[name])
    _refuse(dict.fromkeys(repeated, "it is given more than once; give it once"))


def _query_parameters(dependant: Dependant) -> Iterator[tuple[str, bool]]:
    """Yield each parameter's name, and whether it may be given more than once."""
    yield from ((field.alias, _is_list(field.field_info.annotation)) for field in dependant.query_params)
    for inner in dependant.dependencies:
        yield from _query_parameters(inner)


def _is_list(annotation: object) -> bool:
    return any(get_origin(part) is list for part in (annotation, *get_args(annotation)))


def _refuse(found: Mapping[str, str]) -> None:
    """Raise `RequestRefused` 400 if `found` has a parameter: its name, and what is wrong with it."""
    errors = [{"parameter": name, "in": "query", "detail": text} for name, text in found.items()]
    if errors:
        detail = "; ".join(f"`{name[:SHOWN_LENGTH_MAX]}`: {text}" for name, text in found.items())
        raise RequestRefused(HttpCode.INVALID_PARAMETER, detail, errors=errors)


def media_type_of(content_type: str) -> str:
    """Return the media type in the value of `Content-Type`, without parameters and in lower case."""
    return content_type.partition(";")[0].strip().lower()


def require_content_type(request: Request, media_type: str) -> None:
    """Raise `RequestRefused` 415 unless the header `Content-Type` is `media_type`."""
    given = request.headers.get("content-type", "")
    if media_type_of(given) != media_type:
        found = f"the body is {given}" if given else "the request has no Content-Type"
        raise RequestRefused(
            HttpCode.UNSUPPORTED_MEDIA_TYPE,
            f"{found}; send {media_type} with the header `Content-Type: {media_type}`",
            headers={"Accept": media_type},
        )
