"""How the fuzzers run their programs: which ones, how many at the same time, and what a failure tells.

It knows neither the requests of a program nor how to judge it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Iterator
from itertools import islice
from typing import Final, Protocol, TypeVar

from tests.support.seeds import FIRST_SEED

SEED: Final = int(os.environ.get("TESTS_FUZZ_SEED", FIRST_SEED))
"""The seed of the first program."""

PROGRAMS: Final = os.environ.get("TESTS_FUZZ_PROGRAMS")
"""How many programs run on each disk, if it is set."""

AT_A_TIME: Final = 4
"""How many programs run at the same time."""

PATIENCE_S: Final = 60
"""Longer than any program takes: after this time, a connection hangs."""


PATIENT: Final = ("--log-level", "warning", "--keep-alive-timeout-s", "600", "--header-timeout-s", "600")
"""Options of both servers: no deadline ends a connection of a client that the machine keeps waiting."""


class Seeded(Protocol):
    """A program with its seed."""

    @property
    def seed(self) -> int: ...


ProgramT = TypeVar("ProgramT", bound=Seeded)


def seeds(standard_count: int) -> range:
    """Return the seeds of the programs that run on each disk. They are printed where a test fails."""
    count = standard_count if PROGRAMS is None else int(PROGRAMS)
    print(f"{count} programs, TESTS_FUZZ_SEED={SEED}")  # noqa: T201 - shown where one fails
    return range(SEED, SEED + count)


async def run_all(programs: Iterable[ProgramT], run: Callable[[ProgramT], Awaitable[None]]) -> None:
    """Run some programs at a time. The note of a failure has the seed and the program."""

    async def run_noted(program: ProgramT) -> None:
        try:
            await run(program)
        except Exception as failure:
            failure.add_note(f"TESTS_FUZZ_SEED={program.seed}\n{program}")
            raise

    for some in _batched(programs, AT_A_TIME):
        await asyncio.gather(*(run_noted(each) for each in some))


def _batched(programs: Iterable[ProgramT], count: int) -> Iterator[list[ProgramT]]:
    left = iter(programs)
    while some := list(islice(left, count)):
        yield some
