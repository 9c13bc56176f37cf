"""Declares an operation: one call gives a route its id, summary, bodies and responses.

It owns how the OpenAPI document describes an operation. Every operation has one media type, refuses unknown
parameters, and documents each error code that it can return.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from fastapi import Depends
from pydantic import BaseModel
from starlette.responses import Response

from tailrace.api.access.permissions import Need, need_of
from tailrace.api.principals import SCOPES
from tailrace.api.problems.table import KINDS, PROBLEM_MEDIA_TYPE, HttpCode, ProblemCode
from tailrace.api.wire.negotiation import JSON, settles
from tailrace.core.errors import ErrorCode

ANY_REQUEST: Final[tuple[ProblemCode, ...]] = (
    HttpCode.INVALID_PARAMETER,
    HttpCode.TOKEN_IN_URL,
    HttpCode.ORIGIN_NOT_ALLOWED,
    HttpCode.NOT_ACCEPTABLE,
    HttpCode.REQUEST_TIMEOUT,
    HttpCode.BODY_TOO_LARGE,
    HttpCode.URL_TOO_LONG,
    HttpCode.HOST_NOT_ALLOWED,
    HttpCode.RATE_LIMITED,
    HttpCode.HEAD_TOO_LARGE,
    HttpCode.INTERNAL,
    HttpCode.TOO_MANY_OPEN,
)
"""The error codes that every operation can return."""

STORE_REQUEST: Final[tuple[ProblemCode, ...]] = (HttpCode.NOT_ACCEPTING,)
"""Further codes of operations that use the store."""

ENGINE_REQUEST: Final[tuple[ProblemCode, ...]] = (
    ErrorCode.WRONGTYPE,
    ErrorCode.CROSSSLOT,
    ErrorCode.ENGINE_LACKS_FEATURE,
)
"""Further codes of operations that run commands, if the store is in front of Redis or Valkey."""

BODY_REQUEST: Final[tuple[ProblemCode, ...]] = (
    HttpCode.MALFORMED_BODY,
    HttpCode.UNSUPPORTED_MEDIA_TYPE,
    HttpCode.BODY_MISMATCH,
    ErrorCode.LIMIT_EXCEEDED,
)
"""Further codes of operations with a JSON body."""

MIN_REPLICAS: Final[Mapping[str, Any]] = {
    "name": "Min-Replicas",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "examples": ["1"]},
    "description": (
        "Behind a gateway: how many replicas must confirm the write before the response, 0 to 16. It "
        "overrides `--min-replicas`. If too few do, the response is 503. Other servers ignore the header."
    ),
}
CONSISTENCY: Final[Mapping[str, Any]] = {
    "name": "Consistency",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "examples": ["eventual"]},
    "description": (
        "Behind a gateway: `eventual` lets a replica answer the read, and the reply may lack the latest "
        "writes. Default: `strong`. Other servers ignore the header."
    ),
}
"""Headers of operations that run commands, if the store is in front of Redis or Valkey (`app.remote`)."""

_SCOPED: Final = (HttpCode.UNAUTHENTICATED, ErrorCode.NOPERM)
_ACCESS_CODES: Final[Mapping[Need, tuple[ProblemCode, ...]]] = {
    **dict.fromkeys(SCOPES, _SCOPED),
    "any": (HttpCode.UNAUTHENTICATED,),
    "open": (),
}
"""Further codes of an operation, by the scope that it needs."""

_DESCRIPTIONS: Final[Mapping[int, str]] = {
    400: "A parameter, a name, an id or an argument is invalid, or the body is malformed.",
    401: "The request has no token, or the token is unknown, was revoked, or has expired.",
    403: "The token does not allow the request, or the origin of the web page is not allowed.",
    404: "The stream, group, consumer or entry does not exist.",
    406: "The header `Accept` excludes the media type of the response.",
    408: "The request arrived too slowly. The server closes the connection.",
    409: "The request conflicts with the current state.",
    410: "Entries at the position were trimmed.",
    412: "The stream's last id is not the expected one.",
    413: "The body, an entry or the response is too large, or the request exceeds a limit.",
    414: "The URL is too long.",
    415: "The media type or encoding of the body is not supported.",
    421: "The server does not answer to the host name in `Host`.",
    422: "The body does not match its schema.",
    429: "Too many requests. `Retry-After` gives the seconds to wait.",
    431: "The request's headers are too large.",
    500: "Internal server error.",
    501: "The engine behind the server cannot carry out the command.",
    503: "The server does not accept this request now. `Retry-After`, if present, gives the seconds to wait.",
    507: "The server has reached its memory limit. It refuses appends until entries are deleted or trimmed.",
}


_LATER: Final = (
    "With a delay: the entries are stored, and appended later. A repeated request with the same idempotency "
    "key has `Idempotent-Replayed: true`."
)


def operation(  # noqa: PLR0913 - a declaration; calls name all arguments but two
    name: str,
    summary: str,
    *,
    reply: type[BaseModel] | None = None,
    status: int = 200,
    body: type[BaseModel] | None = None,
    body_required: bool = True,
    errors: Sequence[ProblemCode] = (),
    asks_store: bool = True,
    also: Mapping[int, str] | None = None,
    later: type[BaseModel] | None = None,
    media_type: str = JSON,
    parameters: Sequence[Mapping[str, Any]] = (),
    extra: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the arguments of a route decorator.

    * `reply`: the model of the response body; None if the response has no body
    * `also`: further statuses with the same body, and what they mean
    * `later`: the model of the body of a 202, if the operation can be delayed
    * `errors`: error codes beyond those of every request and of every body
    * `asks_store`: False if the operation works while the store accepts no requests
    * `parameters`: descriptions of parameters that FastAPI does not read
    * `extra`: further parts of the operation in the document
    """
    need = need_of(name)
    store = (*STORE_REQUEST, *(() if need == "open" else ENGINE_REQUEST)) if asks_store else ()
    asked = (*store, *(BODY_REQUEST if body else ()))
    codes = (*ANY_REQUEST, *_ACCESS_CODES[need], *asked, *errors)
    answers = {status: "The request succeeded." if reply is None else "The response."} | dict(also or {})
    return {
        "operation_id": name,
        "summary": summary,
        "status_code": status,
        "response_model": None,
        "response_class": Response,
        "dependencies": [Depends(settles(media_type))],
        "responses": {
            **{code: _answer(text, reply, media_type) for code, text in answers.items()},
            **({} if later is None else {202: _answer(_LATER, later, media_type)}),
            **problem_answers(codes),
        },
        "openapi_extra": {
            "parameters": [*parameters, *(_gateway_headers(need) if asks_store else ())],
            **({"security": []} if need == "open" else {"x-required-scope": need}),
            **_request_body(body, required=body_required),
            **(extra or {}),
        },
    }


