"""The command line of the chaos run: `python -m tests.spark.chaos`, or `make spark-chaos`.

It prints what it does as it does it, and a table at the end. `chaos_run` says what it does. The exit status
is 0 if every row is there once and everything was refused that must be, otherwise 1.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from tests.spark.chaos_plan import COPY, SUNK, Fault, plan_of
from tests.spark.chaos_run import Chaos, Outcome

ROWS: Final = 240_000
SHOWN: Final = 240
"""Of the text of a refusal."""
ROWS_MIN: Final = 1_000
TIMES: Final = {Fault.DRIVER: 8, Fault.WORKER: 16, Fault.SERVER: 10, Fault.TRIM: 12}
HELP: Final = {
    Fault.DRIVER: "how often the driver is killed",
    Fault.WORKER: "how often a Python worker or an executor is killed",
    Fault.SERVER: "how often the server is killed and started again",
    Fault.TRIM: "how often the input is trimmed up to what is copied",
}
WAYS: Final = {SUNK: "files, sink, archive", COPY: "producers, copy, archive"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and return the exit status."""
    options = parsed(arguments)
    times = {fault: getattr(options, _name(fault)) for fault in Fault}
    plan = plan_of(options.seed, options.rows, times)
    began_s = time.monotonic()
    print(f"seed {options.seed}, {2 * plan.rows} rows", flush=True)  # noqa: T201
    with ExitStack() as stack:
        directory = options.directory or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        run = Chaos(plan, directory, lambda text: said(text, time.monotonic() - began_s))
        outcome = run.run()
    print(table(outcome), flush=True)  # noqa: T201
    return 0 if outcome.is_right else 1


def said(text: str, after_s: float) -> None:
    print(f"{after_s:6.1f} s  {text}", flush=True)  # noqa: T201


def table(outcome: Outcome) -> str:
    """The outcome for people."""
    ways = [(WAYS[stream], counts) for stream, counts in outcome.counts.items()]
    lines = [f"{'':34}" + "".join(f"{way:>28}" for way, _ in ways)]
    lines += [
        f"{name:34}" + "".join(f"{getattr(counts, name):28}" for _, counts in ways)
        for name in ("rows", "archived", "live", "both", "lost", "doubled", "strange", "decoys")
    ]
    lines.append("")
    lines += [f"{name:34}{times:28}" for name, times in sorted(outcome.faults.items())]
    lines.append("")
    lines += [f"refused as it must be, {way}: {text[:SHOWN]}" for way, text in outcome.refused.items()]
    lines += [f"WRONG: {wrong}" for wrong in outcome.wrongs]
    verdict = "every row once" if outcome.is_right else "NOT every row once"
    lines.append(f"seed {outcome.plan.seed}, {outcome.duration_s:.0f} s: {verdict}")
    return "\n".join(lines)


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.spark.chaos",
        description="Send rows through producers, sink, source and archive, kill everything now and then, "
        "and count with DuckDB that each row is there exactly once.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--rows", type=_rows, default=ROWS, help="rows in all; half of them take each way")
    parser.add_argument(
        "--seed", type=int, default=random.randrange(1 << 32), help="the same seed plans the same kills"
    )
    parser.add_argument(
        "--directory",
        type=Path,
        help="an empty directory for data, archives and logs, which stay; default: a temporary one",
    )
    for fault, times in TIMES.items():
        parser.add_argument(f"--{_name(fault).replace('_', '-')}", type=int, default=times, help=HELP[fault])
    return parser.parse_args(arguments)


def _name(fault: Fault) -> str:
    return fault.value.replace(" ", "_")


def _rows(text: str) -> int:
    rows = int(text)
    if rows < ROWS_MIN:
        raise argparse.ArgumentTypeError(f"{rows} is less than {ROWS_MIN}")
    return rows


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that nothing that the run started stays
    sys.exit(main())
