"""How an operation is declared: one call that gives a route its id, words, bodies and every answer.

It owns the form of an operation in the OpenAPI document, and the rule that each has one media type,
refuses parameters it does not know, and documents each status it can answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from fastapi import Depends
from pydantic import BaseModel
from starlette.responses import Response

from api.negotiation import JSON, settles
from api.problems import KINDS, PROBLEM_MEDIA_TYPE

ANY_REQUEST: Final = (400, 406, 413, 500, 503)
"""What every operation may answer: bad parameters, an unacceptable `Accept`, too large a body, and
what is the server's own."""

BODY_REQUEST: Final = (415, 422)
"""What an operation with a body may answer besides."""

_DESCRIPTIONS: Final[Mapping[int, str]] = {
    400: "A parameter, a name, an id or an argument is not valid, or the body cannot be read.",
    404: "No such stream, group, consumer or entry.",
    406: "The answer's media type is not acceptable.",
    409: "In conflict with what stands.",
    410: "Entries at the position were trimmed away.",
    412: "The stream's last id is another than expected.",
    413: "The body, an entry, or what is asked for at once is too large.",
    415: "The body is of a media type or encoding that is not understood.",
    422: "The body does not fit its schema.",
    500: "An error of the server.",
    503: "The server takes no such request now; `Retry-After` says when, where it is known.",
}


def operation(  # noqa: PLR0913 - a declaration, read at its call: all but two are named there
    name: str,
    summary: str,
    *,
    reply: type[BaseModel] | None = None,
    status: int = 200,
    body: type[BaseModel] | None = None,
    body_required: bool = True,
    errors: Sequence[int] = (),
    also: Mapping[int, str] | None = None,
    media_type: str = JSON,
    parameters: Sequence[Mapping[str, Any]] = (),
    extra: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The arguments of a route decorator.

    `reply` None: the answer has no body. `also`: further statuses with the same body, and what they
    mean. `errors`: problems beyond those of every request. `parameters`: those that FastAPI does not
    read. `extra`: further parts of the operation in the document.
    """
    problems = (*ANY_REQUEST, *errors, *(BODY_REQUEST if body else ()))
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
            **{code: _problem(code) for code in sorted(set(problems))},
        },
        "openapi_extra": {
            "parameters": list(parameters),
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


def _problem(status: int) -> dict[str, Any]:
    codes = ", ".join(f"`{code}`" for code, kind in KINDS.items() if kind.status == status)
    return {
        "description": f"{_DESCRIPTIONS[status]} Codes of this status: {codes}.",
        "content": {PROBLEM_MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
