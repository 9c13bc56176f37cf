"""Times the cases with pytest-benchmark; `make bench-core` stores the results in build/benchmarks.

The results name the timed `core`, which may be an older one (`bench.core.compare`).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from bench.core.cases import CASES
from tailrace import core


@pytest.mark.parametrize("name", CASES)
def test_case(benchmark: BenchmarkFixture, name: str) -> None:
    """Time one operation."""
    assert core.__file__
    benchmark.extra_info["core"] = str(Path(core.__file__).parent)
    benchmark(CASES[name]())
