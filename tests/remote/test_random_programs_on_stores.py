"""Random programs of commands get the answers of the embedded engine from a gateway before each engine, alone
and as a Cluster.

`TAILRACE_GATEWAY_COMMANDS` is how many commands each store gets (2000), and `TAILRACE_DIFFERENTIAL_SEED` the
seed of the first program. A failing program is printed small, with its seed. `make gateway-random` runs
100 000 commands on each.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

import pytest

from tests.differential.harness import Difference, commands_of
from tests.differential.shrink import as_text, shrink
from tests.differential.vocabulary import Program
from tests.remote.random_programs import Behind
from tests.support.engines import STORES, engine, executable_of
from tests.support.redis_server import required
from tests.support.store_commands import StoreCommands

COMMANDS: Final = int(os.environ.get("TAILRACE_GATEWAY_COMMANDS", "2000"))
FIRST_SEED: Final = int(os.environ.get("TAILRACE_DIFFERENTIAL_SEED", "1"))
STEPS: Final = 60


@pytest.fixture(params=STORES)
def behind(request: pytest.FixtureRequest) -> Iterator[Behind]:
    name: str = request.param
    if executable_of(name) is None and not required():
        pytest.skip(f"{name} is not installed")
    with engine(name) as url, StoreCommands(url) as store:
        yield Behind(name, store)


def test_random_programs_get_the_answers_of_the_embedded_engine(behind: Behind) -> None:
    compared, seed = 0, FIRST_SEED
    while compared < COMMANDS:
        steps = behind.program(seed, STEPS)
        found = behind.first_difference(steps)
        assert found is None, report(behind, steps, seed, found)
        compared += len(commands_of(steps))
        seed += 1


def report(behind: Behind, steps: Program, seed: int, found: Difference) -> str:
    """Return the smallest failing part of the program, with both answers."""
    small = shrink(steps, lambda candidate: behind.first_difference(candidate) is not None)
    found = behind.first_difference(small) or found
    return (
        f"seed {seed}\n{as_text(commands_of(small))}\n"
        f"then    {as_text([found.words])}\nours    {found.ours}\nbehind the gateway  {found.theirs}"
    )
