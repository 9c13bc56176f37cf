"""Rows of the table of goals: what was measured, beside whom, and whether the goal is met.

A bench is a module with ``measure(effort)``, which gives rows, and is a command of its own; ``python -m
bench`` runs them all. Nothing here measures anything.
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
"""Of all chance in the benches."""


class Effort(NamedTuple):
    """How much to measure. `share`: 1 is all of it, 0.1 a look in between, whose figures say little, and less
    shows that a bench runs. `plots`: the directory that plots are drawn to, None for no plots.
    """

    share: float = 1.0
    plots: Path | None = None

    @property
    def is_full(self) -> bool:
        """Whether the figures count."""
        return self.share >= 1

    @property
    def named(self) -> str:
        """In words, to stand beside the figures."""
        return "full" if self.is_full else "quick (a look, whose figures say little)"

    def rounds(self, full: int) -> int:
        """How often to take turns: an odd number, so that there is a median."""
        return full if self.is_full else 3 if self.share >= QUICK_SHARE else 1

    def seconds(self, full: float) -> float:
        """How long to measure at a time."""
        return full if self.is_full else min(full, 10 * self.share)

    def count(self, full: int) -> int:
        """How many of something."""
        return max(round(full * self.share), 1)

    def some(self, full: Sequence[T]) -> Sequence[T]:
        """All of them, or the first one where a bench only shows that it runs."""
        return full if self.share >= QUICK_SHARE else full[:1]


class Row(NamedTuple):
    """`number`: of the goal, None where there is none. `ratio`: as the goal puts it. `is_met`: None where a
    figure is only shown.
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
        """In a word."""
        return "shown" if self.is_met is None else "met" if self.is_met else "short"


Measure = Callable[[Effort], Iterable[Row]]

_HEADINGS: Final = ("#", "what", "durability", "ours", "peer", "ratio", "goal", "")


def at_least(number: int, what: str, durability: str, rates: tuple[float, float], goal: float) -> Row:
    """A row of two rates, ours and the peer's, whose ratio must not be less than the goal."""
    ours, peer = rates
    ratio = ours / peer
    return Row(number, what, durability, per_s(ours), per_s(peer), ratio, f">= {goal:g} x", ratio >= goal)


def cells(row: Row) -> tuple[str, ...]:
    """A row as it is printed."""
    number = "" if row.number is None else str(row.number)
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    return number, row.what, row.durability, row.ours, row.peer, ratio, row.goal, row.verdict


def markdown(rows: Iterable[Row]) -> Iterator[str]:
    """The lines of a table."""
    yield _line(_HEADINGS)
    yield _line(["---"] * len(_HEADINGS))
    for row in rows:
        yield _line(cells(row))


def _line(texts: Iterable[str]) -> str:
    return f"| {' | '.join(texts)} |"


def in_turns(rounds: int, *measures: Callable[[], float]) -> list[float]:
    """The median of each measure, taken in turns so that the machine's moods hit them alike."""
    taken: list[list[float]] = [[] for _ in measures]
    for _ in range(rounds):
        for measure, figures in zip(measures, taken, strict=True):
            figures.append(measure())
    return [statistics.median(figures) for figures in taken]


def per_s(rate: float) -> str:
    """A rate as it is printed."""
    return f"{spaced(rate)}/s"


def machine_load() -> str:
    """How busy the machine was: what else runs is in every figure."""
    return " ".join(f"{load:.1f}" for load in os.getloadavg()) + " (over 1, 5 and 15 minutes)"


def spaced(number: float) -> str:
    """A number as it is printed: whole, in groups of three digits."""
    return f"{number:,.0f}".replace(",", " ")


def add_effort(parser: argparse.ArgumentParser) -> None:
    """The options that every bench has; `effort_of` reads them."""
    parser.add_argument("--quick", action="store_true", help="a short look, whose figures say little")
    parser.add_argument("--document", type=Path, metavar="PAGE", help="renew the figures in this page")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="draw plots to this directory, as SVG")


def effort_of(options: argparse.Namespace) -> Effort:
    """What was asked for on the command line."""
    return Effort(QUICK_SHARE if options.quick else 1.0, options.plots)


def command(measure: Measure, doc: str | None) -> None:
    """Run one bench as a command: its rows, and status 1 where one falls short."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_effort(parser)
    options = parser.parse_args()
    effort, load = effort_of(options), machine_load()
    rows = list(shown(measure(effort)))
    if options.document is not None:
        taken = f"Taken with {effort.named} effort, at a load of {load}."
        renew(options.document, Path(sys.argv[0]).stem, [taken, "", *markdown(rows)])
    sys.exit(1 if short(rows) else 0)


def shown(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows, each printed as it comes, as a table."""
    for line in (_line(_HEADINGS), _line(["---"] * len(_HEADINGS))):
        print(line)
    for row in rows:
        print(_line(cells(row)), flush=True)
        yield row


def short(rows: Sequence[Row]) -> list[Row]:
    """Those that fall short of their goal."""
    return [row for row in rows if row.is_met is False]
