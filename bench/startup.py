"""Start-up times (row 20 of docs/performance.md): `tailrace --help`, a server on an empty directory, and the
import of the Python SDK.

Each figure is the processor time of a new process, user and system, because other programs on the machine
change it less than the time on the clock; the median of the clock is in the row too. The peer's column shows
the part that cannot be avoided: the interpreter alone, and for the server the interpreter that imports
FastAPI. Compiled modules are cached, as after the first start. Run it with ``python -m bench.startup``.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from bench.rows import Effort, Row, command
from bench.server import READY, busy_s

ROUNDS: Final = 9
MS_PER_S: Final = 1_000
GOALS_MS: Final = {"--help": 200, "ready": 400, "import": 100}

_WAIT_S: Final = 60
_CLI: Final = ("-c", "from tailrace.app.cli import main; main()")


class Took(NamedTuple):
    """What one start took, in milliseconds of processor time and on the clock."""

    cpu_ms: float
    wall_ms: float


def measure(effort: Effort) -> Iterator[Row]:
    """Yield rows 20."""
    bare = _program("-c", "pass")
    rounds = effort.rounds(ROUNDS)
    yield _row("tailrace --help", GOALS_MS["--help"], rounds, _program(*_CLI, "--help"), bare)
    framework = _program("-c", "import fastapi")
    what = "server ready on an empty directory, beside an import of FastAPI alone"
    yield _row(what, GOALS_MS["ready"], rounds, _server_ready, framework)
    sdk = _program("-c", "import tailrace_client")
    yield _row("import tailrace_client", GOALS_MS["import"], rounds, sdk, bare)
    sdk_used = _program("-c", "from tailrace_client import Tailrace")
    yield _row("from tailrace_client import Tailrace", None, rounds, sdk_used, bare)


def _row(
    what: str, goal_ms: int | None, rounds: int, ours: Callable[[], Took], floor: Callable[[], Took]
) -> Row:
    ours()  # the first start writes the compiled modules
    both = [(ours(), floor()) for _ in range(rounds)]
    mine, theirs = (
        Took(*map(statistics.median, zip(*side, strict=True))) for side in zip(*both, strict=True)
    )
    goal = "" if goal_ms is None else f"<= {goal_ms} ms"
    is_met = None if goal_ms is None else mine.cpu_ms <= goal_ms
    return Row(20, what, "", _text(mine), _text(theirs), mine.cpu_ms / theirs.cpu_ms, goal, is_met)


def _text(took: Took) -> str:
    return f"{took.cpu_ms:.0f} ms of processor time, {took.wall_ms:.0f} ms on the clock"


def _program(*arguments: str) -> Callable[[], Took]:
    def run() -> Took:
        before_s = _children_busy_s()
        began_s = time.perf_counter()
        subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, env=_caching(), check=True)
        wall_s = time.perf_counter() - began_s
        return Took((_children_busy_s() - before_s) * MS_PER_S, wall_s * MS_PER_S)

    return run


def _children_busy_s() -> float:
    """Return the processor time of all processes that this one waited for, to the microsecond."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _server_ready() -> Took:
    """Start a server, and return what it took until it printed its URL."""
    with tempfile.TemporaryDirectory(prefix="tailrace-bench-") as scratch:
        options = [
            "serve",
            "--port",
            "0",
            "--data-dir",
            str(Path(scratch) / "data"),
            "--log-level",
            "warning",
        ]
        began_s = time.perf_counter()
        with subprocess.Popen(
            [sys.executable, *_CLI, *options], stdout=subprocess.PIPE, text=True, env=_caching()
        ) as process:
            assert process.stdout
            line = process.stdout.readline()
            took = Took(busy_s(process.pid) * MS_PER_S, (time.perf_counter() - began_s) * MS_PER_S)
            process.terminate()
            process.wait(_WAIT_S)
        assert READY.search(line), f"the server did not start: {line}"
        return took


def _caching() -> Mapping[str, str]:
    """Return the environment, in which Python writes compiled modules."""
    return {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


if __name__ == "__main__":
    command(measure, __doc__)
