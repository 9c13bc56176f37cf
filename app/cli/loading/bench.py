"""`tailrace bench`: the options of a load, its temporary stream, and its printed results and progress.

It owns the temporary stream: it checks first that it may remove it, and removes it also after Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from secrets import token_hex
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from tailrace.app.cli.client_command import INTERRUPTED, connected, fail, on_server
from tailrace.app.cli.loading.connections import Target
from tailrace.app.cli.loading.load import TESTS, Load, Size
from tailrace.app.cli.output import note, say_json, say_row
from tailrace.app.cli.server import RefusedByServer, Server, ServerProblem, stream_path
from tailrace.app.cli.streams.rows import AsJson, Column, Item, number, plain, text
from tailrace.core.limits import BATCH_ENTRIES_MAX

if TYPE_CHECKING:
    from rich.progress import Progress

PREFIX: Final = "tailrace-bench:"

_CONNECTIONS_MAX: Final = 1_000
_VALUE_BYTES_MAX: Final = 1_000_000
_NOT_FOUND: Final = 404


@on_server
def bench(
    tests: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEST", help=f"{', '.join(TESTS)}. Default: all of them.", show_default=False),
    ] = None,
    *,
    connections: Annotated[
        int,
        typer.Option(
            "-c", "--connections", min=1, max=_CONNECTIONS_MAX, metavar="COUNT", help="Connections."
        ),
    ] = 16,
    operations: Annotated[
        int,
        typer.Option(
            "-n",
            "--operations",
            min=1,
            metavar="COUNT",
            help="Operations of append and read; others do less.",
        ),
    ] = 10_000,
    value_bytes: Annotated[
        int,
        typer.Option(
            "-d", "--size", min=0, max=_VALUE_BYTES_MAX, metavar="BYTES", help="The size of an entry's value."
        ),
    ] = 64,
    batch: Annotated[
        int,
        typer.Option(
            "-b",
            "--batch",
            min=1,
            max=BATCH_ENTRIES_MAX,
            metavar="COUNT",
            help="Entries of a batch and group read.",
        ),
    ] = 100,
    prefix: Annotated[
        str, typer.Option(metavar="TEXT", help="The beginning of the key of the temporary stream.")
    ] = PREFIX,
    as_json: AsJson = False,
) -> None:
    """Put load on a running server, and print rates and percentiles.

    append: one entry a request. batch: COUNT entries a request. read: 100
    entries from a random one on. wakeup: one entry for which a reader waits,
    until the reader has it, at most 1 000 times. group: COUNT entries as a
    consumer, with their acknowledgment.

    The load uses a temporary stream and removes it at the end, also after
    Ctrl-C. Other clients of the server feel the load. This program uses one
    processor: if it is fully used, run the command several times at once.

    In a pipe the columns are separated by tabs: test, operations, seconds,
    operations per second, entries per second, and milliseconds: p50, p95,
    p99, p99.9, max.

    Exit status: 0; 1 if the server refuses or does not answer; 2 for wrong
    arguments; 130 after Ctrl-C.

    [bold]Examples[/bold]

      tailrace bench

      tailrace bench append -c 64 -n 100000 -d 200

      tailrace bench wakeup --json | jq .p99_ms
    """
    chosen = list(dict.fromkeys(tests or TESTS))
    if unknown := [test for test in chosen if test not in TESTS]:
        raise typer.BadParameter(f"{unknown[0]!r} is not a test; the tests are {', '.join(TESTS)}")
    key = f"{prefix}{token_hex(8)}"
    size = Size(connections, operations, value_bytes, batch)
    with connected() as server, _temporary(server, key):
        _check_rights(server, key)
        results: list[Item] = []
        with progress_bar() as bar:
            _run(server, key, size, chosen, bar, lambda found: print_result(found, results, as_json=as_json))
        print_table(results, as_json=as_json)


def _run(
    server: Server,
    key: str,
    size: Size,
    chosen: list[str],
    bar: Progress,
    on_result: Callable[[dict[str, Any]], None],
) -> None:
    async def run() -> None:
        load = Load(Target.of(server), key, size)
        async with load.running():
            for test in chosen:
                task = bar.add_task(test, total=load.operations_of(test))
                found = await load.run(test, lambda count, task=task: bar.advance(task, count))  # type: ignore[misc]
                bar.remove_task(task)
                on_result(found)

    import uvloop  # noqa: PLC0415 - importing it takes longer than most commands

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run())


# --- the temporary stream --------------------------------------------------------------------------


def _check_rights(server: Server, key: str) -> None:
    """Raise `RefusedByServer` if the token may not remove the stream: deleting a missing one shows it."""
    try:
        server.request("DELETE", stream_path(key.encode()))
    except RefusedByServer as refusal:
        if refusal.status != _NOT_FOUND:
            raise


@contextmanager
def _temporary(server: Server, key: str) -> Iterator[None]:
    """Remove the stream at the end, also after an interruption."""
    try:
        yield
    except KeyboardInterrupt:
        note(f"interrupted; {_removed(server, key)}")
        raise typer.Exit(INTERRUPTED) from None
    except ServerProblem as problem:
        fail(f"{problem}; {_removed(server, key)}")
    else:
        _removed(server, key)


def _removed(server: Server, key: str) -> str:
    """Remove the stream, and say in words what was done. A further Ctrl-C does not interrupt it."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        _check_rights(server, key)
    except ServerProblem as problem:
        return f"the temporary stream {key} could not be removed ({problem}): remove it with tailrace rm"
    finally:
        signal.signal(signal.SIGINT, before)
    return f"the temporary stream {key} is removed"


# --- printing -----------------------------------------------------------------------------------


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
