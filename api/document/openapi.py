"""The OpenAPI document: FastAPI's own, with the wire models added and what is not true taken out.

It owns the document as a whole: its title page, tags and components. Operations describe themselves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.problems.examples import problem_examples
from tailrace.api.problems.table import KINDS, PROBLEM_MEDIA_TYPE
from tailrace.api.schemas import DOCUMENTED_MODELS
from tailrace.api.wire.negotiation import JSON

DESCRIPTION: Final = """\
Redis and Valkey Streams over HTTP: an append-only log with random access by id, consumer groups,
pending entries, and claims that heal themselves.

* Ids (`ms-seq`) and values are always strings.
* A key, group or consumer name is any 1 to 512 bytes, percent-encoded in a path (`a%2Fb`, `%FF`). On a
  POST the verb stands behind the last unescaped colon; a name that itself ends in `:ack` is sent as `%3Aack`.
  In a body, an object with `"encoding": "base64"` carries its names in base64.
* An entry has `fields`, or `pairs` where a name repeats; with `"encoding": "base64"` where it is not UTF-8.
* Errors are `application/problem+json`. Branch on `code`; `retryable` and `side_effects` say what to do next.
* A query parameter that an operation does not have is a 400.
"""

TAGS: Final = [
    {"name": "streams", "description": "Streams as wholes: make, list, inspect, configure, delete."},
    {"name": "entries", "description": "Append, read by range, delete, trim, import and export."},
    {
        "name": "reads",
        "description": "Read several streams from positions, waiting if asked, alone or in a group.",
    },
    {"name": "groups", "description": "Consumer groups of a stream."},
    {"name": "consumers", "description": "Consumers of a group."},
    {"name": "pending", "description": "What was delivered and not acknowledged: list, ack, nack, claim."},
    {
        "name": "command",
        "description": "Redis commands as JSON arrays, with Redis's replies and error lines.",
    },
    {"name": "service", "description": "The server itself."},
]


BEARER: Final = {
    "type": "http",
    "scheme": "bearer",
    "description": (
        "A token of `tailrace token create`. `x-required-scope` of an operation says which scope it needs, "
        "on every key that it touches; `any`: a token, whatever it allows. Without tokens none is needed."
    ),
}
"""Optional in the document: whether there are tokens is the server's choice."""


class Api(FastAPI):
    """FastAPI with this document in place of its own."""

    _text: bytes | None = None

    def setup(self) -> None:
        """Add the route of the document. The first request has it written in a thread: that takes 0.1 s."""
        self.add_route("/openapi.json", self._answer, methods=["GET"], include_in_schema=False)

    async def _answer(self, _request: Request) -> Response:
        if self._text is None:
            self._text = await asyncio.to_thread(self._written)
        return Response(self._text, media_type=JSON)

    def _written(self) -> bytes:
        return msgspec.json.encode(self.openapi())

    def openapi(self) -> dict[str, Any]:
        """The document; made once."""
        if self.openapi_schema is None:
            self.openapi_schema = _document(self)
        return self.openapi_schema


def _document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        description=DESCRIPTION,
        routes=app.routes,
        tags=TAGS,
        servers=[{"url": "/", "description": "This server."}],
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
    )
    _drop_foreign_validation_error(document)
    schemas = _schemas()
    document.setdefault("components", {})["schemas"] = schemas
    document["components"]["examples"] = problem_examples(KINDS)
    document["components"]["securitySchemes"] = {"bearer": BEARER}
    document["security"] = [{"bearer": []}, {}]
    for operation in _operations(document):
        _show_examples(operation, schemas)
    document["components"]["responses"] = _shared_problems(document)
    return document


def _operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for methods in document["paths"].values():
        yield from methods.values()


class _InOrder(GenerateJsonSchema):
    """Schemas and examples in the order in which they are written here."""

    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:
        """`value` as it is."""
        del parent_key
        return value


def _schemas() -> dict[str, Any]:
    _, definitions = models_json_schema(
        [(model, "validation") for model in DOCUMENTED_MODELS],
        ref_template="#/components/schemas/{model}",
        schema_generator=_InOrder,
    )
    schemas: dict[str, Any] = definitions["$defs"]
    return schemas


def _drop_foreign_validation_error(document: dict[str, Any]) -> None:
    """FastAPI documents a 422 of its own shape wherever there is a parameter; it is never answered."""
    for operation in _operations(document):
        if "HTTPValidationError" in str(operation["responses"].get("422", "")):
            del operation["responses"]["422"]


def _show_examples(operation: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Put a model's example beside the reference to it; FastAPI would take the nulls out of it.

    Only the body and the first answer: what else an operation may answer is another case.
    """
    answer = next(iter(operation["responses"].values()))
    for part in (operation.get("requestBody", {}), answer):
        for content in part.get("content", {}).values():
            model = schemas.get(content["schema"].get("$ref", "").rpartition("/")[2], {})
            if "example" in model:
                content.setdefault("example", model["example"])


def _shared_problems(document: dict[str, Any]) -> dict[str, Any]:
    """The problems of all operations, each set of codes once; operations are left with references to them."""
    shared = {}
    for operation in _operations(document):
        for status, answer in operation["responses"].items():
            codes = answer.get("content", {}).get(PROBLEM_MEDIA_TYPE, {}).get("examples")
            if codes:
                name = f"{status}.{'.'.join(codes)}"
                shared[name] = answer
                operation["responses"][status] = {"$ref": f"#/components/responses/{name}"}
    return dict(sorted(shared.items()))
