"""The engine, Redis 7.0.15 and Redis 8.10.2 give the same replies to random programs.

`TESTS_DIFFERENTIAL_COMMANDS` is how many commands are compared with each, and
`TESTS_DIFFERENTIAL_SEED` is the seed of the first program. A program that fails is printed small,
with its own seed.
"""

from __future__ import annotations

import os
from typing import Final

import pytest

from tests.differential.harness import Difference, commands_of
from tests.differential.shrink import as_text, shrink
from tests.differential.versions import Peer
from tests.differential.vocabulary import Program
from tests.support import seeds

COMMANDS: Final = int(os.environ.get("TESTS_DIFFERENTIAL_COMMANDS", "20000"))
FIRST_SEED: Final = int(os.environ.get("TESTS_DIFFERENTIAL_SEED", seeds.FIRST_SEED))
SHARDS: Final = 10
STEPS_PER_PROGRAM: Final = 60


@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_programs_get_the_answers_of_redis(peer: Peer, shard: int) -> None:
    compared, seed = 0, FIRST_SEED + shard * 1_000_000
    while compared < COMMANDS // SHARDS:
        program = peer.program(seed, STEPS_PER_PROGRAM)
        difference = peer.first_difference(program)
        assert difference is None, report(peer, program, seed)
        compared += len(commands_of(program))
        seed += 1


def report(peer: Peer, program: Program, seed: int | str) -> str:
    """The smallest failing part of `program`, with both answers."""
    small = shrink(program, lambda candidate: peer.first_difference(candidate) is not None)
    difference = peer.first_difference(small)
    assert isinstance(difference, Difference), f"seed {seed}: failed once and not again"
    return (
        f"seed {seed}\n{as_text(commands_of(small))}\n"
        f"then    {as_text([difference.words])}\nours    {difference.ours}\ntheirs  {difference.theirs}"
    )
