"""Leases over HTTP, Server-Sent Events and the WebSocket: claims by the group's setting, and heartbeats.

Also reads that gather entries (`min_count`).
"""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from websockets.sync.client import ClientConnection

from tests.contract.test_dead_letters import client, key, post, server, socket  # noqa: F401 - fixtures
from tests.contract.test_websocket import hear, say
from tests.support.sse_client import open_tail

WAIT_MS = 30_000


def left_by_alice(client: httpx.Client, key: str, **settings: Any) -> str:  # noqa: F811
    """An entry that alice has read and left, of a group with these settings."""
    client.put(f"/streams/{key}/groups/g", json={"after": "0", "create_stream": True})
    post(client, f"/streams/{key}/groups/g:configure", settings)
    value: str = post(client, f"/streams/{key}/entries", {"fields": {"n": "1"}})["id"]
    post(client, "/read-group", {"group": "g", "consumer": "alice", "streams": [{"key": key}]})
    return value


def test_a_waiting_read_gets_an_entry_that_comes_due(client: httpx.Client, key: str) -> None:  # noqa: F811
    value = left_by_alice(client, key, claim_min_idle_ms=150)
    body = {"group": "g", "consumer": "bob", "streams": [{"key": key}], "wait_ms": WAIT_MS}
    [entry] = post(client, "/read-group", body)["streams"][0]["entries"]
    assert (entry["id"], entry["deliveries"]) == (value, 1)
    assert entry["idle_ms"] >= 150


def test_a_tail_gets_an_entry_that_comes_due(client: httpx.Client, key: str) -> None:  # noqa: F811
    value = left_by_alice(client, key, claim_min_idle_ms=150)
    with open_tail(f"{client.base_url}streams/{key}/entries:tail?group=g&consumer=bob") as tail:
        assert [entry["id"] for entry in tail.named("entries").data] == [value]


def test_a_subscription_gets_an_entry_that_comes_due(
    client: httpx.Client,  # noqa: F811
    key: str,  # noqa: F811
    socket: ClientConnection,  # noqa: F811
) -> None:
    value = left_by_alice(client, key, claim_min_idle_ms=150)
    request = {"id": 1, "op": "consume", "group": "g", "consumer": "bob", "streams": [{"key": key}]}
    assert "ok" in say(socket, {**request, "credit": {"entries": 9}})
    pushed = say(socket, {"id": 2, "op": "ping"})
    while "entries" not in pushed:
        pushed = say(socket, {"id": 2, "op": "ping"})
    assert [entry["id"] for entry in pushed["entries"]] == [value]


def test_a_setting_applies_to_readers_that_wait_already(
    client: httpx.Client,  # noqa: F811
    key: str,  # noqa: F811
) -> None:
    value = left_by_alice(client, key, claim_min_idle_ms=3_600_000)
    with open_tail(f"{client.base_url}streams/{key}/entries:tail?group=g&consumer=bob") as tail:
        post(client, f"/streams/{key}/groups/g:configure", {"claim_min_idle_ms": 1})
        assert [entry["id"] for entry in tail.named("entries").data] == [value]


def test_a_heartbeat_names_what_the_consumer_lost(
    client: httpx.Client,  # noqa: F811
    key: str,  # noqa: F811
    socket: ClientConnection,  # noqa: F811
) -> None:
    value = left_by_alice(client, key, claim_min_idle_ms=3_600_000)
    path, body = f"/streams/{key}/groups/g:extend", {"consumer": "alice", "ids": [value, "7-0"]}
    kept = {"extended": [value], "lost": ["7-0"]}
    assert post(client, path, body) == kept
    assert say(socket, {"id": 1, "op": "extend", "key": key, "group": "g", **body})["ok"] == kept
    lost = {"id": 2, "op": "extend", "key": key, "group": "none", **body}
    assert say(socket, lost)["error"]["code"] == "NOGROUP"
    post(client, f"/streams/{key}/groups/g:claim", {"consumer": "bob", "min_idle_ms": 0, "ids": [value]})
    assert post(client, path, body) == {"extended": [], "lost": [value, "7-0"]}
    encoded = {"consumer": "Ym9i", "encoding": "base64", "ids": [value]}
    assert post(client, path, encoded) == {"extended": [value], "lost": []}


@pytest.mark.parametrize(
    ("action", "body", "status", "code"),
    [
        (":configure", {"claim_min_idle_ms": 0}, 422, "BODY_MISMATCH"),
        (":configure", {"claim_min_idle_ms": -1}, 422, "BODY_MISMATCH"),
        (":configure", {"claim_min_idle_ms": 1.5}, 422, "BODY_MISMATCH"),
        (":configure", {"claim_min_idle_ms": 1 << 63}, 422, "BODY_MISMATCH"),
        (":configure", {"consumer_expiry_ms": 4_999}, 422, "BODY_MISMATCH"),
        (":configure", {"consumer_expiry_ms": "5000"}, 422, "BODY_MISMATCH"),
        (":extend", {"consumer": "alice", "ids": []}, 422, "BODY_MISMATCH"),
        (":extend", {"ids": ["1-0"]}, 422, "BODY_MISMATCH"),
        (":extend", {"consumer": "", "ids": ["1-0"]}, 400, "INVALID_NAME"),
        (":extend", {"consumer": "alice", "ids": ["one"]}, 400, "INVALID_ID"),
    ],
)
def test_a_bad_request_is_refused_and_changes_nothing(
    client: httpx.Client,  # noqa: F811
    key: str,  # noqa: F811
    action: str,
    body: Any,
    status: int,
    code: str,
) -> None:
    left_by_alice(client, key, claim_min_idle_ms=60_000, consumer_expiry_ms=(1 << 63) - 1)
    before = client.get(f"/streams/{key}/groups/g").json()
    refused = client.post(f"/streams/{key}/groups/g{action}", json=body)
    assert (refused.status_code, refused.json()["code"]) == (status, code), refused.text
    assert client.get(f"/streams/{key}/groups/g").json() == before
    assert (before["claim_min_idle_ms"], before["consumer_expiry_ms"]) == (60_000, (1 << 63) - 1)


