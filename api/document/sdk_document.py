"""The OpenAPI document for code generators: the same operations, translated to OpenAPI 3.0.

It owns the translation, and adds nothing to the document that the server shows.

Generators support 3.0 best; each has problems with another part of 3.1. So in this document:

* An optional member or parameter is never null. Only a member that is always present and may be null is
  `nullable`.
* `const` becomes an `enum` of one, and an `examples` list an `example`. A reference with a description of
its own is inside an `allOf`.
* Integers are `int64`, because milliseconds and counters do not fit into a Java `Integer`.
* NDJSON is `format: binary`, so that clients send the bytes unchanged; a string would be encoded as JSON.
* Members have no `title`, because generators would name types after the title instead of the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from tailrace.api.wire.negotiation import NDJSON

OPENAPI_VERSION: Final = "3.0.3"

Json: TypeAlias = dict[str, Any]

_BYTES: Final[Json] = {"type": "string", "format": "binary"}
_NULL: Final[Json] = {"type": "null"}


def sdk_document(document: Mapping[str, Any]) -> Json:
    """Return `document` as OpenAPI 3.0. The argument is not changed."""
    components = document["components"]
    schemas = {name: _schema(schema) for name, schema in components["schemas"].items()}
    return {
        **document,
        "openapi": OPENAPI_VERSION,
        "info": _info(document["info"]),
        "paths": {path: _path(methods) for path, methods in document["paths"].items()},
        "components": {**components, "schemas": schemas, **_shared_responses(components)},
    }


def _info(info: Json) -> Json:
    """Remove the summary, which 3.0 does not have."""
    return {**_without(info, "summary"), "license": _license(info["license"])}


def _license(given: Json) -> Json:
    """Return the licence with a URL in place of its SPDX identifier, which 3.0 does not have."""
    return {"name": given["name"], "url": f"https://spdx.org/licenses/{given['identifier']}.html"}


def _shared_responses(components: Json) -> Json:
    if "responses" not in components:
        return {}
    return {"responses": {name: _response(each) for name, each in components["responses"].items()}}


# --- operations ------------------------------------------------------------------------------------


def _path(methods: Json) -> Json:
    return {method: _operation(operation) for method, operation in methods.items()}


def _operation(operation: Json) -> Json:
    made = dict(operation)
    if "parameters" in operation:
        made["parameters"] = [_parameter(parameter) for parameter in operation["parameters"]]
    if "requestBody" in operation:
        made["requestBody"] = _with_content(operation["requestBody"])
    made["responses"] = {status: _response(each) for status, each in operation["responses"].items()}
    return made


def _parameter(parameter: Json) -> Json:
    return {**parameter, "schema": _left_out(parameter["schema"])}


def _response(response: Json) -> Json:
    made = _with_content(response)
    if "headers" in response:
        made["headers"] = {name: _header(each) for name, each in response["headers"].items()}
    return made


def _header(header: Json) -> Json:
    return header if "$ref" in header else _with_schema(header)


def _with_content(part: Json) -> Json:
    if "content" not in part:
        return dict(part)
    content = {media_type: _content(media_type, each) for media_type, each in part["content"].items()}
    return {**part, "content": content}


def _content(media_type: str, content: Json) -> Json:
    return {**content, "schema": _BYTES} if media_type == NDJSON else _with_schema(content)


def _with_schema(part: Json) -> Json:
    return {**part, "schema": _schema(part["schema"])}


# --- schemas ---------------------------------------------------------------------------------------


def _schema(schema: Json) -> Json:
    """Translate a schema and the schemas inside of it."""
    made = _words(_without(schema, "title"))
    if "anyOf" in made:
        made = _union(made)
    if "$ref" in made and len(made) > 1:
        # The model has an example of its own. A second one with the same `id` would confuse validators of
        # 3.0: they take `id` for the name of a schema.
        made = {"allOf": [{"$ref": made["$ref"]}], **_without(made, "$ref", "example")}
    for part in ("items", "additionalProperties"):
        if isinstance(made.get(part), dict):
            made[part] = _schema(made[part])
    if "properties" in made:
        made["properties"] = _properties(made)
    return made


def _words(schema: Json) -> Json:
    """Translate the keywords that 3.0 writes differently."""
    made = _without(schema, "const", "examples")
    if "const" in schema:
        made["enum"] = [schema["const"]]
    if schema.get("examples"):
        made["example"] = schema["examples"][0]
    if made.get("type") == "integer":
        made.setdefault("format", "int64")
    return made


def _union(schema: Json) -> Json:
    """Translate a union. A union of one type and null becomes that type with `nullable`."""
    choices = [_schema(choice) for choice in schema["anyOf"] if choice != _NULL]
    nullable = {"nullable": True} if len(choices) < len(schema["anyOf"]) else {}
    rest = _without(schema, "anyOf")
    if len(choices) == 1:
        # 3.0 allows `nullable` only next to a type; every model is an object.
        kind = {"type": "object"} if nullable and "$ref" in choices[0] else {}
        return {**kind, **choices[0], **rest, **nullable}
    return {"anyOf": choices, **rest, **nullable}


def _properties(schema: Json) -> Json:
    needed = schema.get("required", ())
    return {
        name: _schema(member) if name in needed else _left_out(member)
        for name, member in schema["properties"].items()
    }


def _left_out(schema: Json) -> Json:
    """Translate an optional member: remove null, which only means that the member is absent."""
    made = _without(_schema(schema), "nullable")
    return _without(made, "default") if made.get("default", "") is None else made


def _without(mapping: Mapping[str, Any], *names: str) -> Json:
    return {name: value for name, value in mapping.items() if name not in names}
