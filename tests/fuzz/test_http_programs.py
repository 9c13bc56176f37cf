"""Random HTTP requests on several connections at once get the answers that they would get one by one.

Another seed of the first program: `TAILRACE_FUZZ_SEED=n`; more programs: `TAILRACE_FUZZ_PROGRAMS=n` on each
disk. A failing program is the first one of its seed, which is printed. What arrives in one read of the server
is not decided by the seed, so a program that fails may need some runs to fail again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.fuzz.http_programs import program_of
from tests.fuzz.http_runs import PATIENT, PROGRAMS, SEED, run_all
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
def second(token: str, token_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """The server that gets all requests one by one."""
    assert token
    options = ("--tokens-file", str(token_file), *PATIENT)
    with running_server(tmp_path_factory.mktemp("second"), "--durability", "none", *options) as server:
        yield server


@pytest.fixture(params=["none", "slow"])
def first(request: pytest.FixtureRequest, token_file: Path, tmp_path: Path) -> Iterator[ServerProcess]:
    """The server under test: in memory, or with a slow disk for which all answers wait."""
    options = ("--tokens-file", str(token_file), *PATIENT)
    with ExitStack() as stack:
        if request.param == "none":
            server = stack.enter_context(running_server(tmp_path, "--durability", "none", *options))
        else:
            program = slow_disk_program(tmp_path, SEED)
            server = stack.enter_context(
                running_server(tmp_path, "--durability", "always", *options, program=program)
            )
        yield server
        assert "Traceback" not in server.log_text
        assert "request_failed" not in server.log_text


def test_requests_on_many_connections_are_answered_as_one_by_one(
    token: str, first: ServerProcess, second: ServerProcess, request: pytest.FixtureRequest
) -> None:
    print(f"{PROGRAMS} programs, TAILRACE_FUZZ_SEED={SEED}")  # noqa: T201 - shown where one fails
    name = request.node.callspec.params["first"]
    programs = (program_of(seed, name, token) for seed in range(SEED, SEED + PROGRAMS))
    asyncio.run(run_all(first.port, second.port, programs))
