"""`tailrace read`: the entries of one stream, a range of them or single ones, and new entries with -f.

It owns the options and the plain form. `following` formats entries for people and follows.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Annotated, Final

import typer

from tailrace.app.cli.client_command import connected, on_server
from tailrace.app.cli.following.entries import Line, Written, as_cells, as_json, as_text, print_lines
from tailrace.app.cli.following.follow import Follower, pages
from tailrace.app.cli.output import note
from tailrace.app.cli.quantities import first_id, is_id
from tailrace.app.cli.server import Server, escaped, stream_path
from tailrace.app.cli.streams.listings import Key
from tailrace.app.cli.streams.rows import AsJson
from tailrace.core.stream_id import format_id, id_ms, parse_id

_BEFORE_ALL: Final = "0-0"


@on_server
def read(  # noqa: PLR0913 - one parameter an option
    key: Key,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Only these entries.", show_default=False),
    ] = None,
    *,
    from_: Annotated[
        str,
        typer.Option(
            "--from", metavar="WHEN", help="Start at an id, a time (2026-07-14T15:30), or an age (10m)."
        ),
    ] = "-",
    to: Annotated[str, typer.Option("--to", metavar="WHEN", help="End there, inclusive.")] = "+",
    count: Annotated[
        int | None,
        typer.Option("-n", "--count", min=1, metavar="COUNT", help="At most COUNT.", show_default=False),
    ] = None,
    last: Annotated[
        int | None,
        typer.Option("--last", min=0, metavar="COUNT", help="Only the last COUNT.", show_default=False),
    ] = None,
    reverse: Annotated[bool, typer.Option("-r", "--reverse", help="The newest entries first.")] = False,
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Continue with new entries.")] = False,
    as_json_lines: AsJson = False,
) -> None:
    """Print the entries of a stream: all, a range, the last ones, or some by id.

    On a terminal each entry has its time, its id and its fields. In a pipe
    the columns are separated by tabs: the id, then each field as NAME=VALUE;
    names and values that are not plain words are quoted and escaped.

    With -f the command continues with new entries until Ctrl-C; it reconnects
    after a lost connection, and neither misses nor repeats an entry.

    Exit status: 0; 1 if the stream or an entry does not exist, or the server
    refuses; 2 for wrong arguments; 130 after Ctrl-C.

    [bold]Examples[/bold]

      tailrace read race:france

      tailrace read race:france --last 3 -f

      tailrace read race:france --from 10m --json | jq .fields.rider

      tailrace read race:france 1692632086370-0
    """
    _check(ids, (from_, to), (count, last), reverse=reverse, follow=follow)
    bounds = _bound("--from", from_), _bound("--to", to)
    written = _written(as_json_lines=as_json_lines)
    name = os.fsencode(key)
    with connected() as server:
        if ids:
            print_lines(_single(server, name, ids), written)
            return
        if not follow:
            server.request("GET", stream_path(name))
        printed = print_lines(_range(server, name, bounds, (count, last), reverse=reverse), written).get(name)
        if follow:
            _follow(server, name, printed or _before(bounds[0], last), written)


def _check(
    ids: Sequence[str] | None,
    bounds: tuple[str, str],
    counts: tuple[int | None, int | None],
    *,
    reverse: bool,
    follow: bool,
) -> None:
    """Reject options that contradict each other."""
    count, last = counts
    if ids and (bounds != ("-", "+") or counts != (None, None) or reverse or follow):
        raise typer.BadParameter("ids select single entries: leave out the other options")
    if count is not None and last is not None:
        raise typer.BadParameter("--count and --last exclude each other")
    if follow and (bounds[1] != "+" or count is not None or reverse):
        raise typer.BadParameter("-f continues after the last entry: leave out --to, --count and --reverse")


def _bound(option: str, text: str) -> str:
    """Return a bound of the range as the server reads it: an id, or the milliseconds of a time."""
    if text in {"-", "+"}:
        return text
    if is_id(text.removeprefix("(")):
        return text
    try:
        return str(id_ms(first_id(text, time.time_ns() // 1_000_000)))
    except ValueError as error:
        raise typer.BadParameter(f"{option}: {error}") from None


def _written(*, as_json_lines: bool) -> Written:
    if as_json_lines:
        return partial(as_json, with_key=False)
    if sys.stdout.isatty():
        return partial(as_text, with_key=False, colour=not os.environ.get("NO_COLOR"))
    return as_cells


def _single(server: Server, key: bytes, ids: Sequence[str]) -> Iterator[Line]:
    for entry_id in ids:
        path = stream_path(key, f"/entries/{escaped(os.fsencode(entry_id))}")
        yield Line(key, server.request("GET", path).json())


def _range(
    server: Server,
    key: bytes,
    bounds: tuple[str, str],
    counts: tuple[int | None, int | None],
    *,
    reverse: bool,
) -> Iterable[Line]:
    count, last = counts
    if last is None:
        return pages(server, key, bounds, count, reverse=reverse)
    newest = pages(server, key, bounds, last, reverse=True)
    return newest if reverse else list(newest)[::-1]


def _before(start: str, last: int | None) -> str:
    """Return the position from which to follow a stream that has none of the wanted entries."""
    if last == 0:
        return "$"
    if start.startswith("("):
        return start[1:]
    return _BEFORE_ALL if start == "-" else format_id(max(0, parse_id(start.encode()) - 1))


def _follow(server: Server, key: bytes, position: str, written: Written) -> None:
    follower = Follower(server, {key: position}, None, None, note)
    for lines in follower.entries():
        print_lines(lines, written)