@pytest.mark.parametrize("path", ["/read", "/read-group"])
def test_a_read_gathers_what_arrives_while_it_lingers(
    client: httpx.Client,  # noqa: F811
    key: str,  # noqa: F811
    path: str,
) -> None:
    client.put(f"/streams/{key}/groups/g", json={"after": "0", "create_stream": True})
    post(client, f"/streams/{key}/entries:batch", {"entries": [{"fields": {"n": "1"}}] * 2})
    who = {"streams": [{"key": key, "after": "0"}]}
    if path == "/read-group":
        who = {"group": "g", "consumer": "bob", "streams": [{"key": key}]}  # type: ignore[dict-item]
    bounds = {"wait_ms": WAIT_MS, "min_count": 3, "linger_ms": 20}
    assert len(post(client, path, {**who, **bounds})["streams"][0]["entries"]) == 2
    if path == "/read-group":
        assert post(client, path, {**who, **bounds, "wait_ms": 20})["streams"][0]["entries"] == []
    post(client, f"/streams/{key}/entries", {"fields": {"n": "1"}})
    capped = {**bounds, "count": 1, "linger_ms": WAIT_MS}
    assert len(post(client, path, {**who, **capped})["streams"][0]["entries"]) == 1


@pytest.mark.parametrize("bounds", [{}, {"min_count": 2}, {"claim_min_idle_ms": 60_000}])
def test_a_group_read_that_waits_in_vain_says_where_the_group_is(
    client: httpx.Client,  # noqa: F811
    key: str,  # noqa: F811
    bounds: Any,
) -> None:
    last: str = post(client, f"/streams/{key}/entries", {"fields": {"n": "1"}})["id"]
    client.put(f"/streams/{key}/groups/g", json={"after": "$"})
    body = {"group": "g", "consumer": "bob", "streams": [{"key": key}], "wait_ms": 10, **bounds}
    assert post(client, "/read-group", body)["streams"] == [{"key": key, "entries": [], "next": last}]


def test_a_push_of_a_claimed_entry_says_where_the_group_is(
    client: httpx.Client,  # noqa: F811
    key: str,  # noqa: F811
    socket: ClientConnection,  # noqa: F811
) -> None:
    client.put(f"/streams/{key}/groups/g", json={"after": "0", "create_stream": True})
    entries = {"entries": [{"fields": {"n": "1"}}] * 2}
    first, last = post(client, f"/streams/{key}/entries:batch?ids=true", entries)["ids"]
    post(client, "/read-group", {"group": "g", "consumer": "alice", "streams": [{"key": key}]})
    post(client, f"/streams/{key}/groups/g:ack", {"ids": [last]})
    request = {"id": 1, "op": "consume", "group": "g", "consumer": "bob", "streams": [{"key": key}]}
    say(socket, {**request, "credit": {"entries": 9}, "claim_min_idle_ms": 0})
    pushed = hear(socket)
    assert ([entry["id"] for entry in pushed["entries"]], pushed["next"]) == ([first], last)


@pytest.mark.parametrize("kind", ["read", "read-group"])
def test_a_read_of_several_streams_returns_when_the_first_one_has_enough(
    client: httpx.Client,  # noqa: F811
    key: str,  # noqa: F811
    kind: str,
) -> None:
    streams = [{"key": key}, {"key": f"{key}:next"}]
    for stream in streams:
        client.put(f"/streams/{stream['key']}/groups/g", json={"after": "0", "create_stream": True})
        post(client, f"/streams/{stream['key']}/entries:batch", {"entries": [{"fields": {"n": "1"}}] * 3})
        post(client, f"/streams/{stream['key']}/entries:trim", {"max_length": 2})
        deleted = post(client, f"/streams/{stream['key']}/entries", {"fields": {"n": "1"}})["id"]
        client.delete(f"/streams/{stream['key']}/entries/{deleted}").raise_for_status()
    body: dict[str, Any] = {"group": "g", "consumer": "bob", "streams": streams}
    if kind == "read":
        body = {"streams": [{**stream, "after": "0"} for stream in streams]}
    found = post(client, f"/{kind}", {**body, "wait_ms": WAIT_MS, "min_count": 2})["streams"]
    assert [len(stream["entries"]) for stream in found] == [2, 2]


@pytest.mark.parametrize(
    "bounds",
    [
        {"linger_ms": 5},
        {"min_count": 0},
        {"min_count": -1},
        {"min_count": 1 << 40},
        {"min_count": 3, "max_count": 2},
        {"min_count": 3, "linger_ms": -1},
        {"min_count": 3, "linger_ms": 60_001},
        {"min_count": 2.5},
    ],
)
def test_bounds_that_do_not_fit_together_are_refused(
    client: httpx.Client,  # noqa: F811
    key: str,  # noqa: F811
    bounds: Any,
) -> None:
    refused = client.post("/read", json={"streams": [{"key": key, "after": "0"}], **bounds})
    assert (refused.status_code, refused.json()["code"]) == (422, "BODY_MISMATCH")
