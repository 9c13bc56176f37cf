"""Random programs of commands get the answers of the embedded engine from a gateway before each engine, alone
and as a Cluster.

`TESTS_GATEWAY_COMMANDS` is how many commands each store gets (1000), and `TESTS_DIFFERENTIAL_SEED` the
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
from tests.support import seeds
from tests.support.engines import STORE_PARAMS, engine, executable_of
from tests.support.redis_server import required
from tests.support.store_commands import StoreCommands

COMMANDS: Final = int(os.environ.get("TESTS_GATEWAY_COMMANDS", "1000"))
FIRST_SEED: Final = int(os.environ.get("TESTS_DIFFERENTIAL_SEED", seeds.FIRST_SEED))
STEPS: Final = 60


_SIZES: Final = range(30, 70)

FOUND: Final[dict[str, tuple[str, ...]]] = {
    "a group read that names a stream twice": (
        "XGROUP CREATE s g 0 MKSTREAM",
        "XADD s 1-0 f v",
        "XREADGROUP GROUP g alice STREAMS s s > 0",
        "XREADGROUP GROUP g alice STREAMS s s > 0",
    ),
    "a waiting read that names a stream twice": (
        "XADD s 2-1 f v",
        "XREAD BLOCK 1 STREAMS s s 1-0 0",
        "XREAD STREAMS s s 5-0 0",
    ),
    "histories after the limit of a read": (
        "XGROUP CREATE s g 0 MKSTREAM",
        "XGROUP CREATE t g 0 MKSTREAM",
        "XADD s 1-0 f v",
        "XREADGROUP GROUP g alice MAXSIZE 30 STREAMS s t > 0",
    ),
    "the last entry under a limit": (
        "XADD s 3-2 v 12",
        "XADD s 4-0 f v",
        "COPY s t",
        "XREAD MAXSIZE 120 MAXCOUNT 3 STREAMS s t t 0 0 +",
        "XREAD MAXCOUNT 11 MAXSIZE 50 STREAMS t t s + 0 7-0",
    ),
    "a limit on the bytes of a waiting read": (
        "XGROUP CREATE s g 0 MKSTREAM",
        "XADD s 2-0 f v",
        "XADD s 4-0 f v",
        *(f"XREAD MAXSIZE {size} BLOCK 1 STREAMS s 0" for size in _SIZES),
        *(f"XGROUP CREATE s g{size} 0" for size in _SIZES),
        *(f"XREADGROUP GROUP g{size} alice MAXSIZE {size} BLOCK 1 STREAMS s >" for size in _SIZES),
    ),
    "a consumer without a name": (
        "XGROUP CREATE s g 0 MKSTREAM",
        "XADD s 1-0 f v",
        "XREADGROUP GROUP g '' STREAMS s >",
        "XPENDING s g",
        "XPENDING s g - + 10",
    ),
    "claims that claim nothing": (
        "XGROUP CREATE s g 0 MKSTREAM",
        "XAUTOCLAIM s g alice 0 0",
        "XCLAIM s g bob 0 IDLE 5000000 FORCE",
        "XCLAIM t g bob 0 IDLE 5000000 FORCE",
        "XAUTOCLAIM s h alice 0 0",
        "XINFO CONSUMERS s g",
    ),
    "a returned entry in a group without consumers": (
        "XGROUP CREATE s g 1 MKSTREAM",
        "XADD s 1-0 f v",
        "XNACK s g FAIL IDS 1 1-0 FORCE",
        "XINFO GROUPS s",
    ),
    "nacks that lower the greatest count": (
        "XGROUP CREATE s g 0 MKSTREAM",
        "XADD s 1-0 f v",
        "XNACK s g FATAL IDS 1 1-0 FORCE",
        "XNACK s g SILENT IDS 1 1-0",
        "XPENDING s g - + 10",
        "XNACK s g SILENT IDS 1 1-0",
        "XINFO STREAM s FULL",
        "XREADGROUP GROUP g alice CLAIM 0 STREAMS s >",
        "XPENDING s g - + 10",
        "XREADGROUP GROUP g alice STREAMS s 0",
        "XCLAIM s g bob 0 1-0",
        "XPENDING s g - + 10",
        "XAUTOCLAIM s g bob 0 0",
        "XNACK s g SILENT IDS 1 1-0",
        "XPENDING s g - + 10",
    ),
    "counts near the greatest one": (
        "XGROUP CREATE s g 0 MKSTREAM",
        "XADD s 1-0 f v",
        "XCLAIM s g bob 0 1-0 RETRYCOUNT 9223372036854775805 FORCE",
        "XPENDING s g - + 10",
        "XREADGROUP GROUP g alice MAXSIZE 100 CLAIM 0 STREAMS s >",
        "XPENDING s g - + 10",
        "XNACK s g FAIL IDS 1 1-0",
        "XPENDING s g - + 10",
        "XNACK s g FAIL IDS 1 1-0 RETRYCOUNT 9223372036854775800",
        "XPENDING s g - + 10",
        "XNACK s g FAIL IDS 1 1-0 RETRYCOUNT 9006969999999999",
        "XPENDING s g - + 10",
    ),
    "a trim between entries with the greatest number of entries": (
        *(f"XADD s {ms}-0 f v" for ms in range(1, 5)),
        "XDEL s 4-0",
        "XSETID s 9-0 ENTRIESADDED 9223372036854775807 MAXDELETEDID 4-0",
        "XGROUP CREATE s g 0",
        "XREADGROUP GROUP g alice COUNT 1 STREAMS s >",
        "XREADGROUP GROUP g bob COUNT 1 STREAMS s >",
        "XREADGROUP GROUP g alice COUNT 1 STREAMS s >",
        "XACK s g 2-0",
        "XTRIM s MAXLEN = 0 ACKED",
        "XRANGE s - +",
    ),
    "idempotency keys of a stream without a name": (
        "XADD '' IDMP q k 1-0 f v",
        "XADD '' IDMP q k 2-0 f v",
        "XADD '' IDMPAUTO q 3-0 f v",
        "XINFO STREAM ''",
    ),
    "an id that is none before a group that is missing": (
        "XGROUP CREATE s g 0 MKSTREAM",
        "XREADGROUP GROUP g alice STREAMS s t x 0",
        "XREADGROUP GROUP g alice STREAMS t s 0 x",
    ),
}
"""Programs that once had other answers behind a gateway."""


@pytest.fixture(scope="module", params=STORE_PARAMS)
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


@pytest.mark.parametrize("lines", FOUND.values(), ids=FOUND)
def test_programs_that_once_differed_get_the_answers_of_the_embedded_engine(
    behind: Behind, lines: tuple[str, ...]
) -> None:
    steps = behind.tagged(
        [([b"" if word == "''" else word.encode() for word in line.split()],) for line in lines]
    )
    assert behind.first_difference(steps) is None


def report(behind: Behind, steps: Program, seed: int, found: Difference) -> str:
    """Return the smallest failing part of the program, with both answers."""
    small = shrink(steps, lambda candidate: behind.first_difference(candidate) is not None)
    found = behind.first_difference(small) or found
    return (
        f"seed {seed}\n{as_text(commands_of(small))}\n"
        f"then    {as_text([found.words])}\nours    {found.ours}\nbehind the gateway  {found.theirs}"
    )
