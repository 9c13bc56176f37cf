"""How an operation is declared: one call that gives a route its id, words, bodies and every answer.

It owns the form of an operation in the OpenAPI document, and the rule that each has one media type,
refuses parameters it does not know, and documents each code it can answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from fastapi import Depends
from pydantic import BaseModel
from starlette.responses import Response

from tailrace.api.access.operation_scopes import Need, need_of
from tailrace.api.ports import SCOPES
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
"""What every operation may answer: bad parameters, a page or a name that is not the server's, an
unacceptable `Accept`, too much of anything, or too slowly or too often, and what is the server's own."""

STORE_REQUEST: Final[tuple[ProblemCode, ...]] = (HttpCode.NOT_ACCEPTING,)
"""What an operation that asks the store may answer besides."""

BODY_REQUEST: Final[tuple[ProblemCode, ...]] = (
    HttpCode.MALFORMED_BODY,
    HttpCode.UNSUPPORTED_MEDIA_TYPE,
    HttpCode.BODY_MISMATCH,
)
"""What an operation with a JSON body may answer besides."""

_SCOPED: Final = (HttpCode.UNAUTHENTICATED, ErrorCode.NOPERM)
_ACCESS_CODES: Final[Mapping[Need, tuple[ProblemCode, ...]]] = {
    **dict.fromkeys(SCOPES, _SCOPED),
    "any": (HttpCode.UNAUTHENTICATED,),
    "open": (),
}
"""What an operation may answer besides, by what it needs of a token."""

_DESCRIPTIONS: Final[Mapping[int, str]] = {
    400: "A parameter, a name, an id or an argument is not valid, or the body cannot be read.",
    401: "No token, or one that is not known, was revoked, or has expired.",
    403: "The token does not allow this, or the request is of a page that is not allowed.",
    404: "No such stream, group, consumer or entry.",
    406: "The answer's media type is not acceptable.",
    408: "The request came too slowly; the connection closes.",
    409: "In conflict with what stands.",
    410: "Entries at the position were trimmed away.",
    412: "The stream's last id is another than expected.",
    413: "The body, an entry, or what is asked for at once is too large.",
    414: "The request's target is too long.",
    415: "The body is of a media type or encoding that is not understood.",
    421: "The server is not known under the name in `Host`.",
    422: "The body does not fit its schema.",
    429: "Requests come faster than is allowed; `Retry-After` says when to come back.",
    431: "The request's head is too large.",
    500: "An error of the server.",
    503: "The server takes no such request now; `Retry-After` says when, where it is known.",
    507: "The server is at its memory limit: nothing is appended until something is deleted or trimmed.",
}


def operation(  # noqa: PLR0913 - a declaration, read at its call: all but two are named there
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
    media_type: str = JSON,
    parameters: Sequence[Mapping[str, Any]] = (),
    extra: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The arguments of a route decorator.

    `reply` None: the answer has no body. `also`: further statuses with the same body, and what they
    mean. `errors`: codes beyond those of every request, and of every body. `asks_store` False: it is
    answered whether the store takes requests or not. `parameters`: those that FastAPI does not read.
    `extra`: further parts of the operation in the document.
    """
    need = need_of(name)
    asked = (*(STORE_REQUEST if asks_store else ()), *(BODY_REQUEST if body else ()))
    codes = (*ANY_REQUEST, *_ACCESS_CODES[need], *asked, *errors)
    answers = {status: "Done." if reply is None else "The answer."} | dict(also or {})
    return {
        "operation_id": name,
        "summary": summary,
        "status_code": status,
        "response_model": None,
        "response_class": Response,
        "dependencies": [Depends(settles(media_type))],
        "responses": {
            **{code: _answer(text, reply, media_type) for code, text in answers.items()},
            **problem_answers(codes),
        },
        "openapi_extra": {
            "parameters": list(parameters),
            **({"security": []} if need == "open" else {"x-required-scope": need}),
            **_request_body(body, required=body_required),
            **(extra or {}),
        },
    }


def schema_of(model: type[BaseModel]) -> dict[str, str]:
    """A reference to the model in the document."""
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def _answer(text: str, model: type[BaseModel] | None, media_type: str) -> dict[str, Any]:
    if model is None:
        return {"description": text}
    return {"description": text, "content": {media_type: {"schema": schema_of(model)}}}


def _request_body(model: type[BaseModel] | None, *, required: bool) -> dict[str, Any]:
    if model is None:
        return {}
    return {"requestBody": {"required": required, "content": {JSON: {"schema": schema_of(model)}}}}


def problem_answers(codes: Iterable[ProblemCode]) -> dict[int | str, dict[str, Any]]:
    """The answers that carry these codes, by status; the examples stand in the document's components."""
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
