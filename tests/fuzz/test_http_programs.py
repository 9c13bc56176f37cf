"""Random HTTP requests on several connections at once get the answers that they would get one by one.

Another seed of the first program: `TAILRACE_FUZZ_SEED=n`; more programs: `TAILRACE_FUZZ_PROGRAMS=n` on each
disk. A failing program is the first one of its seed, which is printed. What arrives in one read of the server
is not decided by the seed, so a program that fails may need some runs to fail again.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

import pytest

from tests.fuzz.http_client import Answer, Ended, HttpClient
from tests.fuzz.http_judge import expected_of, picture_of, require_expected, shared_ids
from tests.fuzz.http_programs import Dialogue, Ending, Program, program_of
from tests.fuzz.http_shared import Entry, SharedStream, require_shared
from tests.fuzz.programs import PATIENCE_S, run_all, seeds
from tests.support.server_process import ServerProcess

PROGRAMS: Final = 60

SERVER_ENDS: Final = frozenset({Ending.HALF_CLOSED, Ending.LAST})
"""The endings after which the server ends the connection without a further byte."""


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
    shared = SharedStream(first, program.shared, program.token)
    try:
        async with asyncio.timeout(PATIENCE_S):
            await shared.begin()
            done = await asyncio.gather(*(judged(first, second, each) for each in program.dialogues))
            entries, read, consumed = await shared.end()
        unknown = set[str]().union(*(each for _, each in done))
        require_shared(entries, [appended for appended, _ in done], unknown, read, consumed)
    finally:
        shared.cancel()


@pytest.mark.parametrize("first", ["none", "slow"], indirect=True)
def test_requests_on_many_connections_are_answered_as_one_by_one(
    token: str, first: ServerProcess, second: ServerProcess, request: pytest.FixtureRequest
) -> None:
    name = request.node.callspec.params["first"]
    programs = (program_of(seed, name, token) for seed in seeds(PROGRAMS))
    asyncio.run(run_all(programs, partial(run, first.port, second.port)))
