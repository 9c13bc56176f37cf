"""Coverage-guided fuzzing with atheris: ``python -m tests.fuzz.run`` (`make fuzz`), for `FUZZ_SECONDS`.

Each target runs in a process of its own, for its share of the time, two at a time. The corpus is kept in
`build/fuzz` and grows from run to run; an input that made a target fail is kept there, too, and named.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from tests.fuzz.seeds import SEEDS, WORDS
from tests.fuzz.targets import TARGETS

CORPUS: Final = Path("build/fuzz")
SECONDS_DEFAULT: Final = 600
PROCESSES: Final = 2
INPUT_BYTES_MAX: Final = 16_384
INPUT_TIMEOUT_S: Final = 10

_EXECUTIONS: Final = re.compile(r"stat::number_of_executed_units:\s*(\d+)")
_COVERAGE: Final = re.compile(r"cov: (\d+) ft: (\d+)")
_KEPT: Final = re.compile(r"Test unit written to (\S+)")


def options_of(target: str, seconds: int) -> list[str]:
    """The options of libFuzzer."""
    return [
        f"-max_total_time={seconds}",
        f"-max_len={INPUT_BYTES_MAX}",
        f"-timeout={INPUT_TIMEOUT_S}",
        f"-dict={CORPUS / 'words'}",
        f"-artifact_prefix={CORPUS / 'finds' / target}-",
        "-print_final_stats=1",
        "-rss_limit_mb=4096",
        str(CORPUS / target),
    ]


def prepare() -> None:
    """Lay out the folders, the seeds and the words."""
    (CORPUS / "finds").mkdir(parents=True, exist_ok=True)
    (CORPUS / "words").write_text("".join(map(_dictionary_line, WORDS)))
    for target, seeds in SEEDS.items():
        folder = CORPUS / target
        folder.mkdir(exist_ok=True)
        for number, seed in enumerate(seeds):
            (folder / f"seed-{number}").write_bytes(seed)


def _dictionary_line(word: str) -> str:
    escaped = "".join(rf"\x{byte:02x}" for byte in word.encode())
    return f'"{escaped}"\n'


def run_one(target: str, seconds: int) -> tuple[str, bool]:
    """Fuzz one target in a child; a line about it, and whether it held."""
    command = [sys.executable, "-m", "tests.fuzz.one", target, *options_of(target, seconds)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    executions, coverage = _EXECUTIONS.search(done.stderr), _COVERAGE.findall(done.stderr)
    count = int(executions[1]) if executions else 0
    reached = coverage[-1][0] if coverage else "?"
    line = f"{target:18} {seconds:4} s {count:10,} executions, {reached:>5} places reached"
    if done.returncode == 0:
        return f"{line}, no find", True
    kept = _KEPT.search(done.stderr)
    return f"{line}, A FIND: {kept[1] if kept else 'none kept'}\n{done.stderr[-4_000:]}", False


def run_all(seconds: int) -> bool:
    """Fuzz every target for its share of `seconds`."""
    prepare()
    shares = sum(target.share for target in TARGETS.values())
    with ThreadPoolExecutor(PROCESSES) as pool:
        jobs = [
            pool.submit(run_one, name, max(1, seconds * PROCESSES * target.share // shares))
            for name, target in TARGETS.items()
        ]
        results = [job.result() for job in jobs]
    print("\n".join(line for line, _ in results))  # noqa: T201 - what came of it
    return all(held for _, held in results)


def main() -> int:
    """All targets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=int(os.environ.get("FUZZ_SECONDS", SECONDS_DEFAULT)))
    return 0 if run_all(parser.parse_args().seconds) else 1


if __name__ == "__main__":
    sys.exit(main())
