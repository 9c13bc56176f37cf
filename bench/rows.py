"""The rows of docs/performance.md: one measurement each, with the peer's figure and the goal.

A bench is a module with a function ``measure(effort)`` that returns rows; each bench is a command, and
``python -m bench`` runs them all. This module measures nothing itself.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from bench.documents import renew

T = TypeVar("T")

QUICK_SHARE: Final = 0.1
SEED: Final = 20
"""The seed of all random choices in the benches."""


class Effort(NamedTuple):
    """How much to measure. `share`: 1 is a full run; 0.1 is a quick run, whose figures are not reliable; a
    smaller share only tests that a bench runs. `plots`: the directory for plots, or None for no plots.
    `only`: a text in the names of the rows to measure; benches of many rows look at it.
    """

    share: float = 1.0
    plots: Path | None = None
    only: str = ""

    @property
    def is_full(self) -> bool:
        """Whether the figures are reliable."""
        return self.share >= 1

    def covers(self, what: str) -> bool:
        """Return whether to measure the row `what`."""
        return self.only in what

    @property
    def named(self) -> str:
        """The effort as text, to be shown with the figures."""
        return "full" if self.is_full else "quick (the figures are not reliable)"

    def rounds(self, full: int) -> int:
        """Return the number of rounds of each side. It is odd, so the median is one of the figures."""
        return full if self.is_full else 3 if self.share >= QUICK_SHARE else 1

    def seconds(self, full: float) -> float:
        """Return the number of seconds to measure in each round."""
        return full if self.is_full else min(full, 10 * self.share)

    def count(self, full: int) -> int:
        """Return `full` scaled by the share, and at least 1."""
        return max(round(full * self.share), 1)

    def some(self, full: Sequence[T]) -> Sequence[T]:
        """Return all items, or only the first one if the run only tests that a bench runs."""
        return full if self.share >= QUICK_SHARE else full[:1]


class Row(NamedTuple):
    """One figure. `number`: the number of its goal, or None. `ratio`: ours to the peer's, in the form that
    the goal uses. `is_met`: None if the row has no goal.
    """

    number: int | None
    what: str
    durability: str
    ours: str
    peer: str
    ratio: float | None
    goal: str
    is_met: bool | None

    @property
    def verdict(self) -> str:
        """The result as one word."""
        return "shown" if self.is_met is None else "met" if self.is_met else "short"


Measure = Callable[[Effort], Iterable[Row]]

_HEADINGS: Final = ("#", "what", "durability", "ours", "peer", "ratio", "goal", "")


def at_least(number: int, what: str, durability: str, rates: tuple[float, float], goal: float) -> Row:
    """Return a row of two rates, ours and the peer's. The goal is met if their ratio is at least `goal`."""
    ours, peer = rates
    ratio = ours / peer
    return Row(number, what, durability, per_s(ours), per_s(peer), ratio, f">= {goal:g} x", ratio >= goal)


def at_most_us(
    number: int, what: str, durability: str, times_us: tuple[float, float | None], goal_us: float
) -> Row:
    """Return a row of two times in microseconds, ours and the peer's if it has one. Our time is to be at most
    `goal_us`."""
    ours, peer = times_us
    theirs, ratio = ("", None) if peer is None else (f"{peer:.1f} us", ours / peer)
    return Row(
        number, what, durability, f"{ours:.1f} us", theirs, ratio, f"<= {goal_us:g} us", ours <= goal_us
    )


def cells(row: Row) -> tuple[str, ...]:
    """Return the cells of a row as text."""
    number = "" if row.number is None else str(row.number)
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    return number, row.what, row.durability, row.ours, row.peer, ratio, row.goal, row.verdict


def markdown(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield _line(_HEADINGS)
    yield _line(["---"] * len(_HEADINGS))
    for row in rows:
        yield _line(cells(row))


def _line(texts: Iterable[str]) -> str:
    return f"| {' | '.join(texts)} |"


def in_turns(rounds: int, *measures: Callable[[], float]) -> list[float]:
    """Return the median of each measure. The measures alternate, so that other load affects them equally."""
    singles = (_in_a_row(measure) for measure in measures)
    return [figure for (figure,) in medians_in_turns(rounds, *singles)]


def medians_in_turns(rounds: int, *measures: Callable[[], Sequence[float]]) -> list[list[float]]:
    """As `in_turns`, for measures that take several figures at once: return the median of each figure."""
    taken: list[list[Sequence[float]]] = [[] for _ in measures]
    for _ in range(rounds):
        for measure, rows in zip(measures, taken, strict=True):
            rows.append(measure())
    return [[statistics.median(figures) for figures in zip(*rows, strict=True)] for rows in taken]


def _in_a_row(measure: Callable[[], float]) -> Callable[[], Sequence[float]]:
    return lambda: (measure(),)


def per_s(rate: float) -> str:
    """Return a rate as text."""
    return f"{spaced(rate)}/s"


def machine_load() -> str:
    """Return the load of the machine, which affects every figure."""
    return " ".join(f"{load:.1f}" for load in os.getloadavg()) + " (over 1, 5 and 15 minutes)"


def spaced(number: float) -> str:
    """Return a number as text: rounded to an integer, in groups of three digits."""
    return f"{number:,.0f}".replace(",", " ")


def add_effort(parser: argparse.ArgumentParser) -> None:
    """Add the options that every bench has; `effort_of` reads them."""
    parser.add_argument("--quick", action="store_true", help="a short run, whose figures are not reliable")
    parser.add_argument("--document", type=Path, metavar="PAGE", help="renew the figures in this page")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="draw plots to this directory, as SVG")


def effort_of(options: argparse.Namespace) -> Effort:
    """Return the effort from the command line."""
    return Effort(QUICK_SHARE if options.quick else 1.0, options.plots)


def command(measure: Measure, doc: str | None) -> None:
    """Run one bench as a command: print its rows, and exit with status 1 if a row misses its goal."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_effort(parser)
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="rows with this text, if the bench has many"
    )
    options = parser.parse_args()
    effort, load = effort_of(options)._replace(only=options.only), machine_load()
    rows = list(shown(measure(effort)))
    if options.document is not None:
        taken = f"Taken with {effort.named} effort, at a load of {load}."
        renew(options.document, Path(sys.argv[0]).stem, [taken, "", *markdown(rows)])
    sys.exit(1 if short(rows) else 0)


def shown(rows: Iterable[Row]) -> Iterator[Row]:
    """Print each row of a table as soon as it is measured, and yield it."""
    for line in (_line(_HEADINGS), _line(["---"] * len(_HEADINGS))):
        print(line)
    for row in rows:
        print(_line(cells(row)), flush=True)
        yield row


def short(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that miss their goal."""
    return [row for row in rows if row.is_met is False]
