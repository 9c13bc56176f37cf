"""Random programs get the same answers from the engine and from a real Redis 7.0.15.

`TAILRACE_DIFFERENTIAL_COMMANDS` is how many commands are compared, `TAILRACE_DIFFERENTIAL_SEED` where
the random programs begin; a program that fails is printed small, with its own seed.
"""

from __future__ import annotations

import os
from random import Random
from typing import Final

import pytest

from tests.differential.generator import Generator
from tests.differential.harness import Difference, commands_of, first_difference
from tests.differential.shrink import as_text, shrink
from tests.differential.vocabulary import Program
from tests.support.redis_server import RedisServer

COMMANDS: Final = int(os.environ.get("TAILRACE_DIFFERENTIAL_COMMANDS", "100000"))
FIRST_SEED: Final = int(os.environ.get("TAILRACE_DIFFERENTIAL_SEED", "1"))
SHARDS: Final = 10
STEPS_PER_PROGRAM: Final = 60


@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_programs_get_the_answers_of_redis(redis_server: RedisServer, shard: int) -> None:
    compared, seed = 0, FIRST_SEED + shard * 1_000_000
    while compared < COMMANDS // SHARDS:
        program = Generator(Random(seed)).program(STEPS_PER_PROGRAM)
        difference = first_difference(redis_server, program)
        assert difference is None, report(redis_server, program, seed)
        compared += len(commands_of(program))
        seed += 1


def report(server: RedisServer, program: Program, seed: int | str) -> str:
    """The smallest failing part of `program`, with both answers."""
    small = shrink(program, lambda candidate: first_difference(server, candidate) is not None)
    difference = first_difference(server, small)
    assert isinstance(difference, Difference), f"seed {seed}: failed once and not again"
    return (
        f"seed {seed}\n{as_text(commands_of(small))}\n"
        f"then    {as_text([difference.words])}\nours    {difference.ours}\ntheirs  {difference.theirs}"
    )
