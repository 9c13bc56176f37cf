"""Tokens on the hot routes: the hot way and the documented route apply the same rules and return the same
responses."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import pytest

from tailrace.api.access.permissions import scope_of
from tailrace.api.operations.table import OPERATIONS
from tests.security.conftest import SecuredServer
from tests.support.tokens import ALL_SCOPES, bearer, revoke_token

JSON, NDJSON = "application/json", "application/x-ndjson"
PLAIN_READ = {"streams": [{"key": "hot:race", "after": "0-0"}]}
READ = {"group": "judges", "consumer": "alice", "streams": [{"key": "hot:race", "id": ">"}]}
HOT: dict[str, tuple[str, str | None, bytes]] = {
    "xadd": ("/v1/streams/hot:race/entries", JSON, b'{"fields":{"a":"1"}}'),
    "xadd_batch": ("/v1/streams/hot:race/entries:batch", JSON, b'{"entries":[{"fields":{"a":"1"}}]}'),
    "import_entries": ("/v1/streams/hot:race/entries:import", NDJSON, b'{"a":"1"}'),
    "xread": ("/v1/read", JSON, json.dumps(PLAIN_READ).encode()),
    "xreadgroup": ("/v1/read-group", JSON, json.dumps(READ).encode()),
    "xack": ("/v1/streams/hot:race/groups/judges:ack", JSON, b'{"ids":["1-1"]}'),
    "xnack": ("/v1/streams/hot:race/groups/judges:nack", JSON, b'{"ids":["1-1"]}'),
    "xclaim": (
        "/v1/streams/hot:race/groups/judges:claim",
        JSON,
        b'{"consumer":"alice","ids":["1-1"],"min_idle_ms":0}',
    ),
    "xautoclaim": (
        "/v1/streams/hot:race/groups/judges:autoclaim",
        JSON,
        b'{"consumer":"alice","min_idle_ms":3600000}',
    ),
    "extend": ("/v1/streams/hot:race/groups/judges:extend", JSON, b'{"consumer":"alice","ids":["1-1"]}'),
    "xrange": ("/v1/streams/hot:race/entries?count=2", None, b""),
    "get_entry": ("/v1/streams/hot:race/entries/1-1", None, b""),
    "xlen": ("/v1/streams/hot:race/length", None, b""),
    "xinfo_stream": ("/v1/streams/hot:race", None, b""),
    "xinfo_group": ("/v1/streams/hot:race/groups/judges", None, b""),
    "xpending": ("/v1/streams/hot:race/groups/judges/pending?count=2", None, b""),
    "xpending_summary": ("/v1/streams/hot:race/groups/judges/pending:summary", None, b""),
    "command": ("/v1/command", JSON, b'["XLEN","hot:race"]'),
}
VARYING = {"date", "x-request-id"}


@pytest.fixture(autouse=True)
def group(secured: SecuredServer) -> None:
    headers = bearer(secured.token(*ALL_SCOPES))
    url = f"{secured.url}/v1/streams/hot:race"
    httpx.post(f"{url}/entries", json={"id": "1-1", "fields": {"a": "1"}}, headers=headers)
    httpx.put(f"{url}/groups/judges", headers=headers)


def send(client: httpx.Client, name: str, authorization: list[str], *, is_hot: bool) -> httpx.Response:
    path, media_type, body = HOT[name]
    headers = [("Authorization", value) for value in authorization]
    if not is_hot:
        headers.append(("Prefer", "nothing"))
    if media_type is None:
        return client.get(path, headers=headers)
    return client.post(path, content=body, headers=[*headers, ("Content-Type", media_type)])


def comparable(response: httpx.Response) -> Any:
    headers = {name: value for name, value in response.headers.items() if name not in VARYING}
    body = re.sub(r'"request_id":"[0-9a-f]+"', "", response.text)
    body = re.sub(r'"entries":\[.*?\]', "", body)
    body = re.sub(r'"(idle_ms|lag_ms)":\d+', r'"\1":0', body)
    return response.status_code, headers if response.is_error else None, re.sub(r"\d{13}-\d+", "ID", body)


def test_every_hot_operation_is_tried() -> None:
    assert set(HOT) == {operation.name for operation in OPERATIONS}


@pytest.mark.parametrize("name", HOT)
def test_both_ways_answer_alike_whatever_is_shown(secured: SecuredServer, name: str) -> None:
    scope: Any = scope_of(name) or "read"  # that of XLEN
    other: Any = "append" if scope == "read" else "read"
    good = secured.token(scope, keys=("hot:*",), name="good")
    cases = {
        good: 201 if scope == "append" else 200,
        secured.token(other, keys=("hot:*",), name="scope"): 403,
        secured.token(scope, keys=("cold:*",), name="keys"): 403,
        good[:-1]: 401,
        "nonsense": 401,
    }
    with httpx.Client(base_url=secured.url) as client:
        for text, status in cases.items():
            hot, again, documented = (
                send(client, name, [f"Bearer {text}"], is_hot=is_hot) for is_hot in (True, True, False)
            )
            assert hot.status_code == status, hot.text
            assert comparable(hot) == comparable(documented)
            assert comparable(again) == comparable(documented)
        for shown in ([], ["Basic eA=="], [f"Bearer {good}"] * 2):
            answers = [send(client, name, shown, is_hot=is_hot) for is_hot in (True, False)]
            assert [answer.status_code for answer in answers] == [401, 401]
            assert comparable(answers[0]) == comparable(answers[1])


def test_a_connection_that_was_let_in_is_asked_again_at_each_request(secured: SecuredServer) -> None:
    text = secured.token("append")
    with httpx.Client(base_url=secured.url) as client:
        for _ in range(3):
            assert send(client, "xadd", [f"Bearer {text}"], is_hot=True).status_code == 201
        revoke_token(secured.tokens_file, text)
        while send(client, "xadd", [f"Bearer {text}"], is_hot=True).status_code == 201:
            pass
        last = send(client, "xadd", [f"Bearer {text}"], is_hot=True)
    assert (last.status_code, last.json()["code"]) == (401, "UNAUTHENTICATED")


def test_a_refused_append_appends_nothing(secured: SecuredServer) -> None:
    reader = secured.token("read")
    url = f"{secured.url}/v1/streams/hot:race/length"
    before = httpx.get(url, headers=bearer(reader)).json()
    with httpx.Client(base_url=secured.url) as client:
        for name in ("xadd", "xadd_batch", "import_entries"):
            assert send(client, name, [f"Bearer {reader}"], is_hot=True).status_code == 403
    assert httpx.get(url, headers=bearer(reader)).json() == before


def test_a_token_without_a_right_on_the_dead_letter_stream_neither_redrives_nor_learns_its_name(
    secured: SecuredServer,
) -> None:
    stream, group = "/v1/streams/hot:letters", "/v1/streams/hot:letters/groups/judges"
    settings = {"max_deliveries": 1, "dead_letter_stream": "cold:dead"}
    with httpx.Client(base_url=secured.url, headers=bearer(secured.token(*ALL_SCOPES))) as owner:
        owner.put(group, json={"after": "0", "create_stream": True}).raise_for_status()
        owner.post(f"{group}:configure", json=settings).raise_for_status()
        entry = owner.post(f"{stream}/entries", json={"fields": {"a": "1"}}).json()["id"]
        owner.post("/v1/read-group", json={**READ, "streams": [{"key": "hot:letters"}]}).raise_for_status()
        owner.post(f"{group}:nack", json={"ids": [entry], "mode": "fatal"}).raise_for_status()
        assert owner.get("/v1/streams/cold:dead/length").json() == {"length": 1}
        limited = secured.token(*ALL_SCOPES, keys=("hot:*",), name="limited")
        with httpx.Client(base_url=secured.url, headers=bearer(limited)) as client:
            refused = client.post(f"{group}:redrive")
            assert (refused.status_code, refused.json()["code"]) == (403, "NOPERM")
            replies = [
                refused,
                client.get(group),
                client.get(group, headers={"Prefer": "nothing"}),
                client.get(f"{stream}/groups"),
                client.post(f"{group}:configure", json={"claim_min_idle_ms": 1000}),
                client.get(stream, params={"full": "true"}),
                client.post("/v1/command", json=["XINFO", "GROUPS", "hot:letters"]),
            ]
        assert [reply.status_code for reply in replies[1:]] == [200] * (len(replies) - 1)
        assert not [reply.text for reply in replies if "cold" in reply.text]
        assert owner.get("/v1/streams/cold:dead/length").json() == {"length": 1}
        assert owner.get(group).json()["dead_letter_stream"] == "cold:dead"
        assert len(owner.post(f"{group}:redrive").json()["redriven"]) == 1
