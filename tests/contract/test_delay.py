"""Delays over HTTP, Server-Sent Events and the WebSocket: appends, lists, cancellations, nacks and
backoff."""

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
WAIT_MS = 30_000
SOON_MS = 150
LATER_MS = 3_600_000


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
    return f"delay:{time.monotonic_ns()}"


@pytest.fixture
def socket(server: LiveServer) -> Iterator[ClientConnection]:
    url = f"{server.url.replace('http', 'ws')}/v1/ws"
    with connect(url, subprotocols=[Subprotocol("tailrace.v1.json")]) as opened:
        opened.recv(timeout=WITHIN_S)
        yield opened


def post(client: httpx.Client, path: str, body: Any, status: int | None = None, **headers: str) -> Any:
    response = client.post(path, json=body, headers=headers)
    assert response.is_success if status is None else response.status_code == status, response.text
    return response.json()


def later(client: httpx.Client, key: str, delay_ms: int = LATER_MS, **members: Any) -> Any:
    body = {"fields": {"n": "1"}, "delay_ms": delay_ms, **members}
    return post(client, f"/streams/{key}/entries", body, 202)


def scheduled(client: httpx.Client, key: str, **query: Any) -> Any:
    return client.get(f"/streams/{key}/scheduled", params=query).json()


def left_by_alice(client: httpx.Client, key: str, **settings: Any) -> str:
    """An entry that alice has read, of a group with these settings."""
    client.put(f"/streams/{key}/groups/g", json={"after": "0", "create_stream": True})
    if settings:
        post(client, f"/streams/{key}/groups/g:configure", settings)
    value: str = post(client, f"/streams/{key}/entries", {"fields": {"n": "1"}})["id"]
    post(client, "/read-group", {"group": "g", "consumer": "alice", "streams": [{"key": key}]})
    return value


def nack(client: httpx.Client, key: str, value: str, **members: Any) -> Any:
    return post(client, f"/streams/{key}/groups/g:nack", {"ids": [value], **members})


def read(client: httpx.Client, key: str, **members: Any) -> list[Any]:
    """What bob gets by a read that claims what has no owner."""
    body = {"group": "g", "consumer": "bob", "streams": [{"key": key}], "claim_min_idle_ms": 1 << 40}
    entries: list[Any] = post(client, "/read-group", {**body, **members})["streams"][0]["entries"]
    return entries


# --- appends ---------------------------------------------------------------------------------


def test_a_delayed_entry_is_not_visible_before_its_time(client: httpx.Client, key: str) -> None:
    later(client, key)
    assert client.get(f"/streams/{key}/length").json() == {"length": 0}
    assert client.get(f"/streams/{key}").json()["scheduled"] == 1


def test_a_waiting_read_gets_a_delayed_entry_at_its_time(client: httpx.Client, key: str) -> None:
    before_ms = int(time.time() * 1000)
    reply = later(client, key, SOON_MS)
    assert reply["deliver_at_ms"] >= before_ms + SOON_MS
    page = client.get(f"/streams/{key}/entries", params={"after": "0", "wait_ms": WAIT_MS}).json()
    [entry] = page["entries"]
    assert entry["fields"] == {"n": "1"}
    assert int(entry["id"].split("-")[0]) >= reply["deliver_at_ms"]
    assert "scheduled" not in client.get(f"/streams/{key}").json()


def test_a_tail_gets_a_delayed_entry(client: httpx.Client, key: str) -> None:
    with open_tail(f"{client.base_url}streams/{key}/entries:tail?after=0") as tail:
        later(client, key, SOON_MS)
        assert [entry["fields"] for entry in tail.named("entries").data] == [{"n": "1"}]


def test_a_time_in_the_past_is_due_at_once(client: httpx.Client, key: str) -> None:
    body = {"pairs": [["n", "1"], ["n", "2"]], "deliver_at_ms": 5}
    post(client, f"/streams/{key}/entries", body, 202)
    page = client.get(f"/streams/{key}/entries", params={"after": "0", "wait_ms": WAIT_MS}).json()
    assert page["entries"][0]["pairs"] == [["n", "1"], ["n", "2"]]


def test_the_entries_of_a_batch_come_together(client: httpx.Client, key: str) -> None:
    entries = [{"fields": {"n": str(number)}} for number in range(3)]
    reply = post(client, f"/streams/{key}/entries:batch", {"entries": entries, "delay_ms": SOON_MS}, 202)
    assert reply["count"] == len(set(reply["scheduled_ids"])) == 3
    body = {"streams": [{"key": key, "after": "0"}], "wait_ms": WAIT_MS}
    found = post(client, "/read", body)["streams"][0]["entries"]
    assert [entry["fields"]["n"] for entry in found] == ["0", "1", "2"]


