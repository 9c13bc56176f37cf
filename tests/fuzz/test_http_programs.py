"""Random HTTP requests on several connections at once get the answers that they would get one by one.

Another seed of the first program: `TAILRACE_FUZZ_SEED=n`; more programs: `TAILRACE_FUZZ_PROGRAMS=n` on each
disk. A failing program is the first one of its seed, which is printed. What arrives in one read of the server
is not decided by the seed, so a program that fails may need some runs to fail again.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Final

import pytest

from tests.fuzz.http_client import Answer, Ended, HttpClient
from tests.fuzz.http_judge import expected_of, picture_of, require_expected, shared_ids
from tests.fuzz.http_programs import Dialogue, Ending, Program, program_of
from tests.fuzz.http_shared import Entry, SharedStream, require_shared
from tests.support.server_process import ServerProcess, running_server
from tests.support.slow_disk import slow_disk_program
from tests.support.tokens import ALL_SCOPES, make_token

SEED: Final = int(os.environ.get("TAILRACE_FUZZ_SEED", "17"))
PROGRAMS: Final = int(os.environ.get("TAILRACE_FUZZ_PROGRAMS", "60"))
AT_A_TIME: Final = 4
"""How many programs run at the same time."""

PATIENCE_S: Final = 60
"""Longer than any program takes: after this time, a connection hangs."""

PATIENT: Final = ("--log-level", "warning", "--keep-alive-timeout-s", "600", "--header-timeout-s", "600")
"""Options of both servers: no deadline ends a connection of a client that the machine keeps waiting."""

SERVER_ENDS: Final = frozenset({Ending.HALF_CLOSED, Ending.LAST})
"""The endings after which the server ends the connection without a further byte."""


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


async def held(port: int, dialogue: Dialogue, other: HttpClient) -> tuple[list[Answer], bytes]:
    """Hold a dialogue with the server under test. Return the answers, and what follows them."""
    client = await HttpClient.open(port)
    sending = asyncio.ensure_future(client.send(dialogue.pieces, dialogue.ending, other))
    try:
        await client.read(dialogue.requests)
        await sending
        rest = await client.rest() if dialogue.ending in SERVER_ENDS else b""
    except Ended as end:
        rest = end.rest
    finally:
        sending.cancel()
        await client.close()
    return client.answers, rest


async def judged(first: int, second: int, dialogue: Dialogue) -> tuple[list[Entry], set[str]]:
    """Hold a dialogue with the server at the port `first`, and compare it with the one at `second`. Return
    what it appended to the shared stream, and the values that it may have appended."""
    expected = await expected_of(second, dialogue)
    other = await HttpClient.open(first)
    answers, rest = await held(first, dialogue, other)
    await other.close()
    looking = await HttpClient.open(first)
    picture = await picture_of(looking, dialogue.names)
    await looking.close()
    require_expected(dialogue, expected, answers, rest, picture)
    answered = zip(dialogue.requests, answers, strict=False)
    appended = [
        entry for request, answer in answered if request.shared for entry in shared_ids(request, answer)
    ]
    return appended, {value for request in dialogue.requests[len(answers) :] for value in request.shared}


async def run(first: int, second: int, program: Program) -> None:
    """Run a program on the server at the port `first`. Fail unless everything is as expected."""
    shared = SharedStream(first, program)
    try:
        async with asyncio.timeout(PATIENCE_S):
            await shared.begin()
            done = await asyncio.gather(*(judged(first, second, each) for each in program.dialogues))
            entries, read, consumed = await shared.end()
        unknown = set[str]().union(*(each for _, each in done))
        require_shared(entries, [appended for appended, _ in done], unknown, read, consumed)
    except Exception as failure:
        failure.add_note(f"TAILRACE_FUZZ_SEED={program.seed}\n{program}")
        raise
    finally:
        shared.cancel()


async def run_all(first: int, second: int, programs: Iterable[Program]) -> None:
    """Run some programs at a time."""
    for some in batched(programs, AT_A_TIME):
        await asyncio.gather(*(run(first, second, each) for each in some))


def batched(programs: Iterable[Program], count: int) -> Iterator[list[Program]]:
    left = iter(programs)
    while some := list(islice(left, count)):
        yield some


def test_requests_on_many_connections_are_answered_as_one_by_one(
    token: str, read_token: str, first: ServerProcess, second: ServerProcess, request: pytest.FixtureRequest
) -> None:
    print(f"{PROGRAMS} programs, TAILRACE_FUZZ_SEED={SEED}")  # noqa: T201 - shown where one fails
    name = request.node.callspec.params["first"]
    programs = (program_of(seed, name, token, read_token) for seed in range(SEED, SEED + PROGRAMS))
    asyncio.run(run_all(first.port, second.port, programs))
