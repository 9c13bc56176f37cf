"""Every operation, every command and every WebSocket request, with every scope, on keys that match and not.

The requests come from the document, the grammar's table and the table of WebSocket requests: a new one is
tested too, or fails here if it has no example. A refusal reveals nothing: the answer is the same for an
existing and a missing stream, and no state has changed. Prints how many requests were sent.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import httpx
import pytest
from websockets.sync.client import ClientConnection

from tailrace.api.access.permissions import need_of
from tailrace.api.principals import TokenScope
from tailrace.api.websocket.requests import REQUESTS
from tailrace.core.command_table import ACCESS, DESCRIPTORS, ROWS, Reach, Syntax
from tests.security.conftest import SecuredServer, ask, state
from tests.support.access_table import EVERYWHERE, SOCKET_SCOPES
from tests.support.api_client import the_document
from tests.support.command_lines import LINES, words_of
from tests.support.documented import Operation
from tests.support.sockets import open_socket
from tests.support.tokens import ALL_SCOPES, bearer


def commands_that_reach(reach: Reach) -> Iterator[str]:
    return (each.name for row in DESCRIPTORS.values() if row.reach is reach for each in row.redis)


MATCHING, OTHER = "race:*", "boat:*"
LISTINGS: Final = {"list_streams", *commands_that_reach(Reach.LIST)}
"""They need `read` or `admin`, on whatever keys, and show those."""

COMMAND_ROUTES: Final = {"command", "pipeline", "transaction"}
KEYLESS: Final = {*commands_that_reach(Reach.NO_KEY), *(row.name for row in ROWS if isinstance(row, Syntax))}

pytestmark = pytest.mark.usefixtures("race")


class Rights:
    """One kind of token: one scope, on keys that match the examples, or on others."""

    def __init__(self, secured: SecuredServer, scope: TokenScope, pattern: str) -> None:
        self.scope = scope
        self.pattern = pattern
        self.text = secured.token(scope, keys=(pattern,), name=f"{scope}-{pattern[:4]}")

    def allow(self, name: str, need: str | None) -> bool:
        """Return whether the scopes suffice for the operation `name`, which needs `need`."""
        if need in {"any", "open", None}:
            return True
        if name in LISTINGS:
            return self.scope in {"read", "admin"}
        if name in EVERYWHERE or self.scope != need:
            return False
        return name in KEYLESS or self.pattern == MATCHING


@pytest.fixture(scope="module")
def all_rights(secured: SecuredServer) -> list[Rights]:
    return [Rights(secured, scope, pattern) for scope in ALL_SCOPES for pattern in (MATCHING, OTHER)]


def send(client: httpx.Client, operation: Operation, text: str, **replaced: str) -> httpx.Response | None:
    """The operation's example with this token; None: it was taken up, and would not end."""
    example = operation.example_request()
    path, query, content = example.path, dict(example.query), example.content or b""
    for old, new in replaced.items():
        path = path.replace(f"race%3A{old}", f"race%3A{new}")
        query = {name: _replaced(value, old, new) for name, value in query.items()}
        content = content.replace(f"race:{old}".encode(), f"race:{new}".encode())
    headers = {**example.headers, **(bearer(text) if text else {})}
    request = client.build_request(
        example.method, path, params=query or None, content=content or None, headers=headers
    )
    response = client.send(request, stream=True)
    try:
        if response.is_success and operation.is_endless:
            return None
        response.read()
        return response
    finally:
        response.close()


def _replaced(value: Any, old: str, new: str) -> Any:
    if isinstance(value, list):
        return [_replaced(each, old, new) for each in value]
    return value.replace(f"race:{old}", f"race:{new}") if isinstance(value, str) else value


def comparable(response: httpx.Response) -> Any:
    """A refusal without the parts that differ between two requests or name the requested key."""
    if not response.content:
        return response.status_code
    problem = response.json()
    del problem["request_id"]
    return json.loads(json.dumps(problem).replace("race:nowhere", "race:france"))


# --- HTTP and SSE --------------------------------------------------------------------------------------


