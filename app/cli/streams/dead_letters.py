"""`tailrace configure` and `redrive`: the settings of a consumer group, and its dead letters.

It owns their options, and the pages of a redrive. The server applies the settings; see docs/policies.md.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final

import typer

from tailrace.app.cli.client.connection import DEFAULT_URL, Token, TokenFile, Url, connected, fail
from tailrace.app.cli.client.http_client import Server
from tailrace.app.cli.streams.groups import Group, group_path
from tailrace.app.cli.streams.listings import Key
from tailrace.app.cli.streams.rows import AsJson, Item, print_json, print_rows, text

PAGE: Final = 100

_REDRIVEN: Final = (text("dead letter", "id"), text("new entry", "new_id"))


def configure(  # noqa: PLR0913 - one parameter an option
    key: Key,
    group: Group,
    *,
    url: Url = DEFAULT_URL,
    token: Token = None,
    token_file: TokenFile = None,
    max_deliveries: Annotated[
        int | None,
        typer.Option(min=1, metavar="COUNT", help="Deliver an entry at most this often.", show_default=False),
    ] = None,
    dead_letter_stream: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="The stream for entries that failed so often.", show_default=False),
    ] = None,
    filter_: Annotated[
        str | None,
        typer.Option(
            "--filter",
            metavar="CONDITION",
            help="Deliver only entries that match (docs/filters.md).",
            show_default=False,
        ),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove all settings.")] = False,
) -> None:
    """Change settings of a group, and print its state as JSON.

    Dead letters: an entry that was delivered so often moves to another stream
    instead of one more delivery; both options belong together. Filter: the
    group delivers only entries that match, and others count as read. Settings
    that you do not give stay as they are.

    Exit status: 0; 1 if the group does not exist or the server refuses; 2 for
    wrong arguments.

    [bold]Examples[/bold]

      tailrace configure race:france judges --max-deliveries 5 --dead-letter-stream race:france:dead

      tailrace configure race:france judges --filter 'fields.position == "1"'

      tailrace configure race:france judges --remove
    """
    settings: dict[str, int | str | None] = {
        "max_deliveries": max_deliveries,
        "dead_letter_stream": dead_letter_stream,
        "filter": filter_,
    }
    given = {name: value for name, value in settings.items() if value is not None}
    if remove == bool(given) or (max_deliveries is None) != (dead_letter_stream is None):
        raise typer.BadParameter("give --max-deliveries and --dead-letter-stream, or --remove, or --filter")
    with connected(url, token, token_file) as server:
        body = settings if remove else given
        print_json(server.request("POST", group_path(key, group, ":configure"), body=body).json())


def redrive(
    key: Key,
    group: Group,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID...]", help="Ids of dead letters. Without them: all.", show_default=False),
    ] = None,
    *,
    url: Url = DEFAULT_URL,
    token: Token = None,
    token_file: TokenFile = None,
    per_s: Annotated[
        float | None,
        typer.Option(min=0.01, metavar="COUNT", help="At most COUNT entries per second.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Send dead letters of a group back to its stream, each once, and print their new ids.

    Each becomes a new entry, which all groups of the stream get, and leaves
    the dead letters in the same step. After an interruption, run the command
    again. In a pipe the columns are separated by tabs: the id of the dead
    letter, the id of the new entry.

    Exit status: 0; 1 if one of the ids is no dead letter of the group, or the
    server refuses; 2 for wrong arguments; 130 after Ctrl-C.

    [bold]Examples[/bold]

      tailrace redrive race:france judges

      tailrace redrive race:france judges --per-s 50
    """
    path = group_path(key, group, ":redrive")
    with connected(url, token, token_file) as server:
        if ids:
            reply: dict[str, Any] = server.request("POST", path, body={"ids": ids, "limit": len(ids)}).json()
            print_rows(_REDRIVEN, reply["redriven"], as_json=as_json)
            if reply["skipped"]:
                fail(f"{reply['skipped']} of {len(ids)} are no dead letters of this group")
        else:
            print_rows(_REDRIVEN, _all(server, path, per_s), as_json=as_json)


def _all(server: Server, path: str, per_s: float | None) -> Iterator[Item]:
    """Send back all dead letters, page by page, not faster than `per_s`."""
    start: str | None = "-"
    size = PAGE if per_s is None else max(min(PAGE, round(per_s)), 1)
    while start is not None:
        began_s = time.monotonic()
        reply = server.request("POST", path, body={"start": start, "limit": size}).json()
        redriven: Sequence[Item] = reply["redriven"]
        yield from redriven
        start = reply["next"]
        if per_s is not None and start is not None:
            time.sleep(max(began_s + len(redriven) / per_s - time.monotonic(), 0))
