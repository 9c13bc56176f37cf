"""Prints rows: as a table on a terminal, separated by tabs in a pipe, or as JSON; and full screens.

It owns these forms, so that all listings have the same. Rows come one after another, and the plain forms are
printed as they come; a table needs all of them for its widths. A full screen is that of a live command,
updated at intervals until you press q."""

from __future__ import annotations

import select
import sys
import termios
import tty
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, TypeAlias

import typer

from tailrace.app.cli.output import say, say_json, say_row, visible
from tailrace.app.cli.redis.quoting import quoted

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

Item: TypeAlias = Mapping[str, Any]
"""One object of the server's JSON."""

AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print the server's JSON, one object per line.")
]

MISSING: Final = "-"
"""The text of an unknown value."""

_MS_PER_S: Final = 1_000
_UNITS: Final = (("d", 86_400), ("h", 3_600), ("m", 60))


class Column(NamedTuple):
    """One column. `text`: the cell of an item in a pipe. `shown`: the cell in a table, if it differs."""

    title: str
    text: Callable[[Item], str]
    shown: Callable[[Item], str] | None = None
    is_number: bool = False


def number(title: str, member: str) -> Column:
    """Return a column of counts."""
    return Column(title, lambda item: plain(item.get(member)), is_number=True)


def text(title: str, member: str) -> Column:
    """Return a column of texts."""
    return Column(title, lambda item: plain(item.get(member)))


def name(title: str, member: str) -> Column:
    """Return a column of keys or names, which can have any bytes."""
    return Column(title, lambda item: shown_name(item, member))


def duration(title: str, member: str) -> Column:
    """Return a column of milliseconds; a table shows them rounded, with their unit."""
    return Column(
        title, lambda item: plain(item.get(member)), lambda item: shown_ms(item.get(member)), is_number=True
    )


def time(title: str, member: str) -> Column:
    """Return a column of times, from Unix milliseconds."""
    return Column(title, lambda item: _shown_time(item.get(member)))


def _shown_time(value: int | None) -> str:
    """Return a time as in RFC 3339, in UTC and with milliseconds."""
    if value is None:
        return MISSING
    at = datetime.fromtimestamp(value / _MS_PER_S, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def plain(value: object) -> str:
    """Return a value of JSON as one cell."""
    return MISSING if value is None else str(value)


def name_of(item: Item, member: str) -> bytes | None:
    """Return a key or name as bytes, None if there is none."""
    value = item.get(member)
    if value is None:
        return None
    return b64decode(value) if item.get("encoding") == "base64" else str(value).encode()


def shown_name(item: Item, member: str) -> str:
    """Return a key or name as one word: quoted and escaped if it is not printable or has a blank."""
    value = name_of(item, member)
    if value is None:
        return MISSING
    try:
        word = value.decode()
    except UnicodeDecodeError:
        return quoted(value)
    return word if word.isprintable() and word and " " not in word and word[0] != '"' else quoted(value)


def shown_ms(value: int | None) -> str:
    """Return a time in its largest unit, such as `3m` or `250ms`."""
    if value is None:
        return MISSING
    if value < _MS_PER_S:
        return f"{value}ms"
    seconds = value // _MS_PER_S
    return next((f"{seconds // size}{unit}" for unit, size in _UNITS if seconds >= size), f"{seconds}s")


def print_rows(columns: Iterable[Column], items: Iterable[Item], *, as_json: bool) -> None:
    """Print the items in the form that fits standard output."""
    chosen = tuple(columns)
    if as_json:
        for item in items:
            say_json(item)
    elif sys.stdout.isatty():
        # Importing rich takes longer than a request, and pipes do not need it.
        from rich.console import Console  # noqa: PLC0415

        Console().print(table_of(chosen, items))
    else:
        for item in items:
            say_row(column.text(item) for column in chosen)


def print_facts(item: Item, facts: Iterable[Column], *, as_json: bool) -> None:
    """Print one item: a line for each fact, its title first; or the item as JSON."""
    if as_json:
        say_json(item)
        return
    is_table = sys.stdout.isatty()
    chosen = tuple(facts)
    width = max(len(fact.title) for fact in chosen)
    for fact in chosen:
        cell = (fact.shown if is_table and fact.shown else fact.text)(item)
        if is_table:
            say(f"{fact.title.ljust(width)}  {cell}")
        else:
            say_row((fact.title, cell))


def table_of(columns: Iterable[Column], items: Iterable[Item]) -> Table:
    """Return the items as a table."""
    # As in `print_rows`.
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    chosen = tuple(columns)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in chosen:
        table.add_column(column.title, justify="right" if column.is_number else "left", overflow="fold")
    for item in items:
        table.add_row(*(Text(visible((column.shown or column.text)(item))) for column in chosen))
    return table


# --- full screens -------------------------------------------------------------------------------


INTERVAL_S: Final = 2.0

Interval: TypeAlias = Annotated[
    float, typer.Option("-i", "--interval", min=0.1, metavar="SECONDS", help="The time between updates.")
]
Once: TypeAlias = Annotated[bool, typer.Option("--once", help="Print one sample and exit.")]


def has_screen() -> bool:
    """Return whether a person can see the output and press keys."""
    return sys.stdout.isatty() and sys.stdin.isatty()


def follow_on_screen(shown: Callable[[], RenderableType], interval_s: float) -> None:
    """Show the result of `shown`, again after each interval, until the user presses q."""
    # Importing rich takes longer than a request, and `--once` in a pipe does not need it.
    from rich.live import Live  # noqa: PLC0415

    with Live(screen=True, auto_refresh=False) as live, _keys() as pressed:
        while True:
            live.update(shown(), refresh=True)
            if "q" in pressed(interval_s):
                return


@contextmanager
def _keys() -> Iterator[Any]:
    """Yield a function that waits some seconds and returns the keys that were pressed meanwhile."""
    saved = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)

    def pressed(within_s: float) -> str:
        if not select.select([sys.stdin], [], [], within_s)[0]:
            return ""
        return sys.stdin.read(1)

    try:
        yield pressed
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, saved)