def test_a_socket_appends_later(socket: ClientConnection, client: httpx.Client, key: str) -> None:
    request = {"op": "append", "key": key, "fields": {"n": "1"}}
    ok = say(socket, {"id": 1, **request, "delay_ms": LATER_MS})["ok"]
    assert scheduled(client, key)["scheduled"] == [{**ok, "fields": {"n": "1"}}]
    refused = say(socket, {"id": 2, **request, "delay_ms": 1, "entry_id": "1-1"})["error"]
    assert refused["code"] == "INVALID_ARGUMENT"
    missing = say(socket, {"id": 3, **request, "key": f"{key}:no", "deliver_at_ms": 1, "nomkstream": True})
    assert missing["error"]["code"] == "NO_SUCH_STREAM"


def test_a_repeated_key_returns_the_first_scheduled_id(client: httpx.Client, key: str) -> None:
    headers = {"Idempotency-Key": "k", "Producer-Id": "p"}
    body = {"fields": {"n": "1"}, "delay_ms": LATER_MS}
    path = f"/streams/{key}/entries"
    first, again = (client.post(path, json=body, headers=headers) for _ in range(2))
    assert (first.status_code, again.status_code, again.json()) == (202, 202, first.json())
    assert ("Idempotent-Replayed" in first.headers, again.headers["Idempotent-Replayed"]) == (False, "true")
    assert len(scheduled(client, key)["scheduled"]) == 1
    other = client.post(path, json={"fields": {"n": "1"}}, headers=headers)
    assert (other.status_code, other.json()["code"]) == (422, "IDEMPOTENCY_MISMATCH")
    epoch = client.post(path, json=body, headers={**headers, "Producer-Epoch": "1"})
    assert (epoch.status_code, epoch.json()["code"]) == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize(
    ("members", "status", "code", "words"),
    [
        ({"delay_ms": 1, "deliver_at_ms": 1}, 400, "INVALID_ARGUMENT", "exclude each other"),
        ({"delay_ms": 1, "id": "1-1"}, 400, "INVALID_ARGUMENT", "`id` cannot be used with `delay_ms`"),
        ({"deliver_at_ms": 1, "if_last_id": "0-0"}, 400, "INVALID_ARGUMENT", "`if_last_id` cannot be used"),
        ({"delay_ms": 1, "trim": {"max_length": 1}}, 400, "INVALID_ARGUMENT", "`trim` cannot be used"),
        ({"delay_ms": 1 << 50}, 400, "INVALID_ARGUMENT", "31622400000"),
        ({"delay_ms": 1, "nomkstream": True}, 404, "NO_SUCH_STREAM", ""),
        ({"delay_ms": -1}, 422, "BODY_MISMATCH", "delay_ms"),
        ({"delay_ms": "10s"}, 422, "BODY_MISMATCH", "delay_ms"),
        ({"deliver_at_ms": 1.5}, 422, "BODY_MISMATCH", "deliver_at_ms"),
    ],
)
def test_a_delay_that_makes_no_sense_is_refused_and_changes_nothing(
    client: httpx.Client, key: str, members: dict[str, Any], status: int, code: str, words: str
) -> None:
    response = client.post(f"/streams/{key}/entries", json={"fields": {"n": "1"}, **members})
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert words in response.text
    assert client.head(f"/streams/{key}").status_code == 404


# --- list and cancel -------------------------------------------------------------------------


def test_the_list_has_pages_in_the_order_of_the_times(client: httpx.Client, key: str) -> None:
    far, near = later(client, key, 2 * LATER_MS, fields={"n": "2"}), later(client, key)
    page = scheduled(client, key, limit=1)
    assert page == {"scheduled": [{**near, "fields": {"n": "1"}}], "next": near["scheduled_id"]}
    page = scheduled(client, key, limit=1, after=page["next"], shape="pairs")
    assert page == {"scheduled": [{**far, "pairs": [["n", "2"]]}], "next": None}


def test_a_cancelled_entry_is_gone_and_a_second_cancellation_says_so(client: httpx.Client, key: str) -> None:
    path = f"/streams/{key}/scheduled/{later(client, key)['scheduled_id']}"
    assert client.delete(path).status_code == 204
    assert scheduled(client, key) == {"scheduled": [], "next": None}
    again = client.delete(path)
    assert (again.status_code, again.json()["code"]) == (404, "NO_SUCH_ENTRY")


