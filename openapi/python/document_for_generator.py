"""Prints the document that the generator of the Python SDK reads, made from `openapi.sdk.json`.

Generated models mark what is absent with the object `UNSET`. That is right for requests, in which null has a
meaning of its own, but it must not reach programs that read replies. So in schemas of replies an optional
member is required and nullable here, and `generate` lets the models read a missing one as None. A schema that
requests and replies share becomes two.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

SCHEMAS = "#/components/schemas/"


def untyped(schema: dict[str, Any]) -> dict[str, Any]:
    """Remove `type` next to `nullable`, for which this generator would add a model of its own."""
    if "allOf" in schema and "nullable" in schema:
        schema.pop("type", None)
    return schema


def references(part: object) -> Iterator[str]:
    """Yield the references in a part of the document."""
    if isinstance(part, dict):
        if "$ref" in part:
            yield part["$ref"]
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from references(each)


def reached(document: dict[str, Any], part: object) -> set[str]:
    """Return the names of the schemas that a part of the document refers to, directly or not."""
    found: set[str] = set()
    waiting = list(references(part))
    while waiting:
        reference = waiting.pop()
        if reference in found:
            continue
        found.add(reference)
        target: Any = document
        for name in reference.split("/")[1:]:
            target = target[name]
        waiting += references(target)
    return {each.removeprefix(SCHEMAS) for each in found if each.startswith(SCHEMAS)}


def optional(schema: dict[str, Any]) -> set[str]:
    """Return the members that the schema does not require."""
    return schema.get("properties", {}).keys() - set(schema.get("required", ()))


def renamed(part: Any, names: dict[str, str]) -> Any:
    """Return a part of the document with references to other schemas."""
    if isinstance(part, dict):
        return {
            key: names.get(value, value) if key == "$ref" else renamed(value, names)
            for key, value in part.items()
        }
    return [renamed(each, names) for each in part] if isinstance(part, list) else part


def nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a member that may also be null. The description stays beside it."""
    if "enum" in schema:
        return {"oneOf": [schema], "nullable": True, "description": schema.get("description", "")}
    inner = {"allOf": [schema]} if "$ref" in schema else schema
    return untyped({**inner, "nullable": True})


def with_replies_of_none(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with all members of replies required, and nullable where they were optional."""
    schemas = document["components"]["schemas"]
    operations = [each for path in document["paths"].values() for each in path.values()]
    replies = reached(document, [each["responses"] for each in operations])
    requests = reached(document, [each.get("requestBody") for each in operations])
    shared = {name for name in replies & requests if optional(schemas[name])}
    states = {SCHEMAS + name: f"{SCHEMAS}{name}State" for name in shared}
    for name in shared:
        schemas[f"{name}State"] = deepcopy(schemas[name])
    for name in (replies - requests) | {f"{name}State" for name in shared}:
        schema = schemas[name] = renamed(schemas[name], states)
        for member in optional(schema):
            schema["properties"][member] = nullable(schema["properties"][member])
        if "properties" in schema:
            schema["required"] = list(schema["properties"])
    return document


if __name__ == "__main__":
    with Path(sys.argv[1]).open() as source:
        json.dump(with_replies_of_none(json.load(source, object_hook=untyped)), sys.stdout)