def schema_of(model: type[BaseModel]) -> dict[str, str]:
    """Return a reference to the model in the document."""
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def _gateway_headers(need: Need) -> tuple[Mapping[str, Any], ...]:
    """Return the headers that a gateway reads: an operation without a scope of its own may read and write."""
    if need == "open":
        return ()
    if need == "any":
        return (MIN_REPLICAS, CONSISTENCY)
    return (CONSISTENCY,) if need == "read" else (MIN_REPLICAS,)


def _answer(text: str, model: type[BaseModel] | None, media_type: str) -> dict[str, Any]:
    if model is None:
        return {"description": text}
    return {"description": text, "content": {media_type: {"schema": schema_of(model)}}}


def _request_body(model: type[BaseModel] | None, *, required: bool) -> dict[str, Any]:
    if model is None:
        return {}
    return {"requestBody": {"required": required, "content": {JSON: {"schema": schema_of(model)}}}}


def problem_answers(codes: Iterable[ProblemCode]) -> dict[int | str, dict[str, Any]]:
    """Return the problem responses with these codes, by status. They refer to examples in the components."""
    by_status: dict[int, list[ProblemCode]] = {}
    for code in KINDS:
        if code in codes:
            by_status.setdefault(KINDS[code].status, []).append(code)
    return {status: _problem(status, by_status[status]) for status in sorted(by_status)}


def _problem(status: int, codes: Sequence[ProblemCode]) -> dict[str, Any]:
    named = ", ".join(f"`{code}`" for code in codes)
    content = {
        "schema": {"$ref": "#/components/schemas/Problem"},
        "examples": {str(code): {"$ref": f"#/components/examples/{code}"} for code in codes},
    }
    return {
        "description": f"{_DESCRIPTIONS[status]} Codes: {named}.",
        "content": {PROBLEM_MEDIA_TYPE: content},
    }
