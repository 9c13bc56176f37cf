"""A server with tokens, for the tests of what a token allows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from websockets.sync.client import ClientConnection

from tailrace.api.principals import TokenScope
from tests.support.server_process import ServerProcess, running_server
from tests.support.tokens import ALL_SCOPES, bearer, make_token


class SecuredServer(NamedTuple):
    """A running server and the file of its tokens."""

    process: ServerProcess
    tokens_file: Path

    @property
    def url(self) -> str:
        return self.process.base_url

    def token(self, *scopes: TokenScope, keys: tuple[str, ...] = ("*",), name: str = "test") -> str:
        """A new token, which the server knows when this returns."""
        text = make_token(self.tokens_file, *scopes, keys=keys, name=name)
        while httpx.get(f"{self.url}/v1/limits", headers=bearer(text)).status_code == 401:
            pass
        return text


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredServer]:
    """One server for all; use keys and tokens of your own."""
    directory = tmp_path_factory.mktemp("secured")
    tokens_file = directory / "tokens.json"
    make_token(tokens_file, *ALL_SCOPES)
    with running_server(directory, "--tokens-file", str(tokens_file)) as process:
        yield SecuredServer(process, tokens_file)


@pytest.fixture
def own_secured(tmp_path: Path) -> Iterator[SecuredServer]:
    """A server of the test's own."""
    tokens_file = tmp_path / "tokens.json"
    make_token(tokens_file, *ALL_SCOPES)
    with running_server(tmp_path, "--tokens-file", str(tokens_file)) as process:
        yield SecuredServer(process, tokens_file)


@pytest.fixture(scope="module")
def client(secured: SecuredServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=secured.url, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def root(secured: SecuredServer) -> str:
    return secured.token(*ALL_SCOPES, name="root")


@pytest.fixture
def race(client: httpx.Client, root: str) -> None:
    """Create the streams that the examples use, and no others."""
    headers = bearer(root)
    for stream in ("race:france", "race:usa", "race:renamed"):
        client.delete(f"/v1/streams/{stream}", headers=headers)
    entry = {"fields": {"rider": "Castilla"}}
    for stream in ("race:france", "race:usa"):
        client.post(f"/v1/streams/{stream}/entries", json=entry, headers=headers).raise_for_status()
    group = client.put("/v1/streams/race:france/groups/judges", json={"after": "0"}, headers=headers)
    assert group.status_code == 201


def state(client: httpx.Client, root: str) -> list[Any]:
    """All that could change: the streams in full, the settings, the names."""
    commands = [
        ["KEYS", "*"],
        ["CONFIG", "GET", "*"],
        ["XINFO", "STREAM", "race:france", "FULL"],
        ["XINFO", "STREAM", "race:usa", "FULL"],
    ]
    answer = client.post("/v1/command/pipeline", json=commands, headers=bearer(root))
    # The times at which a consumer was seen change by themselves.
    outcomes: list[Any] = json.loads(answer.text, parse_int=lambda text: 0 if len(text) > 12 else int(text))
    return outcomes


def ask(socket: ClientConnection, request: dict[str, Any]) -> dict[str, Any]:
    """The reply to a request; pushes are passed over."""
    socket.send(json.dumps(request))
    while (message := json.loads(socket.recv(timeout=10))).get("id") != request["id"]:
        pass
    found: dict[str, Any] = message
    return found
