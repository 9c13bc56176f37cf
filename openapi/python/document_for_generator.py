"""Prints the document that the generator of the Python SDK reads, made from `openapi.sdk.json`.

Generated models mark what is absent with the object `UNSET`. That is right for requests, in which null has a
meaning of its own, but it must not reach programs that read results. So the generator makes no models of
results: `replies_of_document.py` prints them, and the generated operations return parsed JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
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


def without_results(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with any JSON as the result of an operation, and without the schemas of results."""
    for operation in (each for path in document["paths"].values() for each in path.values()):
        for status, response in operation["responses"].items():
            if status.startswith("2") and "application/json" in response.get("content", {}):
                response["content"]["application/json"]["schema"] = {}
    schemas = document["components"]["schemas"]
    used = reached(document, document["paths"])
    document["components"]["schemas"] = {name: schemas[name] for name in schemas if name in used}
    return document


if __name__ == "__main__":
    with Path(sys.argv[1]).open() as source:
        json.dump(without_results(json.load(source, object_hook=untyped)), sys.stdout)
