"""The engine in this process, compared with fakeredis (row 13 of docs/performance.md).

Neither side has a socket or a disk: each runs in its own process, and processor time counts. fakeredis is
installed into a separate environment under build/. Each side has a stream of 20 000 entries that are all
pending, and repeats three operations: append one entry, acknowledge one, claim one with a group read. The
replies are checked. Run it with ``python -m bench.engine``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from bench.rows import Effort, Row, at_least, command

ENVIRONMENT: Final = Path("build") / "fakeredis"
REQUIREMENT: Final = "fakeredis==2.40.0"
SIDES: Final = Path(__file__).with_name("engine_sides")
ROUNDS: Final = 5
GOALS: Final = {"XADD": 25, "XACK": 500, "CLAIM": 1000}


def measure(effort: Effort) -> Iterator[Row]:
    """Yield the rows 13."""
    rounds = [
        (_rates(Path(sys.executable), "ours.py"), _rates(_fakeredis(), "theirs.py"))
        for _ in range(effort.rounds(ROUNDS))
    ]
    for name, goal in GOALS.items():
        ours = median(our_rates[name] for our_rates, _ in rounds)
        theirs = median(their_rates[name] for _, their_rates in rounds)
        what = f"{name} in process, 20 000 pending, beside fakeredis"
        yield at_least(13, what, "none", (ours, theirs), goal)


def _rates(python: Path, script: str) -> dict[str, float]:
    result = subprocess.run([python, SIDES / script], capture_output=True, text=True, check=True)
    rates: dict[str, float] = json.loads(result.stdout)
    return rates


def _fakeredis() -> Path:
    """Return the interpreter of an environment that has fakeredis."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        venv.create(ENVIRONMENT, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", REQUIREMENT], check=True)
    return python


if __name__ == "__main__":
    command(measure, __doc__)
