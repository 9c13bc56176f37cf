"""`tailrace slowlog`: the server's most recent slow operations.

It owns the options and the columns. It clears the log only with `--clear`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Final

import typer

from tailrace.app.cli.client_command import connected, on_server
from tailrace.app.cli.output import say, say_json
from tailrace.app.cli.streams.rows import (
    AsJson,
    Column,
    Item,
    number,
    print_rows,
    shown_name,
    text,
)

COUNT: Final = 10
COUNT_MAX: Final = 128

_MS_PER_S: Final = 1_000


def _time(item: Item) -> str:
    at_ms = int(item["at_ms"])
    return f"{datetime.fromtimestamp(at_ms // _MS_PER_S, UTC).astimezone():%H:%M:%S}.{at_ms % _MS_PER_S:03}"


def _commands(item: Item) -> str:
    """Return the commands with their keys and sizes, in one cell."""
    shown = [_command(command) for command in item["commands"]]
    more = item["command_count"] - len(shown)
    return "; ".join([*shown, *([f"and {more} more"] if more > 0 else [])])


def _command(command: dict[str, Any]) -> str:
    words = [str(command["command"])]
    for member, value in command.items():
        if member == "key":
            words.append(shown_name(command, "key"))
        elif member == "keys":
            words += [shown_name({"key": key, "encoding": command.get("encoding")}, "key") for key in value]
        elif member not in {"command", "encoding"}:
            words.append(f"{member}={value}")
    return " ".join(words)


_COLUMNS: Final = (
    number("id", "id"),
    Column("at", lambda item: str(item["at_ms"]), _time),
    text("operation", "operation"),
    number("engine ms", "engine_ms"),
    number("commit ms", "commit_ms"),
    number("other ms", "other_ms"),
    Column("commands", _commands),
)


@on_server
def slowlog(
    *,
    count: Annotated[
        int, typer.Option("-n", "--count", min=1, max=COUNT_MAX, metavar="COUNT", help="At most COUNT.")
    ] = COUNT,
    clear: Annotated[bool, typer.Option("--clear", help="Delete all records.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the slow operations of a server, the newest first.

    The server records operations that take at least `--slow-log-ms` of
    `tailrace serve` (10 ms), without the time of the commit. In a pipe the
    columns are separated by tabs: id, Unix milliseconds, operation,
    milliseconds in the engine, of the commit, and of the rest, commands.

    Exit status: 0; 1 if the server refuses or does not answer; 2 for wrong
    arguments.

    [bold]Examples[/bold]

      tailrace slowlog

      tailrace slowlog -n 128 --json | jq 'select(.engine_ms > 50)'

      tailrace slowlog --clear
    """
    with connected() as server:
        if clear:
            server.request("DELETE", "/v1/slow-log")
            if as_json:
                say_json({"cleared": True})
            else:
                say("slow log cleared")
            return
        page = server.request("GET", "/v1/slow-log", parameters=[("limit", str(count))]).json()
        print_rows(_COLUMNS, page["operations"], as_json=as_json)
