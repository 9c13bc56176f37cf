"""Runs all benches that have goals, one after another: ``python -m bench --only 1-3,9 --json
build/bench.json``.

It prints each row as soon as it is measured, then the rows that miss their goal; the exit status is 1 if
there are any. The output files contain the rows, and the machine and versions of the run.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from bench import machine
from bench.documents import renew, renew_rows
from bench.rows import SEED, Effort, Row, add_effort, effort_of, markdown, short, shown

BENCHES: Final[Mapping[str, tuple[int, ...]]] = {
    "appends": (1, 2, 19),
    "imports": (3,),
    "clients": (3, 4, 5),
    "claim_reads": (6,),
    "memory": (7, 8),
    "wakeups": (9,),
    "claims": (9,),
    "fanout": (10,),
    "growth": (11, 12),
    "engine": (13,),
    "spark_sink": (14,),
    "spark_source": (15,),
    "websocket": (16,),
    "cluster": (17,),
    "startup": (20,),
    "order_by_key": (21,),
    "traffic": (23,),
    "pushes": (24,),
}
"""Each module, and the numbers of its rows. Modules are imported when they run, because importing Spark is
slow.
"""


def measured(goals: frozenset[int], effort: Effort) -> Iterator[Row]:
    """Yield the rows with these numbers, in the order of the modules."""
    for name, numbers in BENCHES.items():
        if goals.isdisjoint(numbers):
            continue
        for row in importlib.import_module(f"bench.{name}").measure(effort):
            if row.number in goals:
                yield row


def goals_of(text: str) -> frozenset[int]:
    """Return the numbers in a text such as ``1-3,9``."""
    parts = [part.partition("-") for part in text.split(",")]
    return frozenset(
        number for first, _, last in parts for number in range(int(first), int(last or first) + 1)
    )


def as_json(facts: Mapping[str, str], rows: Sequence[Row]) -> str:
    """Return a whole run as JSON."""
    records = [row._asdict() | {"verdict": row.verdict} for row in rows]
    return json.dumps({"measured_on": facts, "rows": records}, indent=2) + "\n"


def as_markdown(facts: Mapping[str, str], rows: Sequence[Row]) -> str:
    """Return a whole run as Markdown."""
    return "\n".join([*_listed(facts), "", *markdown(rows), ""])


def _listed(facts: Mapping[str, str]) -> list[str]:
    return [f"- {name}: {fact}" for name, fact in facts.items()]


def _write(path: Path | None, text: str) -> None:
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _renew(page: Path, only: frozenset[int] | None, facts: Mapping[str, str], rows: Sequence[Row]) -> None:
    """Write the rows into the page: in place of all rows, or of those that were chosen."""
    if only is None:
        renew(page, "goals", as_markdown(facts, rows).splitlines())
        return
    _, _, *lines = markdown(rows)
    renew_rows(page, "goals", only, facts["load before"], lines)


def main() -> int:
    """Measure, print and write the files. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", type=goals_of, metavar="1-3,9", help="the goals to measure; all without it")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to this file")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table to this file")
    add_effort(parser)
    options = parser.parse_args()
    goals = options.only or frozenset(number for numbers in BENCHES.values() for number in numbers)
    effort = effort_of(options)
    facts = machine.described() | {
        "effort": effort.named,
        "seed": str(SEED),
    }
    print(*_listed(facts), "", sep="\n", flush=True)
    rows = list(shown(measured(goals, effort)))
    _write(options.json, as_json(facts, rows))
    _write(options.markdown, as_markdown(facts, rows))
    if options.document is not None:
        _renew(options.document, options.only, facts, rows)
    lacking = short(rows)
    print(
        f"\n{len(lacking)} of {len(rows)} fall short of their goal",
        *[f"- {row.what}" for row in lacking],
        sep="\n",
    )
    return 1 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
