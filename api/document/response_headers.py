"""The headers of responses in the OpenAPI document: which of them each response can have.

It owns the descriptions and the rules. A test compares them with the responses of all operations. Headers
that only one operation sends are described with that operation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final


def _header(description: str, example: str | int) -> dict[str, Any]:
    kind = "integer" if isinstance(example, int) else "string"
    return {"description": description, "schema": {"type": kind}, "example": example}


HEADERS: Final[dict[str, dict[str, Any]]] = {
    "X-Request-Id": {
        **_header(
            "The id of the request, in the logs of the server and in `request_id` of a problem.",
            "8db9c19cb7faee730000000000000001",
        ),
        "required": True,
    },
    "Cache-Control": {
        **_header("`no-store`: the response is for this client only, and for this moment.", "no-store"),
        "required": True,
    },
    "RateLimit-Policy": _header(
        "The quota of a window, if the server limits request rates: `q` requests in `w` seconds.",
        '"requests";q=200;w=2',
    ),
    "RateLimit": _header(
        "What is left of the quota, if the server limits request rates: `r` requests, all of them again in "
        "`t` seconds.",
        '"requests";r=199;t=1',
    ),
    "Retry-After": _header("Seconds to wait before the request is sent again.", 1),
    "WWW-Authenticate": _header(
        "How to authenticate, or the scope that the token lacks.",
        'Bearer realm="tailrace", error="invalid_token"',
    ),
    "Idempotent-Replayed": _header(
        "`true`: the idempotency key was used before, so nothing was appended.", "true"
    ),
    "Preference-Applied": _header(
        "The wait that the server took from the request header `Prefer`.", "wait=30"
    ),
    "Accept": _header("The media type that the operation accepts.", "application/json"),
    "Accept-Encoding": _header("The encodings of a body that the operation accepts.", "gzip, zstd"),
}
"""The headers of the components, by name."""

_RATED: Final = ("RateLimit-Policy", "RateLimit")
_RETRY_STATUSES: Final = frozenset({"429", "503"})
_CHALLENGE_STATUSES: Final = frozenset({"401", "403"})
_KEYED: Final = frozenset({"xadd", "xadd_batch", "import_entries"})


def add_response_headers(operation: dict[str, Any]) -> None:
    """Add the headers of each response to an operation of the document."""
    takes_prefer = any(each["name"].lower() == "prefer" for each in operation.get("parameters", ()))
    for status, answer in operation["responses"].items():
        names = _names(operation["operationId"], status, takes_prefer=takes_prefer)
        shared = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
        answer["headers"] = {**answer.get("headers", {}), **shared}


def _names(operation: str, status: str, *, takes_prefer: bool) -> Iterator[str]:
    yield from ("X-Request-Id", "Cache-Control")
    yield from _RATED
    if status in _RETRY_STATUSES:
        yield "Retry-After"
    if status in _CHALLENGE_STATUSES:
        yield "WWW-Authenticate"
    if status == "415":
        yield from ("Accept", "Accept-Encoding")
    if status == "200" and operation in _KEYED:
        yield "Idempotent-Replayed"
    if status == "200" and takes_prefer:
        yield "Preference-Applied"
