"""The plan of a chaos run: how many rows, in which portions, and what happens to whom at which point.

A point is a number of entries that the streams have ever got, so the kills are spread over the work, however
fast the machine is. The same seed gives the same plan. This module starts and kills nothing.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import Enum
from typing import Final

INPUT: Final = "chaos:in"
SUNK: Final = "chaos:sunk"
COPY: Final = "chaos:copy"
GROUP: Final = "copy"
"""Follows the copy, so that `INPUT` can be trimmed up to what is copied."""

BATCHES: Final = 40
"""Of each query, with fewer in a run of few rows."""
BATCH_ROWS_MIN: Final = 240
CHUNKS_A_BATCH: Final = 12
DECOYS_FROM: Final = 1_000_000_000
"""Rows from this number on can be deleted at any time: they arrive at most once."""
DECOY_EVERY: Final = 25
LAST_POINT: Final = 0.85
"""The part of all entries after which nothing more is killed."""


class Fault(Enum):
    """What happens at a point."""

    DRIVER = "driver kills"
    WORKER = "worker kills"
    SERVER = "server kills"
    TRIM = "trims"


@dataclass(frozen=True, slots=True)
class Plan:
    """`rows`: for each of the two ways, through the sink and through producers and the copy. `points`: what
    happens after how many entries, in order."""

    seed: int
    rows: int
    points: tuple[tuple[int, Fault], ...]

    @property
    def batch_rows(self) -> int:
        """The entries of a micro-batch of the copy, and twice the rows of an input file of the sink."""
        return max(self.rows // BATCHES, BATCH_ROWS_MIN)

    @property
    def chunk_rows(self) -> int:
        return self.batch_rows // CHUNKS_A_BATCH

    @property
    def step_entries(self) -> int:
        """The entries of a step of the archive."""
        return self.batch_rows * 2

    @property
    def ahead_max(self) -> int:
        """How many entries the producers may be ahead of the copy."""
        return self.batch_rows * 10


def plan_of(seed: int, rows: int, counts: dict[Fault, int]) -> Plan:
    """Return the plan for `rows` rows in all. `counts`: how often each fault happens."""
    chance = random.Random(seed)
    each = rows // 2
    entries = 3 * each
    points = [
        (chance.randrange(entries // 20, round(entries * LAST_POINT)), fault)
        for fault, count in counts.items()
        for _ in range(count)
    ]
    return Plan(seed, each, tuple(sorted(points, key=lambda point: point[0])))


def with_decoys(start: int, end: int) -> list[int]:
    """The numbers from `start` up to `end`, with decoys between them."""
    numbers = []
    for number in range(start, end):
        numbers.append(number)
        if number % DECOY_EVERY == 0:
            numbers.append(DECOYS_FROM + number)
    return numbers
