"""A server with tokens, for tests that ask of it what a token allows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from core.grammar import Scope
from tests.support.server_process import ServerProcess, running_server
from tests.support.tokens import ALL_SCOPES, bearer, make_token


class SecuredServer(NamedTuple):
    """A running server and the file of its tokens."""

    process: ServerProcess
    tokens_file: Path

    @property
    def url(self) -> str:
        return self.process.base_url

    def token(self, *scopes: Scope, keys: tuple[str, ...] = ("*",), name: str = "test") -> str:
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
