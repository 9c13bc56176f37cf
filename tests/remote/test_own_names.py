"""The names that the gateway keeps for itself: refused on every way, and left out of every list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import httpx
import msgspec
import pytest
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from tailrace.app.remote.functions.names import RESERVED
from tests.support.engines import RedisOnPort, executable_of
from tests.support.live_gateway import LiveGateway, live_gateway
from tests.support.redis_server import required

OWN: Final = RESERVED.decode() + "mine"
QUOTED: Final = "%00tailrace:mine"
ENTRY: Final = {"fields": {"rider": "Castilla"}}
IDS: Final = {"ids": ["1-1"]}


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisOnPort]:
    executable = executable_of("redis-8.10.2")
    if executable is None and not required():
        pytest.skip("Redis 8.10.2 is not built")
    assert executable is not None
    with RedisOnPort(executable) as server:
        server.run("XADD", OWN, "1-1", "a", "b")
        server.run("XADD", "s", "1-1", "a", "b")
        server.run("XGROUP", "CREATE", "s", "g", "0")
        server.run("XGROUP", "CREATE", "s", OWN, "0")
        yield server


@pytest.fixture(scope="module")
def gateway(redis: RedisOnPort) -> Iterator[LiveGateway]:
    with live_gateway(redis.url) as running:
        yield running


@pytest.fixture(scope="module")
def client(gateway: LiveGateway) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=gateway.url) as client:
        yield client


def says_why(problem: Any) -> bool:
    said: str = problem["detail"]
    why = "name '\\0tailrace:mine' belongs to the gateway: choose a name that does not begin with a zero byte"
    return problem["code"] == "INVALID_ARGUMENT" and f"{why} and 'tailrace:'" in said


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", f"streams/{QUOTED}", None),
        ("PUT", f"streams/{QUOTED}", {}),
        ("DELETE", f"streams/{QUOTED}", None),
        ("POST", f"streams/{QUOTED}/entries", ENTRY),
        ("POST", f"streams/{QUOTED}/entries:batch", {"entries": [ENTRY, ENTRY]}),
        ("GET", f"streams/{QUOTED}/entries", None),
        ("POST", f"streams/{QUOTED}/entries:trim", {"max_length": 1}),
        ("GET", f"streams/{QUOTED}/groups", None),
        ("POST", "read", {"streams": [{"key": OWN, "after": "0"}]}),
        ("POST", "read", {"streams": [{"key": OWN, "after": "$"}], "wait_ms": 20_000}),
        ("POST", "read-group", {"group": OWN, "consumer": "c", "streams": [{"key": "s", "id": ">"}]}),
        ("POST", "read-group", {"group": "g", "consumer": OWN, "streams": [{"key": "s", "id": ">"}]}),
        ("PUT", f"streams/s/groups/{QUOTED}", {}),
        ("DELETE", f"streams/s/groups/{QUOTED}", None),
        ("POST", f"streams/s/groups/{QUOTED}:ack", IDS),
        ("DELETE", f"streams/s/groups/g/consumers/{QUOTED}", None),
    ],
    ids=str,
)
def test_a_request_with_a_name_of_the_gateway_is_a_400_that_says_so(
    client: httpx.Client, method: str, path: str, body: object
) -> None:
    refused = client.request(method, f"/v1/{path}", json=body)
    assert refused.status_code == 400, refused.text
    assert says_why(refused.json())


COMMANDS: Final = (
    ("XADD", OWN, "*", "a", "b"),
    ("XLEN", OWN),
    ("XREAD", "STREAMS", OWN, "0"),
    ("XREAD", "STREAMS", "s", OWN, "0", "0"),
    ("XINFO", "STREAM", OWN),
    ("XGROUP", "DESTROY", "s", OWN),
    ("DEL", "s", OWN),
    ("EXISTS", "s", OWN),
    ("RENAME", OWN, "t"),
    ("RENAME", "s", OWN),
    ("COPY", OWN, "t"),
    ("COPY", "s", OWN),
)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: f"{words[0]}-{words.index(OWN)}")
def test_a_command_with_a_name_of_the_gateway_is_refused(
    redis: RedisOnPort, client: httpx.Client, words: tuple[str, ...]
) -> None:
    refused = client.post("/v1/command", json=words)
    assert refused.status_code == 400, refused.text
    assert says_why(refused.json())
    assert redis.run("XLEN", OWN) == redis.run("XLEN", "s") == 1


@pytest.mark.parametrize("path", ["pipeline", "multi-exec"])
def test_among_others_such_a_command_is_refused_alone(client: httpx.Client, path: str) -> None:
    answers = client.post(f"/v1/command/{path}", json=[["XLEN", "s"], ["XLEN", OWN], ["XLEN", "s"]]).json()
    assert [each.get("result") for each in answers] == [1, None, 1]
    assert "belongs to the gateway" in str(answers[1])


def test_a_websocket_refuses_such_a_command(gateway: LiveGateway) -> None:
    with connect(gateway.websocket_url, subprotocols=[Subprotocol("tailrace.v1.json")]) as connection:
        connection.recv(timeout=5)
        connection.send(msgspec.json.encode({"id": 1, "op": "command", "command": ["XLEN", OWN]}).decode())
        assert "belongs to the gateway" in str(msgspec.json.decode(connection.recv(timeout=5)))


def test_lists_counts_and_metrics_leave_the_names_of_the_gateway_out(client: httpx.Client) -> None:
    def result(*words: str) -> Any:
        return client.post("/v1/command", json=words).json()["result"]

    assert [each["key"] for each in client.get("/v1/streams").json()["streams"]] == ["s"]
    assert result("KEYS", "*") == ["s"]
    assert result("SCAN", "0", "COUNT", "1000")[1] == ["s"]
    assert result("DBSIZE") == 1
    assert result("KEYS", f"{OWN}*") == []
    assert [each["name"] for each in client.get("/v1/streams/s/groups").json()["groups"]] == ["g"]
    assert "tailrace:mine" not in client.get("/metrics").text
