"""Order by key over HTTP, Server-Sent Events and the WebSocket: waiting readers get what becomes free."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from websockets.sync.client import ClientConnection

from tailrace.core.limits import HELD_ENTRIES_MAX, KEYS_IN_FLIGHT_MAX, ORDERED_ENTRIES_MAX
from tests.contract.test_dead_letters import client, key, post, server, socket  # noqa: F401 - fixtures
from tests.contract.test_websocket import say
from tests.support.sse_client import open_tail

WAIT_MS = 30_000


def ordered(client: httpx.Client, key: str, values: str) -> list[str]:  # noqa: F811
    """A group that delivers in order by `k`, and an entry for each letter. Returns the ids."""
    client.put(f"/streams/{key}/groups/g", json={"after": "0", "create_stream": True})
    post(client, f"/streams/{key}/groups/g:configure", {"order_by": "k"})
    entries = [{"fields": {"k": value}} for value in values]
    made = post(client, f"/streams/{key}/entries:batch", {"entries": entries})
    found = client.get(f"/streams/{key}/entries").json()["entries"]
    assert len(found) == made["count"]
    return [entry["id"] for entry in found]


def read(client: httpx.Client, key: str, **more: Any) -> list[str]:  # noqa: F811
    body = {"group": "g", "consumer": "alice", "streams": [{"key": key}], **more}
    streams = post(client, "/read-group", body)["streams"]
    return [entry["id"] for stream in streams for entry in stream["entries"]]


def ack(client: httpx.Client, key: str, value: str) -> None:  # noqa: F811
    assert post(client, f"/streams/{key}/groups/g:ack", {"ids": [value]}) == {"acknowledged": 1}


def test_the_group_shows_what_is_held_and_in_flight(client: httpx.Client, key: str) -> None:  # noqa: F811
    ids = ordered(client, key, "aab")
    assert read(client, key) == [ids[0], ids[2]]
    group = client.get(f"/streams/{key}/groups/g").json()
    assert (group["order_by"], group["held"], group["keys_in_flight"], group["lag"]) == ("k", 1, 2, 1)
    [listed] = client.get(f"/streams/{key}/groups").json()["groups"]
    assert listed | {"lag_ms": 0} == group | {"lag_ms": 0}
    removed = post(client, f"/streams/{key}/groups/g:configure", {"order_by": None})
    assert "order_by" not in removed
    assert (removed["held"], removed["keys_in_flight"]) == (1, 0)
    assert read(client, key) == [ids[1]]
    group = client.get(f"/streams/{key}/groups/g").json()
    assert {"order_by", "held", "keys_in_flight"}.isdisjoint(group)


def test_a_waiting_read_gets_the_next_entry_of_a_key_that_becomes_free(
    client: httpx.Client,  # noqa: F811
    key: str,  # noqa: F811
) -> None:
    first, second = ordered(client, key, "aa")
    assert read(client, key) == [first]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(read, client, key, consumer="bob", wait_ms=WAIT_MS)
        while "bob" not in str(client.get(f"/streams/{key}/groups/g/consumers").json()):
            pass
        ack(client, key, first)
        assert waiting.result() == [second]


def test_a_tail_gets_the_next_entry_of_a_key_that_becomes_free(client: httpx.Client, key: str) -> None:  # noqa: F811
    first, second = ordered(client, key, "aa")
    with open_tail(f"{client.base_url}streams/{key}/entries:tail?group=g&consumer=bob") as tail:
        assert [entry["id"] for entry in tail.named("entries").data] == [first]
        ack(client, key, first)
        assert [entry["id"] for entry in tail.named("entries").data] == [second]


def test_a_subscription_gets_the_next_entry_of_a_key_that_becomes_free(
    client: httpx.Client,  # noqa: F811
    key: str,  # noqa: F811
    socket: ClientConnection,  # noqa: F811
) -> None:
    first, second = ordered(client, key, "aa")
    request = {"id": 1, "op": "consume", "group": "g", "consumer": "bob", "streams": [{"key": key}]}
    assert "ok" in say(socket, {**request, "credit": {"entries": 9}})
    for value in (first, second):
        pushed = say(socket, {"id": 2, "op": "ping"})
        while "entries" not in pushed:
            pushed = say(socket, {"id": 2, "op": "ping"})
        assert [entry["id"] for entry in pushed["entries"]] == [value]
        ack(client, key, value)


def test_a_redis_command_obeys_the_order(client: httpx.Client, key: str) -> None:  # noqa: F811
    first, second = ordered(client, key, "aa")
    words = ["XREADGROUP", "GROUP", "g", "bob", "STREAMS", key, ">"]
    assert post(client, "/command", words)["result"] == [[key, [[first, ["k", "a"]]]]]
    assert post(client, "/command", words)["result"] is None
    assert post(client, "/command", ["XACK", key, "g", first])["result"] == 1
    assert post(client, "/command", words)["result"] == [[key, [[second, ["k", "a"]]]]]


@pytest.mark.parametrize("value", ["", "x" * 513, 7])
def test_a_name_that_no_field_can_have_is_refused(client: httpx.Client, key: str, value: Any) -> None:  # noqa: F811
    ordered(client, key, "a")
    refused = client.post(f"/streams/{key}/groups/g:configure", json={"order_by": value})
    assert (refused.status_code, refused.json()["code"]) == (422, "BODY_MISMATCH")
    assert client.get(f"/streams/{key}/groups/g").json()["order_by"] == "k"


def test_the_limits_are_shown(client: httpx.Client) -> None:  # noqa: F811
    limits = client.get("/limits").json()
    names = ("held_entries_max", "keys_in_flight_max", "ordered_entries_max")
    assert tuple(map(limits.get, names)) == (HELD_ENTRIES_MAX, KEYS_IN_FLIGHT_MAX, ORDERED_ENTRIES_MAX)
