"""Request rates at a server: on the hot way and through the application, over a WebSocket, and for health."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from tests.support.server_process import ServerProcess, running_server
from tests.support.wire import Answer, Wire, request, wired

BURST = 20
APPEND = request("POST", "/v1/streams/rate/entries", b'{"fields":{"a":"b"}}')
DOCUMENTED_APPEND = request("POST", "/v1/streams/rate/entries", b'{"fields":{"a":"b"}}', "prefer: nothing")
REFUSED_APPEND = request("POST", "/v1/streams/rate/entries", b'{"fields":{"a":1}}')


@pytest.fixture
def rated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server of its own: buckets are emptied. They fill so slowly that no test sees it."""
    options = ("--requests-per-s", "1", "--request-burst", str(BURST), "--durability", "none")
    with running_server(tmp_path_factory.mktemp("rated"), *options) as process:
        yield process


@pytest.fixture
def wire(rated: ServerProcess) -> Iterator[Wire]:
    with wired(rated.port) as connection:
        yield connection


def remaining(answer: Answer) -> int:
    found = re.fullmatch(r'"requests";r=(\d+);t=\d+', answer.headers["ratelimit"])
    assert found
    return int(found[1])


def assert_too_many(answer: Answer) -> None:
    assert (answer.status, answer.problem["code"], answer.problem["retryable"]) == (429, "RATE_LIMITED", True)
    assert int(answer.headers["retry-after"]) == answer.problem["retry_after_s"] >= 1
    assert answer.problem["side_effects"] == "none"
    assert remaining(answer) == 0


def until_refused(wire: Wire, raw: bytes, status: int) -> int:
    """How often `raw` is answered with `status` before it is a 429."""
    for count in range(2 * BURST):
        answer = wire.ask(raw)
        assert answer.headers["ratelimit-policy"] == f'"requests";q={BURST};w={BURST}'
        if answer.status != status:
            assert_too_many(answer)
            return count
    raise AssertionError("nothing was refused")


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (APPEND, 201),
        (DOCUMENTED_APPEND, 201),
        (REFUSED_APPEND, 422),
        (request("GET", "/v1/streams"), 200),
        (request("GET", "/nowhere"), 404),
    ],
    ids=["hot", "documented", "hot, refused", "read", "nowhere"],
)
def test_a_burst_is_served_then_429_and_nothing_is_done(wire: Wire, raw: bytes, status: int) -> None:
    """A request that the hot way passes to the documented route is counted only once."""
    count = until_refused(wire, raw, status)
    # While the burst was sent the bucket may have gained a request or two.
    assert BURST <= count < 2 * BURST
    if status == 201:
        length = request("GET", "/v1/streams/rate/length")
        while (answer := wire.ask(length)).status == 429:
            pass
        assert json.loads(answer.body)["length"] == count


def test_every_answer_shows_the_quota_and_each_request_takes_one(wire: Wire) -> None:
    shown = [remaining(wire.ask(raw)) for raw in (APPEND, DOCUMENTED_APPEND, REFUSED_APPEND, APPEND)]
    assert all(before - 1 <= after <= before for before, after in pairwise(shown))
    assert shown[0] == BURST - 1
    assert shown[-1] < BURST - 1


def test_all_connections_of_an_address_share_its_quota(rated: ServerProcess) -> None:
    with wired(rated.port) as one, wired(rated.port) as other:
        until_refused(one, APPEND, 201)
        assert_too_many(other.ask(APPEND))


def test_health_is_answered_always(wire: Wire) -> None:
    until_refused(wire, APPEND, 201)
    for path in ("/healthz", "/readyz"):
        answer = wire.ask(request("GET", path))
        assert answer.status == 200
        assert "ratelimit" not in answer.headers


def test_messages_of_a_websocket_are_requests_and_so_is_its_handshake(rated: ServerProcess) -> None:
    url = f"ws://127.0.0.1:{rated.port}/v1/ws"
    with connect(url, subprotocols=[Subprotocol("tailrace.v1.json")], compression=None) as socket:
        socket.recv()
        pings = [{"id": number, "op": "ping"} for number in range(2 * BURST)]
        socket.send(json.dumps(pings))
        replies = json.loads(socket.recv())
        served = [reply for reply in replies if "ok" in reply]
        refused = [reply["error"] for reply in replies if "error" in reply]
        assert BURST - 1 <= len(served) <= BURST
        assert len(served) + len(refused) == len(pings)
        assert {(error["code"], error["status"]) for error in refused} == {("RATE_LIMITED", 429)}
        assert all(error["retry_after_s"] >= 1 for error in refused)
        with pytest.raises(InvalidStatus) as late:
            connect(url, compression=None).__enter__()
        assert late.value.response.status_code == 429
        assert int(late.value.response.headers["retry-after"]) >= 1


def test_without_a_rate_no_quota_is_shown(server: ServerProcess) -> None:
    with wired(server.port) as wire:
        for raw in (APPEND, DOCUMENTED_APPEND):
            answer = wire.ask(raw)
            assert answer.status == 201
            assert not {"ratelimit", "ratelimit-policy"} & set(answer.headers)
