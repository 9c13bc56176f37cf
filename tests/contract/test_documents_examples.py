"""The example request of every operation, sent to a running server: the answers fit both published documents.

`tests/unit/test_api_document.py` shows under a fixed clock that each answer equals the example.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
import msgspec
import pytest

from tests.support.documented import Document, Operation
from tests.support.server_process import ServerProcess, running_server

PUBLISHED = Path(__file__).parents[2] / "openapi"
WHOLE = Document(msgspec.json.decode((PUBLISHED / "openapi.json").read_bytes()))
SDK = Document(msgspec.json.decode((PUBLISHED / "openapi.sdk.json").read_bytes()))

KEY = "/v1/streams/race%3Afrance"
RACE = [
    {"id": "1692632086370-0", "fields": {"rider": "Castilla", "speed": "30.2"}},
    {"id": "1692632094485-0", "fields": {"rider": "Norem", "speed": "28.8"}},
    {"id": "1692632102976-0", "fields": {"rider": "Prickett", "speed": "29.7"}},
]
LATER = {"fields": {"rider": "Wood"}, "delay_ms": 3_600_000}
NEW = {"create_stream", "xgroup_create", "xgroup_createconsumer"}
"""Operations whose example makes what the others find."""

QUERIES = {"xgroup_delconsumer": {"force": "true"}}
"""The parameters that an operation needs on this state."""


@pytest.fixture(scope="module")
def documented_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server of its own: the examples share one stream, which no other test may touch."""
    with running_server(tmp_path_factory.mktemp("documented")) as server:
        yield server


@pytest.fixture
def client(documented_server: ServerProcess) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=documented_server.base_url, timeout=30) as opened:
        yield opened


def prepare(client: httpx.Client, operation: Operation) -> None:
    """The race of the examples, read by alice of the judges up to its second entry."""
    client.delete(KEY)
    if operation.name == "create_stream":
        return
    lines = "".join(json.dumps(entry) + "\n" for entry in RACE)
    headers = {"Content-Type": "application/x-ndjson"}
    sent(client.post(f"{KEY}/entries:import?shape=entry", content=lines, headers=headers))
    if operation.name in NEW - {"xgroup_createconsumer"}:
        return
    sent(client.put(f"{KEY}/groups/judges", json={"after": "0"}))
    if operation.name not in NEW:
        read = {"group": "judges", "consumer": "alice", "streams": [{"key": "race:france"}], "count": 2}
        sent(client.post("/v1/read-group", json=read))
    if operation.name == "take_over_epoch":
        headers |= {"Producer-Id": "timing-gate-1", "Producer-Epoch": "1", "Producer-Layout": "4 partitions"}
        headers["Idempotency-Key"] = "1"
        sent(client.post(f"{KEY}/entries:import", content='{"a":"b"}', headers=headers))
    if operation.name == "list_scheduled":
        sent(client.post(f"{KEY}/entries", json=LATER))
    if operation.name == "redrive":
        settings = {"max_deliveries": 5, "dead_letter_stream": "race:france:dead"}
        sent(client.post(f"{KEY}/groups/judges:configure", json=settings))


def sent(response: httpx.Response) -> httpx.Response:
    assert response.is_success, response.text
    return response


@pytest.mark.parametrize("name", [name for name, each in WHOLE.operations.items() if not each.is_endless])
def test_the_example_of_an_operation_is_answered_as_both_documents_say(
    client: httpx.Client, name: str
) -> None:
    operation = WHOLE.operations[name]
    prepare(client, operation)
    request = operation.example_request(QUERIES.get(name))
    if name == "cancel_scheduled":
        scheduled_id = sent(client.post(f"{KEY}/entries", json=LATER)).json()["scheduled_id"]
        request = request._replace(path=f"{KEY}/scheduled/{scheduled_id}")
    response = sent(client.request(request.method, request.path, **request.options))
    status = str(response.status_code)
    if operation.method == "HEAD" or not response.content:
        assert status in operation.responses
        return
    ((media_type, shape),) = operation.responses[status]["content"].items()
    assert response.headers["content-type"].partition(";")[0] == media_type
    if media_type == "application/json":
        WHOLE.assert_fits(response.json(), shape["schema"])
        assert_fits_sdk(response, name)


def assert_fits_sdk(response: httpx.Response, name: str) -> None:
    """The answer fits the document for generators. Validators do not know its keyword `nullable`."""
    ((_, shape),) = SDK.operations[name].responses[str(response.status_code)]["content"].items()
    whole = with_nulls({**shape["schema"], "components": SDK.content["components"]})
    jsonschema_rs.Draft4Validator(whole).validate(response.json())


def with_nulls(part: Any) -> Any:
    """Return a part of the document with null allowed for each `nullable` member."""
    if isinstance(part, list):
        return [with_nulls(each) for each in part]
    if not isinstance(part, dict):
        return part
    inner = {name: with_nulls(each) for name, each in part.items() if name != "nullable"}
    return {"anyOf": [inner, {"type": "null"}]} if part.get("nullable") is True else inner


@pytest.mark.parametrize("name", [name for name, each in WHOLE.operations.items() if each.is_endless])
def test_the_example_of_a_tail_is_followed_by_the_events_that_it_shows(
    client: httpx.Client, name: str
) -> None:
    operation = WHOLE.operations[name]
    prepare(client, operation)
    sent(client.put("/v1/streams/race%3Ausa"))
    request = operation.example_request({"after": "1692632094485-0"})
    with client.stream(request.method, request.path, **request.options) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = response.iter_lines()
        seen = [next(lines) for _ in range(8)]
    shown = operation.responses["200"]["content"]["text/event-stream"]["example"].splitlines()
    assert [line.partition(":")[0] for line in seen] == [line.partition(":")[0] for line in shown[:8]]
    assert "1692632102976-0" in seen[-1]
