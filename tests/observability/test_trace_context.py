"""The trace context in an entry, if the producer asks for it."""

from __future__ import annotations

from typing import Any

import pytest

from tailrace.core.limits import FIELDS_PER_ENTRY_MAX
from tailrace.core.log.entry import with_field
from tests.support.api_client import NDJSON, ApiClient

CONTEXT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
ASKED = {"Tailrace-Trace": "entry", "traceparent": CONTEXT}
URL = "/v1/streams/traced/entries"


@pytest.fixture
def api() -> ApiClient:
    return ApiClient()


def entries(api: ApiClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.get(URL).json()["entries"]
    return found


def test_an_entry_carries_the_request_s_context_as_its_last_field(api: ApiClient) -> None:
    assert api.post(URL, {"fields": {"rider": "Norem"}}, headers=ASKED).status_code == 201
    assert entries(api)[0]["fields"] == {"rider": "Norem", "traceparent": CONTEXT}


def test_every_entry_of_a_batch_and_of_an_import_carries_it(api: ApiClient) -> None:
    batch = {"entries": [{"fields": {"a": "1"}}, {"pairs": [["b", "2"], ["b", "3"]]}]}
    assert api.post(f"{URL}:batch", batch, headers=ASKED).status_code == 201
    lines = b'{"c":"4"}\n{"d":"5"}\n'
    imported = api.request("POST", f"{URL}:import", content=lines, headers={**NDJSON, **ASKED})
    assert imported.status_code == 201
    found = [each.get("fields") or each["pairs"] for each in entries(api)]
    assert found == [
        {"a": "1", "traceparent": CONTEXT},
        [["b", "2"], ["b", "3"], ["traceparent", CONTEXT]],
        {"c": "4", "traceparent": CONTEXT},
        {"d": "5", "traceparent": CONTEXT},
    ]


def test_an_entry_that_has_such_a_field_keeps_its_own(api: ApiClient) -> None:
    api.post(URL, {"fields": {"traceparent": "mine"}}, headers=ASKED)
    assert entries(api)[0]["fields"] == {"traceparent": "mine"}


@pytest.mark.parametrize(
    "context",
    [
        "",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        f"{CONTEXT}-more",
    ],
)
def test_a_context_that_is_not_well_formed_is_not_carried_and_is_no_error(
    api: ApiClient, context: str
) -> None:
    headers = {"Tailrace-Trace": "entry", "traceparent": context}
    assert api.post(URL, {"fields": {"rider": "Norem"}}, headers=headers).status_code == 201
    assert entries(api)[0]["fields"] == {"rider": "Norem"}


def test_without_being_asked_nothing_is_added(api: ApiClient) -> None:
    api.post(URL, {"fields": {"rider": "Norem"}}, headers={"traceparent": CONTEXT})
    assert entries(api)[0]["fields"] == {"rider": "Norem"}


def test_to_ask_for_something_else_is_refused_and_appends_nothing(api: ApiClient) -> None:
    answer = api.post(URL, {"fields": {"rider": "Norem"}}, headers={**ASKED, "Tailrace-Trace": "header"})
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_PARAMETER")
    assert "Tailrace-Trace" in answer.json()["detail"]
    assert api.get("/v1/streams/traced").status_code == 404


def test_an_entry_that_has_no_room_for_it_is_refused(api: ApiClient) -> None:
    fields = {str(number): "" for number in range(FIELDS_PER_ENTRY_MAX)}
    answer = api.post(URL, {"fields": fields}, headers=ASKED)
    assert (answer.status_code, answer.json()["code"]) == (413, "ENTRY_TOO_LARGE")


def test_a_repeated_request_with_an_idempotency_key_may_be_of_another_trace(api: ApiClient) -> None:
    producer = {"Producer-Id": "p", "Idempotency-Key": "k"}
    other = CONTEXT.replace("b7ad", "c7ad")
    body = {"fields": {"rider": "Norem"}}
    first = api.post(URL, body, headers={**ASKED, **producer})
    again = api.post(URL, body, headers={**ASKED, **producer, "traceparent": other})
    assert (again.status_code, again.json()) == (200, first.json())
    assert [each["fields"]["traceparent"] for each in entries(api)] == [CONTEXT]


def test_an_entry_that_is_not_utf_8_carries_it_too(api: ApiClient) -> None:
    api.post(URL, {"fields": {"/w==": "AA=="}, "encoding": "base64"}, headers=ASKED)
    flat = api.post("/v1/command", ["XRANGE", "traced", "-", "+"], headers={"Upstash-Encoding": "base64"})
    assert len(flat.json()["result"][0][1]) == 4


def test_a_field_is_added_to_a_fragment_once() -> None:
    once = with_field(b'{"a":"b"}', b"c", b"d")
    assert once == b'{"a":"b","c":"d"}'
    assert with_field(once, b"c", b"e") is once
