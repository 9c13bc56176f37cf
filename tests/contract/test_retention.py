"""The retention of streams over HTTP: set, shown, carried out by the sweep, and refused where it is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tailrace import testing
from tailrace.testing.server import TestServer

WITHIN_S = 60


@pytest.fixture(scope="module")
def server() -> Iterator[TestServer]:
    with testing.server() as running:
        yield running


@pytest.fixture
def client(server: TestServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{server.url}/v1", timeout=WITHIN_S) as opened:
        yield opened


def append(client: httpx.Client, key: str, count: int = 1) -> list[str]:
    bodies = [{"fields": {"n": str(number)}} for number in range(count)]
    return [client.post(f"/streams/{key}/entries", json=body).json()["id"] for body in bodies]


def state(client: httpx.Client, key: str) -> Any:
    return client.get(f"/streams/{key}").json()


def test_the_server_removes_entries_that_are_too_old(server: TestServer, client: httpx.Client) -> None:
    assert client.put("/streams/aged", json={"retention": {"max_age_ms": 60_000}}).status_code == 201
    append(client, "aged", 2)
    server.clock.advance(59_000)
    kept = append(client, "aged")
    assert state(client, "aged")["length"] == 3
    server.clock.advance(2_000)
    entries = client.get("/streams/aged/entries").json()["entries"]
    assert [entry["id"] for entry in entries] == kept
    retention = state(client, "aged")["retention"]
    assert retention["removed"] == {"max_age_ms": 2}
    assert retention["removed_at_ms"] <= server.clock.now_ms()
    assert retention["max_age_ms"] == 60_000


def test_unread_entries_are_protected_until_the_group_reads_them(
    server: TestServer, client: httpx.Client
) -> None:
    rules = {"max_length": 1, "protect_unread": True}
    client.put("/streams/guarded", json={"retention": rules})
    client.put("/streams/guarded/groups/g", json={"after": "0"})
    append(client, "guarded", 3)
    server.clock.advance(1_000)
    shown = state(client, "guarded")
    assert shown["length"] == 3
    assert shown["retention"]["protected_entries"] == 2
    client.post("/read-group", json={"group": "g", "consumer": "a", "streams": [{"key": "guarded"}]})
    server.clock.advance(1_000)
    shown = state(client, "guarded")
    assert shown["length"] == 1
    assert shown["retention"]["protected_entries"] == 0


def test_configure_replaces_and_removes_the_rules(server: TestServer, client: httpx.Client) -> None:
    client.put("/streams/changed", json={"retention": {"max_length": 1}})
    body = {"retention": {"max_bytes": 1_000_000}}
    assert client.post("/streams/changed:configure", json=body).status_code == 204
    assert state(client, "changed")["retention"].get("max_length") is None
    assert client.post("/streams/changed:configure", json={"idmp_maxsize": 5}).status_code == 204
    assert state(client, "changed")["retention"]["max_bytes"] == 1_000_000
    assert client.post("/streams/changed:configure", json={"retention": None}).status_code == 204
    assert "retention" not in state(client, "changed")
    append(client, "changed", 3)
    server.clock.advance(1_000)
    assert state(client, "changed")["length"] == 3


@pytest.mark.parametrize(
    ("retention", "words"),
    [
        ({}, "max_age_ms"),
        ({"protect_unread": True}, "max_length"),
        ({"max_age_ms": 0}, "/retention/max_age_ms"),
        ({"max_length": -1}, "/retention/max_length"),
        ({"max_bytes": "1 GB"}, "/retention/max_bytes"),
        ({"max_agems": 5}, "max_age_ms"),
        ([], "retention"),
    ],
)
def test_wrong_rules_are_refused_and_change_nothing(client: httpx.Client, retention: Any, words: str) -> None:
    response = client.put("/streams/refused", json={"retention": retention})
    assert response.status_code == 422
    assert words in response.json()["detail"]
    assert client.get("/streams/refused").status_code == 404


def test_the_metrics_count_what_retention_removed_by_rule(server: TestServer, client: httpx.Client) -> None:
    def retired() -> dict[str, float]:
        lines = httpx.get(f"{server.url}/metrics", timeout=WITHIN_S).text.splitlines()
        found = [line.split() for line in lines if line.startswith("tailrace_entries_retired_total{")]
        return {name.split('"')[1]: float(count) for name, count in found}

    before = retired()
    assert set(before) == {"max_age_ms", "max_length", "max_bytes", "acknowledged"}
    client.put("/streams/counted", json={"retention": {"max_length": 1}})
    append(client, "counted", 4)
    server.clock.advance(1_000)
    assert retired() == {**before, "max_length": before["max_length"] + 3}
