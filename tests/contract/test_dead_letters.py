"""Dead letters over HTTP, Server-Sent Events and the WebSocket: each way to an entry moves it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.contract.test_websocket import say
from tests.support.live_server import LiveServer, live_server
from tests.support.sse_client import open_tail

WITHIN_S = 60


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with live_server() as running:
        yield running


@pytest.fixture
def client(server: LiveServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{server.url}/v1", timeout=WITHIN_S) as opened:
        yield opened


@pytest.fixture
def key() -> str:
    return f"dead-letters:{time.monotonic_ns()}"


def post(client: httpx.Client, path: str, body: Any) -> Any:
    response = client.post(path, json=body)
    assert response.is_success, response.text
    return response.json()


def delivered(client: httpx.Client, key: str) -> str:
    """An entry that alice has, of a group that delivers each entry once."""
    client.put(f"/streams/{key}/groups/g", json={"after": "0", "create_stream": True})
    settings = {"max_deliveries": 1, "dead_letter_stream": f"{key}:dead"}
    post(client, f"/streams/{key}/groups/g:configure", settings)
    value: str = post(client, f"/streams/{key}/entries", {"fields": {"n": "1"}})["id"]
    post(client, "/read-group", {"group": "g", "consumer": "alice", "streams": [{"key": key}]})
    return value


def dead(client: httpx.Client, key: str) -> list[dict[str, str]]:
    """The fields of the dead letters; waits for the first one."""
    query = {"after": "0", "wait_ms": "30000"}
    entries = client.get(f"/streams/{key}:dead/entries", params=query).json()["entries"]
    return [entry["fields"] for entry in entries]


def letter(key: str, value: str) -> dict[str, str]:
    return {
        "n": "1",
        "_source_stream": key,
        "_source_id": value,
        "_group": "g",
        "_deliveries": "1",
        "_last_consumer": "alice",
        "_reason": "max_deliveries",
    }


@pytest.fixture
def socket(server: LiveServer) -> Iterator[ClientConnection]:
    with connect(server.websocket_url, subprotocols=[Subprotocol("tailrace.v1.json")]) as opened:
        opened.recv(timeout=WITHIN_S)
        yield opened


GROUP_READ = {"group": "g", "consumer": "bob", "claim_min_idle_ms": 0}


@pytest.mark.parametrize("way", ["read-group", ":claim", ":autoclaim", ":nack"])
def test_a_request_moves_the_entry(client: httpx.Client, key: str, way: str) -> None:
    value = delivered(client, key)
    path, body = {
        "read-group": ("/read-group", {**GROUP_READ, "streams": [{"key": key}]}),
        ":claim": (f"/streams/{key}/groups/g:claim", {"consumer": "bob", "min_idle_ms": 0, "ids": [value]}),
        ":autoclaim": (f"/streams/{key}/groups/g:autoclaim", {"consumer": "bob", "min_idle_ms": 0}),
        ":nack": (f"/streams/{key}/groups/g:nack", {"ids": [value], "mode": "fail"}),
    }[way]
    assert f"'id': '{value}'" not in str(post(client, path, body))
    assert dead(client, key) == [letter(key, value)]
    group = client.get(f"/streams/{key}/groups/g").json()
    assert (group["pending"], group["dead_letters"]) == (0, 1)
    assert client.get(f"/streams/{key}/groups").json() == {"groups": [group]}


def test_a_tail_moves_the_entry_and_delivers_what_follows(client: httpx.Client, key: str) -> None:
    value = delivered(client, key)
    url = f"{client.base_url}streams/{key}/entries:tail?group=g&consumer=bob&claim_min_idle_ms=0"
    with open_tail(url) as tail:
        assert dead(client, key) == [letter(key, value)]
        post(client, f"/streams/{key}/entries", {"fields": {"n": "2"}})
        assert [entry["fields"] for entry in tail.named("entries").data] == [{"n": "2"}]


def test_a_subscription_moves_the_entry(client: httpx.Client, key: str, socket: ClientConnection) -> None:
    value = delivered(client, key)
    say(socket, {"id": 1, "op": "consume", **GROUP_READ, "streams": [{"key": key}], "credit": {"entries": 9}})
    assert dead(client, key) == [letter(key, value)]


def test_a_nack_on_a_socket_moves_the_entry(client: httpx.Client, key: str, socket: ClientConnection) -> None:
    value = delivered(client, key)
    request = {"id": 1, "op": "nack", "key": key, "group": "g", "ids": [value], "mode": "fail"}
    assert say(socket, request)["ok"] == {"nacked": 1}
    assert dead(client, key) == [letter(key, value)]


def test_the_dead_letter_comes_back_as_a_new_entry(client: httpx.Client, key: str) -> None:
    value = delivered(client, key)
    post(client, f"/streams/{key}/groups/g:nack", {"ids": [value], "mode": "fatal"})
    path = f"/streams/{key}/groups/g:redrive"
    reply = post(client, path, {})
    assert (len(reply["redriven"]), reply["skipped"], reply["next"]) == (1, 0, None)
    entry = client.get(f"/streams/{key}/entries/{reply['redriven'][0]['new_id']}").json()
    assert entry["fields"] == {"n": "1"}
    assert client.post(path).json() == {"redriven": [], "skipped": 0, "next": None}
    assert post(client, path, {"ids": [value]})["skipped"] == 1


@pytest.mark.parametrize(
    ("action", "body", "status", "code"),
    [
        (":configure", {}, 400, "INVALID_ARGUMENT"),
        (":configure", {"max_deliveries": 0}, 422, "BODY_MISMATCH"),
        (":configure", {"max_deliveries": 2.5}, 422, "BODY_MISMATCH"),
        (":configure", {"max_deliveries": None}, 400, "INVALID_ARGUMENT"),
        (":configure", {"dead_letter_stream": ""}, 400, "INVALID_NAME"),
        (":configure", {"dead_letter_stream": "x" * 513}, 400, "INVALID_NAME"),
        (":configure", {"dead_letter_stream": "?", "encoding": "base64"}, 400, "INVALID_NAME"),
        (":configure", {"max_retries": 5}, 422, "BODY_MISMATCH"),
        (":redrive", {"limit": 0}, 422, "BODY_MISMATCH"),
        (":redrive", {"limit": 1_001}, 422, "BODY_MISMATCH"),
        (":redrive", {"ids": ["1-0"], "start": "0"}, 400, "INVALID_ARGUMENT"),
        (":redrive", {"ids": ["one"]}, 400, "INVALID_ID"),
    ],
)
def test_a_bad_request_is_refused_and_changes_nothing(
    client: httpx.Client, key: str, action: str, body: Any, status: int, code: str
) -> None:
    delivered(client, key)
    before = client.get(f"/streams/{key}/groups/g").json()
    refused = client.post(f"/streams/{key}/groups/g{action}", json=body)
    assert (refused.status_code, refused.json()["code"]) == (status, code), refused.text
    assert client.get(f"/streams/{key}/groups/g").json() == before


def test_settings_are_removed_with_null(client: httpx.Client, key: str) -> None:
    value = delivered(client, key)
    body = {"max_deliveries": None, "dead_letter_stream": None}
    group = post(client, f"/streams/{key}/groups/g:configure", body)
    assert "max_deliveries" not in group
    assert "dead_letter_stream" not in group
    claim = {"consumer": "bob", "min_idle_ms": 0, "ids": [value]}
    assert len(post(client, f"/streams/{key}/groups/g:claim", claim)["entries"]) == 1


def test_a_dead_letter_stream_may_have_any_name(client: httpx.Client, key: str) -> None:
    delivered(client, key)
    body = {"dead_letter_stream": "/w==", "encoding": "base64"}
    group = post(client, f"/streams/{key}/groups/g:configure", body)
    assert (group["dead_letter_stream"], group["encoding"]) == ("/w==", "base64")
