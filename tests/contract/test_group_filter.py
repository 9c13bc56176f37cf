"""The filter of a group at a running server: over REST, commands, Server-Sent Events and the WebSocket, and
after a kill."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from tests.contract.test_websocket import hear, say
from tests.support.live_server import LiveServer, live_server
from tests.support.server_process import running_server
from tests.support.sse_client import open_tail

WITHIN_S = 60
MANY = 3_000
LAST = [str(MANY - 1), str(MANY)]


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with live_server() as running:
        yield running


@pytest.fixture
def client(server: LiveServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{server.url}/v1", timeout=WITHIN_S) as opened:
        yield opened


@pytest.fixture
def key(client: httpx.Client) -> str:
    """A stream of MANY numbers, whose group delivers the last two only."""
    name = f"group-filter:{time.monotonic_ns()}"
    filled(client, name)
    return name


def filled(client: httpx.Client, key: str) -> None:
    client.put(f"/streams/{key}/groups/g", json={"after": "0", "create_stream": True})
    lines = "\n".join(f'{{"n":"{number}"}}' for number in range(1, MANY + 1))
    headers = {"Content-Type": "application/x-ndjson"}
    assert client.post(f"/streams/{key}/entries:import", content=lines, headers=headers).is_success
    settings = {"filter": f"int(fields.n) >= {MANY - 1}"}
    response = client.post(f"/streams/{key}/groups/g:configure", json=settings)
    assert response.json()["filter"] == settings["filter"]


def read(client: httpx.Client, key: str, **more: Any) -> list[str]:
    body = {"group": "g", "consumer": "alice", "streams": [{"key": key}], **more}
    [stream] = client.post("/read-group", json=body).json()["streams"]
    return [entry["fields"]["n"] for entry in stream["entries"]]


def pending_and_lag(client: httpx.Client, key: str) -> tuple[int, int]:
    group = client.get(f"/streams/{key}/groups/g").json()
    return group["pending"], group["lag"]


@pytest.mark.parametrize("wait", [{}, {"wait_ms": 30_000}])
def test_a_read_delivers_what_matches_behind_many_others(
    client: httpx.Client, key: str, wait: dict[str, int]
) -> None:
    assert read(client, key, **wait) == LAST
    assert pending_and_lag(client, key) == (2, 0)


def test_a_command_delivers_what_matches(client: httpx.Client, key: str) -> None:
    words = ["XREADGROUP", "GROUP", "g", "alice", "STREAMS", key, ">"]
    [[_, entries]] = client.post("/command", json=words).json()["result"]
    assert [fields[1] for _, fields in entries] == LAST


def test_a_tail_delivers_what_matches(client: httpx.Client, key: str, server: LiveServer) -> None:
    url = f"{server.url}/v1/streams/{key}/entries:tail?group=g&consumer=alice"
    with open_tail(url) as tail:
        assert [entry["fields"]["n"] for entry in tail.next().data] == LAST
    assert pending_and_lag(client, key) == (2, 0)


def test_a_socket_delivers_what_matches_and_uses_credit_only_for_that(
    client: httpx.Client, key: str, server: LiveServer
) -> None:
    with connect(server.websocket_url, subprotocols=[Subprotocol("tailrace.v1.json")]) as socket:
        socket.recv(timeout=WITHIN_S)
        consume = {"op": "consume", "group": "g", "consumer": "alice", "streams": [{"key": key}], "credit": 2}
        say(socket, {"id": 1, **consume})
        push = hear(socket)
        assert [entry["fields"]["n"] for entry in push["entries"]] == LAST
    assert pending_and_lag(client, key) == (2, 0)


def test_a_bad_filter_is_refused(client: httpx.Client, key: str) -> None:
    response = client.post(f"/streams/{key}/groups/g:configure", json={"filter": "fields.n = 1"})
    assert (response.status_code, response.json()["code"]) == (400, "INVALID_FILTER")
    assert read(client, key) == LAST


def test_the_filter_and_the_position_survive_a_kill(tmp_path: Path) -> None:
    with running_server(tmp_path) as server, httpx.Client(base_url=f"{server.base_url}/v1") as client:
        filled(client, "s")
        assert read(client, "s", count=1) == LAST[:1]
        server.kill()
    with running_server(tmp_path) as server, httpx.Client(base_url=f"{server.base_url}/v1") as client:
        assert pending_and_lag(client, "s") == (1, 1)
        assert read(client, "s", wait_ms=10_000) == LAST[1:]
        client.post("/streams/s/entries", json={"fields": {"n": "1"}})
        assert read(client, "s") == []
        assert pending_and_lag(client, "s") == (2, 0)
