"""Every bench runs, checks its answers and returns rows. The runs are too short for their figures to mean
anything. `make test` takes a third of them, others every day."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from bench.__main__ import BENCHES
from bench.core.cases import CASES
from bench.rows import Effort, cells
from tests.support.seeds import some_each_day

TINY = Effort(0.001)
SPARK = (14, 15)
WITH_A_GOAL = [name for name, numbers in BENCHES.items() if not set(SPARK) & set(numbers)]


@pytest.mark.parametrize("name", some_each_day(WITH_A_GOAL, 3))
def test_a_bench_gives_rows_of_its_goals(name: str) -> None:
    rows = list(import_module(f"bench.{name}").measure(TINY))
    assert {row.number for row in rows} <= set(BENCHES[name])
    assert rows
    for row in rows:
        assert row.ours
        assert all("|" not in cell for cell in cells(row))


@pytest.mark.parametrize(
    ("name", "plot"),
    some_each_day(
        [
            ("settings", "durability.svg"),
            ("ceilings", None),
            ("arrow_bodies", None),
            ("front_processes", None),
        ],
        4,
    ),
)
def test_a_bench_without_a_goal_only_shows(name: str, plot: str | None, tmp_path: Path) -> None:
    rows = list(import_module(f"bench.{name}").measure(TINY._replace(plots=tmp_path)))
    assert rows
    assert all(row.is_met is None and row.number is None and row.peer for row in rows)
    assert plot is None or (tmp_path / plot).read_text().startswith("<?xml")


@pytest.mark.parametrize("name", CASES)
def test_a_case_of_core_finds_its_work_again_at_each_call(name: str) -> None:
    call = CASES[name]()
    for _ in range(250):
        call()
