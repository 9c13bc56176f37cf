"""The seeds of random tests: five that change every day in `make test`, further ones in `make test-all`.

`TESTS_SEED` is the first seed. Every run prints it, so that a failure of another day can be repeated.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

import pytest

NAME: Final = "TESTS_SEED"
PER_DAY: Final = 1000
"""The distance of the first seeds of two days: more than any test uses."""

IN_EVERY_RUN: Final = 5

FIRST_SEED: Final = int(os.environ.setdefault(NAME, str(datetime.now(UTC).toordinal() * PER_DAY)))
"""The first seed. It is set in the environment for the processes that this one starts: midnight changes
nothing for them."""


def seeds(count: int, in_every_run: int = IN_EVERY_RUN) -> list[Any]:
    """Return the parameters of a test that runs with `count` seeds, of which `make test` takes some."""
    chosen = range(FIRST_SEED, FIRST_SEED + count)
    further = (pytest.param(seed, marks=pytest.mark.long) for seed in chosen[in_every_run:])
    return [*chosen[:in_every_run], *further]


def _long(case: Any) -> Any:
    values = case if type(case) is tuple else (case,)
    return pytest.param(*values, marks=pytest.mark.long)


def is_due(number: int, share: int) -> bool:
    """Return whether the case of this number is one of those of the day: one of `share`."""
    return number % share == FIRST_SEED // PER_DAY % share


def some_each_day(cases: Iterable[Any], share: int) -> list[Any]:
    """Return the cases of a test as its parameters. `make test` takes one of `share` cases, others every
    day."""
    return [case if is_due(number, share) else _long(case) for number, case in enumerate(cases)]