def test_operations(client: httpx.Client, root: str, all_rights: list[Rights]) -> None:
    counts: Counter[str] = Counter()
    before = state(client, root)
    operations = the_document().operations
    for allowed in (False, True):
        for name, operation in operations.items():
            for rights in all_rights:
                if rights.allow(name, need_of(name)) is allowed:
                    _check_operation(client, operation, rights, is_allowed=allowed)
                    counts["allowed" if allowed else "refused"] += 1
        if not allowed:
            assert state(client, root) == before, "a refused request changed something"
    assert sum(counts.values()) == len(operations) * len(all_rights)
    print(f"{len(operations)} operations x {len(all_rights)} tokens: {dict(counts)}")  # noqa: T201 - the counts


def _check_operation(client: httpx.Client, operation: Operation, rights: Rights, *, is_allowed: bool) -> None:
    response = send(client, operation, rights.text)
    told = (operation.name, rights.scope, rights.pattern, response and response.text)
    if is_allowed:
        # What a command needs is asked command by command, below.
        refusals = {401} if operation.name in COMMAND_ROUTES else {401, 403}
        assert response is None or response.status_code not in refusals, told
        return
    assert response is not None, told
    assert response.status_code == 403, told
    assert "insufficient_scope" in response.headers["www-authenticate"]
    elsewhere = send(client, operation, rights.text, france="nowhere", usa="nowhere")
    assert elsewhere is not None
    if operation.method != "HEAD":
        assert response.json()["code"] == "NOPERM"
        assert rights.text not in response.text
    if "usa" not in str(operation.example_request()):
        assert comparable(response) == comparable(elsewhere)


def test_nothing_but_open_operations_is_answered_without_a_token(client: httpx.Client, root: str) -> None:
    before = state(client, root)
    operations = the_document().operations
    for text in ("", "tlr_000000000000_" + "0" * 64, root + "0", root[:-1]):
        for name, operation in operations.items():
            response = send(client, operation, text)
            assert response is not None
            expected = {200} if need_of(name) == "open" else {401}
            assert response.status_code in expected, (name, response.text)
            assert response.status_code == 200 or response.headers["www-authenticate"].startswith("Bearer")
    assert state(client, root) == before
    for path in ("/", "/docs", "/openapi.json", "/asyncapi.json", "/problems/noperm"):
        assert client.get(path).status_code in {200, 307}
    for path in ("/metrics", "/nowhere", "/v1/nowhere"):
        assert client.get(path).status_code == 401


def test_tails_of_a_group_need_its_scope(client: httpx.Client, all_rights: list[Rights]) -> None:
    url = "/v1/streams/race:france/entries:tail?group=judges&consumer=alice"
    for rights in all_rights:
        with client.stream("GET", url, headers=bearer(rights.text)) as response:
            is_allowed = rights.scope == "consume" and rights.pattern == MATCHING
            assert response.status_code == (200 if is_allowed else 403)


# --- commands ------------------------------------------------------------------------------------------


def test_commands(client: httpx.Client, root: str, all_rights: list[Rights]) -> None:
    counts: Counter[str] = Counter()
    before = state(client, root)
    for allowed in (False, True):
        for name in sorted(LINES):
            need = ACCESS[name]
            for rights in all_rights:
                if rights.allow(name, need) is allowed:
                    _check_command(client, name, rights, is_allowed=allowed)
                    counts["allowed" if allowed else "refused"] += 3
        if not allowed:
            assert state(client, root) == before, "a refused command changed something"
    assert sum(counts.values()) == 3 * len(LINES) * len(all_rights)
    print(f"{len(LINES)} commands x {len(all_rights)} tokens x 3 routes: {dict(counts)}")  # noqa: T201 - the counts


def _check_command(client: httpx.Client, name: str, rights: Rights, *, is_allowed: bool) -> None:
    words, headers = words_of(name), bearer(rights.text)
    alone = client.post("/v1/command", json=words, headers=headers)
    # With a refused command next to it, a pipeline runs its allowed commands, a transaction none.
    pipeline = client.post("/v1/command/pipeline", json=[words, words], headers=headers)
    transaction = client.post("/v1/command/multi-exec", json=[words], headers=headers)
    told = (name, rights.scope, rights.pattern, alone.text, pipeline.text, transaction.text)
    assert pipeline.status_code == 200, told
    errors = [str(outcome.get("error", "")) for outcome in pipeline.json()]
    if is_allowed:
        assert 403 not in {alone.status_code, transaction.status_code}, told
        assert not any(error.startswith("NOPERM") for error in errors), told
    else:
        assert (alone.status_code, transaction.status_code) == (403, 403), told
        assert alone.json()["error"].startswith("NOPERM "), told
        assert transaction.json()["error"].startswith("EXECABORT "), told
        assert all(error.startswith("NOPERM ") for error in errors), told


