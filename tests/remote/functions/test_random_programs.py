"""Random programs get the same answers from the embedded engine and from a real one behind the function
library.

The library does on 7.0.15 what that engine lacks, and the same on 8.10.2, whose own commands the embedded
engine was compared with. `TESTS_FUNCTIONS_COMMANDS` is how many commands each engine gets (2000), and
`TESTS_DIFFERENTIAL_SEED` the seed of the first program. A failing program is printed small, with its
seed.
"""

from __future__ import annotations

import os
from typing import Final

from tests.differential.harness import Difference, commands_of
from tests.differential.shrink import as_text, shrink
from tests.differential.vocabulary import Program
from tests.remote.functions.conftest import Behind
from tests.remote.functions.emulated import first_difference, program
from tests.remote.functions.emulation import Emulation
from tests.support import seeds

COMMANDS: Final = int(os.environ.get("TESTS_FUNCTIONS_COMMANDS", "2000"))
FIRST_SEED: Final = int(os.environ.get("TESTS_DIFFERENTIAL_SEED", seeds.FIRST_SEED))
STEPS: Final = 60


def test_random_programs_get_the_answers_of_the_embedded_engine(behind: Behind) -> None:
    emulation = Emulation(behind.engine)
    compared, seed = 0, FIRST_SEED
    while compared < COMMANDS:
        steps = program(seed, STEPS)
        found = first_difference(emulation, behind.version.comparison, steps)
        assert found is None, report(behind, steps, seed, found)
        compared += len(commands_of(steps))
        seed += 1


def report(behind: Behind, steps: Program, seed: int, found: Difference) -> str:
    """The smallest failing part of the program, with both answers."""
    emulation, comparison = Emulation(behind.engine), behind.version.comparison
    small = shrink(steps, lambda part: first_difference(emulation, comparison, part) is not None)
    last = first_difference(emulation, comparison, small) or found
    return (
        f"seed {seed}\n{as_text(commands_of(small))}\n"
        f"then    {as_text([last.words])}\nours    {last.ours}\ntheirs  {last.theirs}"
    )
