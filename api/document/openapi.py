"""The OpenAPI document: the one of FastAPI, with the wire models added and wrong parts removed.
The routes of both documents, OpenAPI and AsyncAPI, are here too.

It owns the introduction, the tags and the components. The routes describe their operations.
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

from tailrace.api.document.response_headers import HEADERS, add_response_headers
from tailrace.api.problems.examples import problem_examples
from tailrace.api.problems.table import KINDS, PROBLEM_MEDIA_TYPE, ProblemCode
from tailrace.api.schemas import DOCUMENTED_MODELS
from tailrace.api.wire.negotiation import JSON

DESCRIPTION: Final = """\
Redis and Valkey Streams over HTTP: append-only logs with random access by id, consumer groups, pending
entries, and automatic recovery of the entries of failed consumers.

* Ids (`ms-seq`) and values are always strings.
* The name of a key, group or consumer is 1 to 512 bytes of any value. In a path it is percent-encoded
  (`a%2Fb`, `%FF`). In the path of a POST, the action follows the last unescaped colon, so send a name that
  itself ends in `:ack` as `%3Aack`. In a body, an object with `"encoding": "base64"` has its names in base64.
* An entry has `fields`, or `pairs` if a name repeats. It has `"encoding": "base64"` if it is not UTF-8.
* Errors are `application/problem+json`. Branch on `code`. `retryable` says whether you can repeat the
request, and `side_effects` whether it may have changed something.
* An unknown query parameter is an error (400).
"""

TAGS: Final = [
    {"name": "streams", "description": "Whole streams: create, list, inspect, configure and delete them."},
    {
        "name": "entries",
        "description": "Entries of a stream: append, read, delete, trim, import and export them.",
    },
    {
        "name": "reads",
        "description": "Read several streams at once, with or without a consumer group, and wait for new "
        "entries.",
    },
    {
        "name": "groups",
        "description": "Consumer groups of a stream: create, list, inspect, move and delete them.",
    },
    {"name": "consumers", "description": "Consumers of a group: create, list and delete them."},
    {
        "name": "pending",
        "description": "Entries that were delivered and not yet acknowledged: list, ack, nack and claim "
        "them.",
    },
    {
        "name": "command",
        "description": "Redis commands as JSON arrays, with the replies and error lines of Redis.",
    },
    {"name": "service", "description": "The server: its limits, health, documentation and slow log."},
]


BEARER: Final = {
    "type": "http",
    "scheme": "bearer",
    "description": (
        "A token that `tailrace token create` printed. `x-required-scope` of an operation is the scope that "
        "the token needs on every key of the request; `any` means that every token is enough. A server "
        "without tokens requires none."
    ),
}
"""Optional in the document, because a server can run without tokens."""


class Api(FastAPI):
    """A FastAPI application that serves this document instead of FastAPI's own."""

    _text: bytes | None = None
    _asyncapi_text: bytes | None = None

    def setup(self) -> None:
        """Add the routes of the documents. At the first request, a thread generates one in about 0.1 s."""
        self.add_route("/openapi.json", self._answer, methods=["GET"], include_in_schema=False)
        self.add_route("/asyncapi.json", self._answer_asyncapi, methods=["GET"], include_in_schema=False)

    async def _answer(self, _request: Request) -> Response:
        if self._text is None:
            self._text = await asyncio.to_thread(self._written)
        return Response(self._text, media_type=JSON)

    async def _answer_asyncapi(self, _request: Request) -> Response:
        if self._asyncapi_text is None:
            self._asyncapi_text = await asyncio.to_thread(self._asyncapi_written)
        return Response(self._asyncapi_text, media_type=JSON)

    def _written(self) -> bytes:
        return msgspec.json.encode(self.openapi())

    def _asyncapi_written(self) -> bytes:
        # Only this document needs the models of the WebSocket at once.
        from tailrace.api.document.asyncapi import asyncapi_document  # noqa: PLC0415

        return msgspec.json.encode(asyncapi_document(self.version))

    def openapi(self) -> dict[str, Any]:
        """Return the document. It is generated once."""
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
        contact={"name": "The Tailrace authors"},
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
    )
    if app.openapi_external_docs is not None:
        document["externalDocs"] = app.openapi_external_docs
    _drop_foreign_validation_error(document)
    schemas = _schemas()
    document.setdefault("components", {})["schemas"] = schemas
    document["components"]["securitySchemes"] = {"bearer": BEARER}
    document["security"] = [{"bearer": []}, {}]
    for operation in _operations(document):
        _show_examples(operation, schemas)
        add_response_headers(operation)
    document["components"]["responses"] = responses = _shared_problems(document)
    document["components"]["headers"] = HEADERS
    document["components"]["examples"] = problem_examples(_codes_of(responses))
    return document


def _operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for methods in document["paths"].values():
        yield from methods.values()


class _InOrder(GenerateJsonSchema):
    """Generates schemas and examples in the order of their declaration."""

    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:
        """Return `value` without sorting."""
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
    """Remove the 422 that FastAPI documents for operations with parameters; the server never returns it."""
    for operation in _operations(document):
        if "HTTPValidationError" in str(operation["responses"].get("422", "")):
            del operation["responses"]["422"]


def _show_examples(operation: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Copy the example of a model next to the reference to it. FastAPI would remove nulls from the example.

    Only the request body and the first response get an example, because the other responses differ from it.
    """
    answer = next(iter(operation["responses"].values()))
    for part in (operation.get("requestBody", {}), answer):
        for content in part.get("content", {}).values():
            model = schemas.get(content["schema"].get("$ref", "").rpartition("/")[2], {})
            if "example" in model:
                content.setdefault("example", model["example"])


def _codes_of(responses: dict[str, Any]) -> list[ProblemCode]:
    """Return the codes that operations return; the document has no example of any other code."""
    named = {code for each in responses.values() for code in each["content"][PROBLEM_MEDIA_TYPE]["examples"]}
    return [code for code in KINDS if str(code) in named]


def _shared_problems(document: dict[str, Any]) -> dict[str, Any]:
    """Return the problem responses of all operations, each set of codes once. In the operations, references
    replace them."""
    shared = {}
    for operation in _operations(document):
        for status, answer in operation["responses"].items():
            codes = answer.get("content", {}).get(PROBLEM_MEDIA_TYPE, {}).get("examples")
            if codes:
                name = f"{status}.{'.'.join(codes)}"
                shared[name] = answer
                operation["responses"][status] = {"$ref": f"#/components/responses/{name}"}
    return dict(sorted(shared.items()))