def test_one_command_that_is_not_allowed_undoes_a_transaction_and_not_a_pipeline(
    client: httpx.Client, secured: SecuredServer
) -> None:
    headers = bearer(secured.token("append", keys=(MATCHING,)))
    commands = [
        ["XADD", "race:usa", "*", "a", "1"],
        ["XADD", "boat:usa", "*", "a", "1"],
        ["XLEN", "race:usa"],
    ]
    before = client.post("/v1/command/multi-exec", json=commands, headers=headers)
    assert (before.status_code, before.json()["errors"][0]["pointer"]) == (403, "/1")
    outcomes = client.post("/v1/command/pipeline", json=commands, headers=headers).json()
    assert ["result" in outcome for outcome in outcomes] == [True, False, False]


def test_lists_show_what_the_patterns_allow(client: httpx.Client, secured: SecuredServer, root: str) -> None:
    client.put("/v1/streams/boat:usa", headers=bearer(root))
    headers = bearer(secured.token("read", keys=("boat:*",)))
    listed = client.get("/v1/streams", headers=headers).json()
    assert [stream["key"] for stream in listed["streams"]] == ["boat:usa"]
    commands = [["KEYS", "*"], ["SCAN", "0", "COUNT", "1000"], ["DBSIZE"], ["EXISTS", "race:france"]]
    outcomes = client.post("/v1/command/pipeline", json=commands, headers=headers).json()
    assert [outcome.get("result") for outcome in outcomes] == [["boat:usa"], ["0", ["boat:usa"]], 1, None]


# --- the WebSocket -------------------------------------------------------------------------------------


def test_websocket_requests(
    client: httpx.Client, secured: SecuredServer, root: str, all_rights: list[Rights]
) -> None:
    assert set(SOCKET_SCOPES) == set(REQUESTS)
    counts: Counter[str] = Counter()
    before = state(client, root)
    for allowed in (False, True):
        for rights in all_rights:
            with open_socket(secured.url, headers=bearer(rights.text)) as socket:
                for op, model in REQUESTS.items():
                    extra: Any = model.model_config["json_schema_extra"]
                    if rights.allow(op if op not in KEYLESS else "", SOCKET_SCOPES[op]) is allowed:
                        _check_request(socket, extra["example"], is_allowed=allowed)
                        counts["allowed" if allowed else "refused"] += 1
        if not allowed:
            assert state(client, root) == before, "a refused request changed something"
    assert sum(counts.values()) == len(REQUESTS) * len(all_rights)
    print(f"{len(REQUESTS)} WebSocket requests x {len(all_rights)} tokens: {dict(counts)}")  # noqa: T201 - the counts


def _check_request(socket: ClientConnection, request: dict[str, Any], *, is_allowed: bool) -> None:
    reply = ask(socket, request)
    code = reply.get("error", {}).get("code")
    if is_allowed:
        assert code not in {"NOPERM", "UNAUTHENTICATED"}, reply
        return
    assert code == "NOPERM", (request, reply)
    elsewhere = ask(socket, json.loads(json.dumps(request).replace("race:france", "race:nowhere")))
    assert json.dumps(elsewhere).replace("race:nowhere", "race:france") == json.dumps(reply)


def test_websocket_commands(secured: SecuredServer, all_rights: list[Rights]) -> None:
    count = 0
    for rights in all_rights:
        with open_socket(secured.url, headers=bearer(rights.text)) as socket:
            for number, name in enumerate(sorted(LINES)):
                need = ACCESS[name]
                reply = ask(socket, {"id": number, "op": "command", "command": words_of(name)})
                is_refused = reply.get("error", {}).get("code") == "NOPERM"
                assert is_refused is not rights.allow(name, need), (name, rights.scope, reply)
                count += 1
    print(f"{len(LINES)} commands x {len(all_rights)} tokens over WebSocket: {count}")  # noqa: T201 - the counts
