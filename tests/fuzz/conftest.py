"""The servers that run the programs of the fuzzers: one under test, and one that gets requests one by one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.fuzz.programs import PATIENT, SEED
from tests.support.server_process import ServerProcess, running_server
from tests.support.slow_disk import slow_disk_program
from tests.support.tokens import ALL_SCOPES, make_token


@pytest.fixture(scope="module")
def token_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tokens") / "tokens.json"


@pytest.fixture(scope="module")
def token(token_file: Path) -> str:
    return make_token(token_file, *ALL_SCOPES)


@pytest.fixture(scope="module")
def read_token(token_file: Path) -> str:
    return make_token(token_file, "read")


@pytest.fixture(scope="module")
def second(
    token: str, read_token: str, token_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    """The server that gets all requests one by one."""
    assert token != read_token
    options = ("--tokens-file", str(token_file), *PATIENT)
    with running_server(tmp_path_factory.mktemp("second"), "--durability", "none", *options) as server:
        yield server


@pytest.fixture
def first(request: pytest.FixtureRequest, token_file: Path, tmp_path: Path) -> Iterator[ServerProcess]:
    """The server under test, by the name of its disk: a durability; `slow`: durability `always` with a slow
    disk, for which all answers wait; `narrow`: the same with small limits."""
    disk = request.param
    options = ("--tokens-file", str(token_file), *PATIENT)
    with ExitStack() as stack:
        if disk in {"slow", "narrow"}:
            program = slow_disk_program(tmp_path, SEED, is_narrow=disk == "narrow")
            server = stack.enter_context(
                running_server(tmp_path, "--durability", "always", *options, program=program)
            )
        else:
            server = stack.enter_context(running_server(tmp_path, "--durability", disk, *options))
        yield server
        log_text = server.log_text
        for word in ("Traceback", "_failed"):
            assert word not in log_text, log_text
