"""The published documents equal the program's output; the document for generators describes the same API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tailrace.api.document.sdk_document import sdk_document
from tailrace.api.wire.negotiation import NDJSON
from tests.support.api_client import the_document
from tests.support.documented import Document, Operation
from tests.support.server_process import tailrace

PUBLISHED = Path(__file__).parents[2] / "openapi"

WHOLE = the_document()
SDK = Document(sdk_document(WHOLE.content))
FOREIGN_TO_3_0 = {"const", "examples", "prefixItems", "itemSchema", "$defs"}
"""Keywords of later JSON Schema; `examples` of a media type is another thing."""


@pytest.mark.parametrize(
    ("name", "options"),
    [("openapi.json", []), ("openapi.sdk.json", ["--sdk"]), ("asyncapi.json", ["--asyncapi"])],
)
def test_the_published_document_is_the_one_that_the_program_prints(name: str, options: list[str]) -> None:
    printed = tailrace("openapi", *options)
    assert printed.returncode == 0, printed.stderr
    assert (PUBLISHED / name).read_text() == printed.stdout, f"openapi/{name} is out of date: make documents"


def test_two_documents_are_not_printed_at_once() -> None:
    printed = tailrace("openapi", "--sdk", "--asyncapi")
    assert (printed.returncode, printed.stdout) == (2, "")
    assert "exclude each other" in printed.stderr


# --- the document for generators -------------------------------------------------------------------


def test_generators_are_given_every_operation_with_every_status() -> None:
    def outline(document: Document) -> dict[str, Any]:
        return {
            name: (operation.method, operation.path, list(operation.responses), operation.all_codes)
            for name, operation in document.operations.items()
        }

    assert SDK.content["openapi"] == "3.0.3"
    assert outline(SDK) == outline(WHOLE)


def test_making_the_document_for_generators_leaves_the_other_as_it_was() -> None:
    before = json.dumps(WHOLE.content)
    sdk_document(WHOLE.content)
    assert json.dumps(WHOLE.content) == before


def test_generators_are_given_only_the_words_of_their_version() -> None:
    for schema in schemas_of(SDK.content):
        assert not FOREIGN_TO_3_0 & set(schema), schema
        assert isinstance(schema.get("type", ""), str), schema
        assert {"type": "null"} not in schema.get("anyOf", []), schema
        assert "$ref" not in schema or len(schema) == 1, schema


def test_generators_pass_ndjson_through_as_bytes() -> None:
    imported = SDK.operations["import_entries"].spec["requestBody"]["content"]
    exported = SDK.operations["export_entries"].responses["200"]["content"]
    for content in (imported, exported):
        assert content[NDJSON]["schema"] == {"type": "string", "format": "binary"}


def test_generators_are_given_no_null_for_what_may_be_left_out() -> None:
    for schema in schemas_of(SDK.content):
        for name, member in schema.get("properties", {}).items():
            if name not in schema.get("required", []):
                assert "nullable" not in member, name
    pending = SDK.content["components"]["schemas"]["PendingItem"]["properties"]
    assert pending["consumer"]["nullable"] is True


def schemas_of(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every schema of a document, those inside others too."""
    for schema in document["components"]["schemas"].values():
        yield from within(schema)
    for operation in Document(document).operations.values():
        for part in (*operation.parameters, *contents_of(operation)):
            yield from within(part["schema"])


def contents_of(operation: Operation) -> Iterator[dict[str, Any]]:
    for part in (operation.spec.get("requestBody", {}), *operation.responses.values()):
        yield from part.get("content", {}).values()


def within(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", []), *schema.get("allOf", [])]
    inner += [
        schema[part] for part in ("items", "additionalProperties") if isinstance(schema.get(part), dict)
    ]
    for each in inner:
        yield from within(each)
