"""Random HTTP requests on several connections at once get the answers that they would get one by one.

Another seed of the first program: `TESTS_FUZZ_SEED=n`; more programs: `TESTS_FUZZ_PROGRAMS=n` on each
disk. A failing program is the first one of its seed, which is printed. What arrives in one read of the server
is not decided by the seed, so a program that fails may need some runs to fail again.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

import pytest

from tests.fuzz.http_programs import program_of
from tests.fuzz.http_runs import run
from tests.fuzz.programs import run_all, seeds
from tests.support.server_process import ServerProcess

PROGRAMS: Final = 10


@pytest.mark.parametrize("first", ["none", "slow"], indirect=True)
def test_requests_on_many_connections_are_answered_as_one_by_one(
    token: str, read_token: str, first: ServerProcess, second: ServerProcess, request: pytest.FixtureRequest
) -> None:
    name = request.node.callspec.params["first"]
    programs = (program_of(seed, name, token, read_token) for seed in seeds(PROGRAMS))
    asyncio.run(run_all(programs, partial(run, first.port, second.port)))
