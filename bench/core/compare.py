"""The effect of a change on `core`: runs the cases of the working tree with the code of another revision and
of the tree.

The revision is checked out under build/revisions. Both sides alternate, and each run is a fresh process that
reports which `core` it timed. The table shows the median of the runs' medians, and the ratio, which is less
than 1 if the tree is faster. If the clock is too noisy, ``--instructions`` counts instructions under
callgrind (Debian: valgrind), once for each side. Run it with ``python -m bench.core.compare main`` or ``make
bench-compare REV=main``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Final

from bench.core.cases import CASES
from bench.core.count import CALLS
from bench.peers import program

TREE: Final = Path(__file__).parents[2]
REVISIONS: Final = TREE / "build" / "revisions"
STORED: Final = TREE / "build" / "benchmarks"
SUITE: Final = Path(__file__).with_name("test_cases.py")
ROUNDS: Final = 3
MAX_TIME_S: Final = 0.3

_COUNTED: Final = re.compile(r"^(?:summary|totals): (\d+)", re.MULTILINE)

Figures = dict[str, float]


def laid_out(revision: str) -> Path:
    """Return the directory of the revision's `core`, created if it is missing."""
    commit = _git("rev-parse", "--verify", f"{revision}^{{commit}}").decode().strip()
    directory = REVISIONS / commit
    if not directory.exists():
        with tempfile.TemporaryDirectory(dir=_made(REVISIONS)) as scratch:
            with tarfile.open(fileobj=BytesIO(_git("archive", commit, "core", "tailrace"))) as archive:
                archive.extractall(scratch, filter="data")
            for folder in ("core", "tailrace"):
                (Path(scratch) / folder).rename(_made(directory) / folder)
    return directory


def _made(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def _git(*arguments: str) -> bytes:
    result = subprocess.run([program("git"), *arguments], cwd=TREE, capture_output=True, check=False)
    if result.returncode:
        raise SystemExit(result.stderr.decode().strip())
    return result.stdout


def _environment(root: Path) -> dict[str, str]:
    """Environment variables that import `core` from `root` and the suite from the tree, with a fixed hash
    seed.
    """
    # In a process of pytest-xdist, pytest-benchmark would time nothing.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST_")}
    return {**inherited, "PYTHONPATH": os.pathsep.join([str(root), str(TREE)]), "PYTHONHASHSEED": "0"}


def timed_us(root: Path, stored: Path, cases: Sequence[str]) -> Figures:
    """Return the median of each case in microseconds, from one run of the suite."""
    stored.unlink(missing_ok=True)
    chosen = ["-k", " or ".join(f"[{case}]" for case in cases)]
    paths = ["-o", f"pythonpath={root} {TREE}", "--override-ini", "addopts=--import-mode=importlib"]
    options = [f"--benchmark-json={stored}", f"--benchmark-max-time={MAX_TIME_S}", "--benchmark-disable-gc"]
    command = [sys.executable, "-P", "-m", "pytest", "-q", str(SUITE), *paths, *options, *chosen]
    result = subprocess.run(
        command, cwd=stored.parent, env=_environment(root), capture_output=True, text=True, check=False
    )
    if not stored.exists():
        raise SystemExit(result.stdout + result.stderr)
    benchmarks = json.loads(stored.read_text())["benchmarks"]
    for each in benchmarks:
        assert each["extra_info"]["core"] == str(root / "tailrace" / "core"), each["extra_info"]
    return {each["params"]["name"]: 1e6 * each["stats"]["median"] for each in benchmarks}


def counted(root: Path, cases: Sequence[str]) -> Figures:
    """Return the instructions of one call of each case."""
    with tempfile.TemporaryDirectory() as scratch:
        callgrind = [program("valgrind"), "--tool=callgrind", "--dump-before=sched_yield"]
        command = [*callgrind, f"--callgrind-out-file={scratch}/out", sys.executable, "-P", "-m"]
        subprocess.run(
            [*command, "bench.core.count", *cases],
            cwd=scratch,
            env=_environment(root),
            capture_output=True,
            check=True,
        )
        parts = sorted(Path(scratch).glob("out.*"), key=lambda part: int(part.suffix[1:]))
        totals = [int(found[1]) for part in parts if (found := _COUNTED.search(part.read_text()))]
    # The parts alternate: the calls of a case, then the code before the next case. The first part is the
    # start.
    return {case: total / CALLS for case, total in zip(cases, totals[1::2], strict=False)}


def in_turns(roots: Sequence[Path], rounds: int, cases: Sequence[str]) -> list[Figures]:
    """Return the median of the runs, for each side."""
    runs: list[list[Figures]] = [[] for _ in roots]
    for number in range(rounds):
        for root, taken in zip(roots, runs, strict=True):
            side = "tree" if root == TREE else root.name[:12]
            taken.append(timed_us(root, _made(STORED) / f"{side}-{number}.json", cases))
    return [_medians(taken) for taken in runs]


def _medians(runs: Sequence[Figures]) -> Figures:
    names = set.intersection(*(set(run) for run in runs))
    return {name: statistics.median(run[name] for run in runs) for name in names}


def table(
    names: Iterable[str], unit: str, before: Mapping[str, float], after: Mapping[str, float]
) -> Iterator[str]:
    """Yield the comparison as Markdown. A case that one side cannot run has no ratio."""
    yield f"| case | before, {unit} | after, {unit} | ratio |"
    yield "|---|---|---|---|"
    for name in names:
        sides = [f"{side[name]:,.2f}".replace(",", " ") if name in side else "-" for side in (before, after)]
        ratio = f"{after[name] / before[name]:.3f}" if name in before and name in after else "-"
        yield f"| {name} | {sides[0]} | {sides[1]} | {ratio} |"


def main() -> None:
    """Compare, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("revision", help="what the tree is compared with: a branch, a tag or a commit")
    parser.add_argument("--case", action="append", choices=CASES, help="once for each; all without it")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="runs a side")
    parser.add_argument("--instructions", action="store_true", help="count instructions, by callgrind")
    options = parser.parse_args()
    roots = [laid_out(options.revision), TREE]
    cases = options.case or list(CASES)
    if options.instructions:
        unit, (before, after) = "instructions", [counted(root, cases) for root in roots]
    else:
        unit, (before, after) = "us", in_turns(roots, options.rounds, cases)
    print(*table(cases, unit, before, after), sep="\n")


if __name__ == "__main__":
    main()
