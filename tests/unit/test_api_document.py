"""The OpenAPI document: complete, and true to what the surface answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote

import jsonschema_rs
import pytest

from api.application import create_api
from api.openapi import TAGS
from api.problems import KINDS, HttpCode
from core.errors import ErrorCode
from tests.support.api_client import GROUP, KEY, ApiClient
from tests.support.engine_store import EngineStore

METHODS = ("get", "put", "post", "delete", "head")
NDJSON = "application/x-ndjson"

# fmt: off
CONTRACT_OPERATIONS = {
    "command", "create_stream", "delete_entry", "delete_stream", "export_entries", "get_entry",
    "get_limits", "head_stream", "healthz", "import_entries", "list_streams", "pipeline", "readyz",
    "seek_entries", "split_entries", "transaction", "xack", "xadd", "xadd_batch", "xautoclaim",
    "xcfgset", "xclaim", "xdel", "xgroup_create", "xgroup_createconsumer", "xgroup_delconsumer",
    "xgroup_destroy", "xgroup_setid", "xinfo_consumers", "xinfo_group", "xinfo_groups", "xinfo_stream",
    "xlen", "xnack", "xpending", "xpending_summary", "xrange", "xread", "xreadgroup", "xsetid", "xtrim",
}
# fmt: on


class Operation(NamedTuple):
    method: str
    path: str
    spec: dict[str, Any]


DOCUMENT: dict[str, Any] = ApiClient().app.openapi()
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
OPERATIONS = {
    spec["operationId"]: Operation(method, path, spec)
    for path, methods in DOCUMENT["paths"].items()
    for method, spec in methods.items()
}

ENDLESS = "text/event-stream"
"""The media type of answers that have no end, which no test here waits for."""

ENDING = [name for name in sorted(OPERATIONS) if ENDLESS not in str(OPERATIONS[name].spec["responses"])]

each_operation = pytest.mark.parametrize("name", sorted(OPERATIONS))
each_model = pytest.mark.parametrize("name", sorted(SCHEMAS))


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def assert_fits(value: Any, schema: dict[str, Any]) -> None:
    jsonschema_rs.Draft202012Validator({**schema, "components": DOCUMENT["components"]}).validate(value)


def test_the_document_names_itself_and_its_version() -> None:
    assert (DOCUMENT["openapi"], DOCUMENT["info"]["version"]) == ("3.1.0", "1.2.3")
    assert [server["url"] for server in DOCUMENT["servers"]] == ["/"]


def test_without_a_version_the_installed_one_is_named() -> None:
    assert create_api(EngineStore()).version


def test_the_document_is_served() -> None:
    assert ApiClient().get("/openapi.json").json() == DOCUMENT


def test_every_operation_of_the_contract_is_there() -> None:
    assert set(OPERATIONS) >= CONTRACT_OPERATIONS


def test_every_reference_leads_somewhere() -> None:
    assert {ref.removeprefix("#/components/schemas/") for ref in references(DOCUMENT)} <= set(SCHEMAS)


def test_every_code_has_its_row() -> None:
    assert set(KINDS) == {*ErrorCode, *HttpCode}
    assert KINDS[HttpCode.NOT_ACCEPTING].retryable


@each_operation
def test_an_operation_says_what_it_does_under_one_tag(name: str) -> None:
    spec = OPERATIONS[name].spec
    assert spec["summary"]
    assert spec["description"]
    assert len(spec["tags"]) == 1
    assert spec["tags"][0] in {tag["name"] for tag in TAGS}


@each_operation
def test_an_operation_answers_one_media_type_and_its_errors_as_problems(name: str) -> None:
    media_types = {
        status: list(answer.get("content", {}))
        for status, answer in OPERATIONS[name].spec["responses"].items()
    }
    assert {"400", "406", "413", "500", "503"} <= set(media_types)
    for status, found in media_types.items():
        if status >= "400":
            assert found == ["application/problem+json"]
    answers = {tuple(found) for status, found in media_types.items() if status < "400"}
    assert len(answers) == 1
    assert len(answers.pop()) <= 1


@each_operation
def test_an_operation_documents_each_parameter(name: str) -> None:
    for parameter in OPERATIONS[name].spec.get("parameters", []):
        assert parameter["description"], parameter["name"]


@each_model
def test_a_model_and_each_of_its_fields_has_a_description_and_an_example(name: str) -> None:
    if name == "JsonValue":
        return
    assert SCHEMAS[name]["description"]
    for field, schema in SCHEMAS[name].get("properties", {}).items():
        assert schema.get("description"), field
        assert "examples" in schema, field


@each_model
def test_every_example_of_a_model_fits_it(name: str) -> None:
    schema = SCHEMAS[name]
    if "example" in schema:
        assert_fits(schema["example"], schema)
    for inner in schema.get("properties", {}).values():
        for example in inner.get("examples", []):
            assert_fits(example, inner)


# --- what is documented is what happens ------------------------------------------------------------

QUERIES = {
    "seek_entries": "?count=2",
    "split_entries": "?parts=2",
    "xgroup_delconsumer": "?transfer_to=bob",
    "xpending": "?count=1",
    "xrange": "?count=1",
}
"""What an operation cannot do without on the example state, or what its example is the answer to."""

BEFORE = {
    "create_stream": KEY,
    "xgroup_create": GROUP,
    "xgroup_createconsumer": f"{GROUP}/consumers/alice?force=true",
}
"""What is deleted first, where the example creates what stands already."""


def address(name: str) -> str:
    operation = OPERATIONS[name]
    url = operation.path
    for parameter in operation.spec.get("parameters", []):
        if parameter["in"] == "path":
            (example,) = parameter["schema"]["examples"]
            url = url.replace(f"{{{parameter['name']}}}", quote(example))
    return url + QUERIES.get(name, "")


def send_example(api: ApiClient, name: str) -> Any:
    operation = OPERATIONS[name]
    content = operation.spec.get("requestBody", {}).get("content", {})
    if not content:
        return api.request(operation.method.upper(), address(name))
    ((media_type, shape),) = content.items()
    example = shape["example"]
    body = example if isinstance(example, str) else json.dumps(example)
    headers = {"Content-Type": media_type}
    return api.request(operation.method.upper(), address(name), content=body, headers=headers)


@pytest.mark.parametrize("name", ENDING)
def test_the_documented_example_is_answered_as_documented(name: str) -> None:
    api = ApiClient.with_race()
    if name in BEFORE:
        assert api.delete(BEFORE[name]).is_success
    response = send_example(api, name)
    answer = OPERATIONS[name].spec["responses"][str(response.status_code)]
    assert response.is_success, response.text
    for header in answer.get("headers", {}):
        assert header in response.headers
    if "content" not in answer:
        assert response.content == b""
        return
    ((media_type, shape),) = answer["content"].items()
    assert response.headers["content-type"] == media_type
    if media_type == NDJSON:
        assert response.text.startswith(shape["example"])
    elif response.request.method != "HEAD":
        assert_fits(response.json(), shape["schema"])
        if "example" in shape:
            assert response.json() == shape["example"]
