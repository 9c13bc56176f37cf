"""Prints the results of a load, and its progress. It measures nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from tailrace.app.cli.output import say_json, say_row
from tailrace.app.cli.streams.rows import Column, Item, number, plain, text

if TYPE_CHECKING:
    from rich.progress import Progress

_THOUSANDS_FROM: Final = 10_000
_WHOLE_FROM: Final = 100


def _rate(title: str, member: str) -> Column:
    return Column(title, lambda item: str(item[member]), lambda item: _short(item[member]), is_number=True)


def _duration(title: str, member: str) -> Column:
    return Column(
        f"{title} ms", lambda item: plain(item[member]), lambda item: _short(item[member]), is_number=True
    )


def _short(value: float) -> str:
    """Return a number with three or four digits, so that a row fits into 80 columns."""
    if value >= _THOUSANDS_FROM:
        return f"{value / 1_000:,.0f}k"
    return f"{value:.2f}" if value < _WHOLE_FROM else f"{value:,.0f}"


_COLUMNS: Final = (
    text("test", "test"),
    number("count", "operations"),
    number("seconds", "seconds"),
    _rate("count/s", "operations_per_s"),
    _rate("entries/s", "entries_per_s"),
    _duration("p50", "p50_ms"),
    _duration("p95", "p95_ms"),
    _duration("p99", "p99_ms"),
    _duration("p99.9", "p999_ms"),
    _duration("max", "max_ms"),
)


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Show the progress of each test on standard error if that is a terminal."""
    # Importing rich takes longer than most commands.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description:<7}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        yield progress


def print_result(found: dict[str, Any], results: list[Item], *, as_json: bool) -> None:
    """Print the result of a test as soon as it ends; a table waits for all of them."""
    results.append(found)
    if as_json:
        say_json(found)
    elif not sys.stdout.isatty():
        say_row(column.text(found) for column in _COLUMNS)


def print_table(results: list[Item], *, as_json: bool) -> None:
    """Print all results as a table, on a terminal."""
    if as_json or not sys.stdout.isatty():
        return
    from rich.console import Console  # noqa: PLC0415 - as in `progress_bar`

    from tailrace.app.cli.streams.rows import table_of  # noqa: PLC0415

    Console().print(table_of(_COLUMNS, results))
