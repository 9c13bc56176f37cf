"""Options with a wider effect than the scope of their command also need `admin`, over every transport."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tailrace.api.access.permissions import OPTIONS, Option
from tailrace.api.principals import TokenScope
from tailrace.core.parser import parse_request
from tests.security.conftest import SecuredServer, ask, state
from tests.support.access_table import PAGE, with_table
from tests.support.option_requests import REQUESTS, Asked
from tests.support.sockets import open_socket
from tests.support.tokens import bearer

pytestmark = pytest.mark.usefixtures("race")

each_option = pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.redis)


def test_the_page_on_security_shows_what_everything_needs() -> None:
    page = PAGE.read_text()
    assert page == with_table(page), "out of date: python -m tests.support.access_table"


def test_there_are_requests_for_every_option() -> None:
    assert list(REQUESTS) == [option.redis for option in OPTIONS]


@each_option
def test_a_request_uses_the_option_that_it_is_for(option: Option) -> None:
    for is_beyond, requests in (
        (True, REQUESTS[option.redis].beyond),
        (False, REQUESTS[option.redis].within),
    ):
        for asked in requests:
            parsed = parse_request([word.encode() for word in asked.words.split()])
            assert (parsed.access, type(parsed.command)) == (REQUESTS[option.redis].scope, option.command)
            assert option.is_asked_by(parsed.command) is is_beyond, asked.words


@each_option
def test_an_option_beyond_its_scope_needs_admin_as_well(
    client: httpx.Client, secured: SecuredServer, root: str, option: Option
) -> None:
    asked = REQUESTS[option.redis]
    before = state(client, root)
    alone: tuple[tuple[TokenScope, ...], ...] = ((asked.scope,), ("read", asked.scope), ("admin",))
    for scopes in alone:
        token = secured.token(*scopes, keys=("race:*",))
        for request in asked.beyond:
            for problem in _refusals(client, secured, token, request):
                assert problem["code"] == "NOPERM"
                missing = asked.scope if scopes == ("admin",) else "admin"
                assert problem["required_scope"] == missing
                assert f"does not allow '{missing}' on 'race:france'" in problem["detail"]
                assert problem["detail"].endswith(option.instead) is (missing == "admin")
    assert state(client, root) == before, "a refused request changed something"


@each_option
def test_with_admin_as_well_it_is_allowed_and_without_the_option_the_scope_is_enough(
    client: httpx.Client, secured: SecuredServer, option: Option
) -> None:
    asked = REQUESTS[option.redis]
    both = secured.token(asked.scope, "admin", keys=("race:*",))
    for request in asked.beyond:
        assert list(_refusals(client, secured, both, request)) == []
    alone = secured.token(asked.scope, keys=("race:*",))
    for request in asked.within:
        assert list(_refusals(client, secured, alone, request)) == []


@each_option
def test_the_option_needs_admin_on_the_key_itself(
    client: httpx.Client, secured: SecuredServer, option: Option
) -> None:
    token = secured.token(REQUESTS[option.redis].scope, "admin", keys=("boat:*",))
    for request in REQUESTS[option.redis].beyond:
        assert len(list(_refusals(client, secured, token, request))) == _ways(request)


def _ways(request: Asked) -> int:
    return 5 if request.socket is None else 6


def _refusals(
    client: httpx.Client, secured: SecuredServer, token: str, request: Asked
) -> Iterator[dict[str, Any]]:
    """The problems of this request, each way that it can be sent: all of them, or none."""
    headers, words = bearer(token), request.words.split()
    refused = [
        client.post(request.path, json=request.body, headers=headers),
        client.post("/v1/command", json=words, headers=headers),
        client.post("/v1/command/multi-exec", json=[words], headers=headers),
    ]
    found = [answer.json() for answer in refused if answer.status_code == 403]
    (piped,) = client.post("/v1/command/pipeline", json=[words], headers=headers).json()
    is_refused = str(piped.get("error", "")).startswith("NOPERM ")
    assert is_refused is bool(found), (piped, found)
    with open_socket(secured.url, headers=headers) as socket:
        sent = [
            {"id": 1, "op": "command", "command": words},
            *([{"id": 2, **request.socket}] if request.socket else []),
        ]
        replies = [ask(socket, each) for each in sent]
    found += [reply["error"] for reply in replies if reply.get("error", {}).get("code") == "NOPERM"]
    if is_refused:
        found.append({**found[0], "detail": piped["error"]})
        assert len(found) == _ways(request), found
    else:
        assert found == []
    yield from found


def test_deleting_by_acknowledging_and_by_trimming_is_an_administrative_act(
    own_secured: SecuredServer,
) -> None:
    token = own_secured.token("append", "consume", "admin", name="ops")
    with httpx.Client(base_url=own_secured.url, headers=bearer(token), timeout=30) as client:
        client.put("/v1/streams/race:france").raise_for_status()
        client.put("/v1/streams/race:france/groups/judges", json={}).raise_for_status()
        for request in (REQUESTS[option.redis].beyond[0] for option in OPTIONS[:2]):
            client.post(request.path, json=request.body).raise_for_status()
        with open_socket(own_secured.url, headers=bearer(token)) as socket:
            asked = REQUESTS[OPTIONS[0].redis].beyond[0].socket
            assert asked is not None
            assert "ok" in ask(socket, {"id": 1, **asked})
    acts = [line for line in own_secured.process.log_records if line.get("logger") == "tailrace.audit"]
    assert [line["operation"] for line in acts if line["operation"] != "token_added"] == [
        "create_stream",
        "xgroup_create",
        "xack",
        "xadd",
        "ack",
    ]
