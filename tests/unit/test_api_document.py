"""The OpenAPI document is complete, and agrees with the responses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tailrace.api.application import create_api
from tailrace.api.document.openapi import TAGS
from tailrace.api.document.response_headers import HEADERS
from tailrace.api.problems.table import KINDS, HttpCode
from tailrace.api.schemas.entries import FIELDS_EXAMPLE
from tailrace.api.schemas.scheduled import SCHEDULED_EXAMPLE
from tailrace.core.errors import ErrorCode
from tests.support.api_client import GROUP, KEY, VERSION, ApiClient, the_document
from tests.support.documented import example_of
from tests.support.engine_store import EngineStore
from tests.support.preparations import begin_epoch, bury_entry

NDJSON = "application/x-ndjson"
HTML = "text/html"

# fmt: off
CONTRACT_OPERATIONS = {
    "cancel_scheduled", "check_import", "command", "configure_group", "create_stream", "delete_entry",
    "delete_stream", "export_entries", "extend", "get_entry",
    "get_limits", "get_producer", "head_stream", "healthz", "import_entries", "list_scheduled",
    "list_streams", "pipeline",
    "problem_page", "readyz", "redrive",
    "seek_entries", "split_entries", "take_over_epoch", "transaction",
    "xack", "xadd", "xadd_batch", "xautoclaim",
    "xcfgset", "xclaim", "xdel", "xgroup_create", "xgroup_createconsumer", "xgroup_delconsumer",
    "xgroup_destroy", "xgroup_setid", "xinfo_consumers", "xinfo_group", "xinfo_groups", "xinfo_stream",
    "xlen", "xnack", "xpending", "xpending_summary", "xrange", "xread", "xreadgroup", "xsetid", "xtrim",
}
# fmt: on


DOCUMENT = the_document()
SCHEMAS: dict[str, Any] = DOCUMENT.content["components"]["schemas"]
CONTENT = DOCUMENT.content
OPERATIONS = DOCUMENT.operations

ENDING = [name for name in sorted(OPERATIONS) if not OPERATIONS[name].is_endless]
"""Operations whose answer has an end; no test here waits for the others."""

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


def test_the_document_names_itself_and_its_version() -> None:
    assert (CONTENT["openapi"], CONTENT["info"]["version"]) == ("3.1.0", VERSION)
    assert [server["url"] for server in CONTENT["servers"]] == ["/"]


def test_without_a_version_the_installed_one_is_named() -> None:
    assert create_api(EngineStore()).version


def test_the_document_is_served() -> None:
    assert ApiClient().get("/openapi.json").json() == CONTENT


def test_every_operation_of_the_contract_is_there() -> None:
    assert set(OPERATIONS) >= CONTRACT_OPERATIONS


def test_every_reference_leads_somewhere() -> None:
    components = CONTENT["components"]
    there = {f"#/components/{kind}/{name}" for kind, named in components.items() for name in named}
    assert set(references(CONTENT)) <= there


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
        status: list(answer.get("content", {})) for status, answer in OPERATIONS[name].responses.items()
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
    for parameter in OPERATIONS[name].parameters:
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
        DOCUMENT.assert_fits(schema["example"], schema)
    for inner in schema.get("properties", {}).values():
        for example in inner.get("examples", []):
            DOCUMENT.assert_fits(example, inner)


# --- what is documented is what happens ------------------------------------------------------------

QUERIES: dict[str, dict[str, Any]] = {
    "xgroup_delconsumer": {"transfer_to": "bob"},
    "xpending": {"count": 1},
    "xrange": {"count": 1},
}
"""The requests that return the example of an operation, if its plain request does not."""

BEFORE = {
    "create_stream": KEY,
    "xgroup_create": GROUP,
    "xgroup_createconsumer": f"{GROUP}/consumers/alice?force=true",
}
"""The key to delete first if the example creates an existing one."""

TOGETHER: dict[str, dict[str, str]] = {
    "Idempotency-Key": {"Producer-Id": "timing-gate-1"},
    "Producer-Id": {"Idempotency-Key": "batch-17"},
    "Producer-Epoch": {"Idempotency-Key": "batch-17", "Producer-Id": "timing-gate-1"},
    "Producer-Layout": {
        "Idempotency-Key": "batch-17",
        "Producer-Id": "timing-gate-1",
        "Producer-Epoch": "1",
    },
}
"""Headers that are sent with another one."""

OPTIONAL = [
    (name, parameter["name"])
    for name in ENDING
    for parameter in OPERATIONS[name].parameters
    if not parameter.get("required") and "examples" in parameter["schema"]
]


NEVER_THE_SAME = {"create_ticket", "show_server", "slow_log"}
"""Operations whose answer holds chance or time; it fits its schema all the same."""


OF_A_PRODUCER = {"get_producer", "take_over_epoch"}
"""Operations whose example needs a producer that the stream remembers."""


def prepared(name: str) -> ApiClient:
    """The example state, as the operation's example finds it."""
    api = ApiClient.with_race()
    if name in OF_A_PRODUCER:
        begin_epoch(api)
    if name == "redrive":
        bury_entry(api)
    if name in {"list_scheduled", "cancel_scheduled"}:
        body = {"fields": FIELDS_EXAMPLE, "delay_ms": 60_000}
        assert api.post("/v1/streams/race:france/entries", body).json() == SCHEDULED_EXAMPLE
    if name in BEFORE:
        assert api.delete(BEFORE[name]).is_success
    return api


def send_example(api: ApiClient, name: str, query: dict[str, Any], headers: dict[str, str]) -> Any:
    request = OPERATIONS[name].example_request(query)
    sent = request._replace(headers={**request.headers, **headers})
    return api.request(sent.method, sent.path, **sent.options)


@pytest.mark.parametrize("name", ENDING)
def test_the_documented_example_is_answered_as_documented(name: str) -> None:
    response = send_example(prepared(name), name, QUERIES.get(name, {}), {})
    assert response.is_success, response.text
    answer = OPERATIONS[name].responses[str(response.status_code)]
    optional = {name for name, header in HEADERS.items() if not header.get("required")}
    optional |= {
        header for header, spec in answer.get("headers", {}).items() if spec.get("required") is False
    }
    for header in answer.get("headers", {}).keys() - optional:
        assert header in response.headers
    if "content" not in answer:
        assert response.content == b""
        return
    ((media_type, shape),) = answer["content"].items()
    assert response.headers["content-type"].partition(";")[0] == media_type
    if media_type in {NDJSON, HTML}:
        assert response.text.startswith(shape["example"])
    else:
        DOCUMENT.assert_fits(response.json(), shape["schema"])
        DOCUMENT.assert_fits(shape["example"], shape["schema"])
        assert name in NEVER_THE_SAME or response.json() == shape["example"]


@pytest.mark.parametrize(("name", "parameter"), OPTIONAL)
def test_the_example_of_an_optional_parameter_is_accepted(name: str, parameter: str) -> None:
    (spec,) = (each for each in OPERATIONS[name].parameters if each["name"] == parameter)
    value = str(example_of(spec)).lower() if isinstance(example_of(spec), bool) else str(example_of(spec))
    query = {**QUERIES.get(name, {}), **({parameter: value} if spec["in"] == "query" else {})}
    headers = {**TOGETHER.get(parameter, {}), **({parameter: value} if spec["in"] == "header" else {})}
    response = send_example(prepared(name), name, query, headers)
    assert response.is_success, response.text