def test_wrong_ids_and_missing_streams_are_named(client: httpx.Client, key: str) -> None:
    later(client, key)
    wrong = client.delete(f"/streams/{key}/scheduled/1-1")
    assert (wrong.status_code, wrong.json()["code"], wrong.json()["given"]) == (400, "INVALID_ID", "1-1")
    assert client.get(f"/streams/{key}/scheduled", params={"after": "x"}).json()["code"] == "INVALID_ID"
    for response in (client.get("/streams/none/scheduled"), client.delete("/streams/none/scheduled/s1-1")):
        assert (response.status_code, response.json()["code"]) == (404, "NO_SUCH_STREAM")


# --- nacks and backoff -----------------------------------------------------------------------


def test_a_waiting_claim_gets_a_delayed_entry_at_its_time(client: httpx.Client, key: str) -> None:
    value = left_by_alice(client, key)
    before_ms = int(time.time() * 1000)
    assert nack(client, key, value, delay_ms=SOON_MS) == {"nacked": 1}
    [entry] = read(client, key, wait_ms=WAIT_MS)
    assert (entry["id"], entry["deliveries"]) == (value, 1)
    assert int(time.time() * 1000) >= before_ms + SOON_MS


def test_no_request_claims_a_delayed_entry_and_a_nack_without_delay_ends_it(
    client: httpx.Client, key: str
) -> None:
    value = left_by_alice(client, key)
    before_ms = int(time.time() * 1000)
    nack(client, key, value, delay_ms=LATER_MS)
    [item] = client.get(f"/streams/{key}/groups/g/pending").json()["pending"]
    assert item["consumer"] is None
    assert before_ms + LATER_MS <= item["claimable_at_ms"] <= int(time.time() * 1000) + LATER_MS
    assert read(client, key, claim_min_idle_ms=0) == []
    group = f"/streams/{key}/groups/g"
    assert post(client, f"{group}:claim", {"consumer": "bob", "min_idle_ms": 0, "ids": [value]}) == {
        "entries": []
    }
    assert post(client, f"{group}:autoclaim", {"consumer": "bob", "min_idle_ms": 0})["entries"] == []
    nack(client, key, value, delay_ms=0)
    assert [entry["id"] for entry in read(client, key)] == [value]
    far = client.post(f"{group}:nack", json={"ids": [value], "delay_ms": 1 << 50})
    assert (far.status_code, far.json()["code"]) == (400, "INVALID_ARGUMENT")


def test_a_socket_nacks_with_a_delay(socket: ClientConnection, client: httpx.Client, key: str) -> None:
    value = left_by_alice(client, key)
    request = {"id": 1, "op": "nack", "key": key, "group": "g", "ids": [value], "delay_ms": LATER_MS}
    assert say(socket, request)["ok"] == {"nacked": 1}
    assert read(client, key) == []


def test_a_backoff_delays_a_nack_is_shown_and_is_removed(client: httpx.Client, key: str) -> None:
    value = left_by_alice(client, key, backoff={"initial_ms": LATER_MS, "max_ms": 2 * LATER_MS})
    group = f"/streams/{key}/groups/g"
    shown = {"initial_ms": LATER_MS, "factor": 2.0, "max_ms": 2 * LATER_MS}
    assert client.get(group).json()["backoff"] == shown
    nack(client, key, value)
    assert read(client, key) == []
    nack(client, key, value, mode="silent")
    assert [entry["id"] for entry in read(client, key)] == [value]
    assert "backoff" not in post(client, f"{group}:configure", {"backoff": None})
    nack(client, key, value)
    assert [entry["id"] for entry in read(client, key)] == [value]


@pytest.mark.parametrize(
    ("backoff", "status", "words"),
    [
        ({"initial_ms": 5_000, "max_ms": 1_000}, 400, "at least initial_ms, 5000"),
        ({"factor": 2}, 422, "initial_ms"),
        ({"initial_ms": 0}, 422, "initial_ms"),
        ({"initial_ms": 1, "factor": 0.5}, 422, "factor"),
    ],
)
def test_a_backoff_that_makes_no_sense_is_refused(
    client: httpx.Client, key: str, backoff: dict[str, Any], status: int, words: str
) -> None:
    left_by_alice(client, key)
    response = client.post(f"/streams/{key}/groups/g:configure", json={"backoff": backoff})
    assert response.status_code == status
    assert words in response.text
