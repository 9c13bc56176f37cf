"""`tailrace redrive`: sends dead letters back to the streams that they came from.

It owns the pages of a redrive, and how the groups of a dead-letter stream are found. The server moves each
entry; see docs/policies.md.
"""

from __future__ import annotations

import os
import time
from base64 import b64decode
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final

import typer

from tailrace.app.cli.client.connection import DEFAULT_URL, Token, TokenFile, Url, connected, fail
from tailrace.app.cli.client.http_client import Server
from tailrace.app.cli.following.reading import page_of
from tailrace.app.cli.streams.groups import group_path
from tailrace.app.cli.streams.rows import AsJson, Item, print_rows, text
from tailrace.core.limits import PAGE_ENTRIES_MAX

PAGE: Final = 100

_REDRIVEN: Final = (text("dead letter", "id"), text("new entry", "new_id"))
_ORIGIN: Final = ("_source_stream", "_group")
"""The fields of a dead letter that name the stream and the group that it came from."""


def redrive(
    key: Annotated[
        str,
        typer.Argument(
            metavar="KEY", help="The dead-letter stream, or the group's stream.", show_default=False
        ),
    ],
    group: Annotated[
        str | None,
        typer.Argument(metavar="[GROUP]", help="The group of the stream KEY.", show_default=False),
    ] = None,
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
    """Send dead letters back to their streams, each once, and print their new ids.

    With a dead-letter stream alone, the dead letters of all groups in it go
    back. With a stream and a group, those of this group do. Each becomes a new
    entry, which all groups of its stream get, and leaves the dead letters in
    the same step. After an interruption, run the command again. In a pipe the
    columns are separated by tabs: the id of the dead letter, the id of the new
    entry.

    Exit status: 0; 1 if KEY alone has no dead letters of a group, if an ID is
    no dead letter of the group, or if the server refuses; 2 for wrong
    arguments; 130 after Ctrl-C.

    [bold]Examples[/bold]

      tailrace redrive race:france:dead

      tailrace redrive race:france judges --per-s 50
    """
    with connected(url, token, token_file) as server:
        if group is None:
            print_rows(_REDRIVEN, _of_all_groups(server, key, per_s), as_json=as_json)
            return
        path = group_path(key, group, ":redrive")
        if ids:
            reply: dict[str, Any] = server.request("POST", path, body={"ids": ids, "limit": len(ids)}).json()
            print_rows(_REDRIVEN, reply["redriven"], as_json=as_json)
            if reply["skipped"]:
                fail(f"{reply['skipped']} of {len(ids)} are no dead letters of this group")
        else:
            print_rows(_REDRIVEN, _all(server, path, per_s), as_json=as_json)


def _of_all_groups(server: Server, dead: str, per_s: float | None) -> Iterator[Item]:
    """Send back the dead letters of each group that has any in the stream `dead`."""
    origins = _origins(server, dead)
    if not origins:
        fail(f"the stream {dead} has no dead letters of a group; name a dead-letter stream, or KEY and GROUP")
    for key, group in origins:
        yield from _all(server, group_path(key, group, ":redrive"), per_s)


def _origins(server: Server, dead: str) -> list[tuple[str, str]]:
    """Return the stream and the group of the dead letters in `dead`, each pair once. O(entries)."""
    origins: dict[tuple[str, str], None] = {}
    start: str | None = "-"
    while start is not None:
        page = page_of(server, os.fsencode(dead), [("start", start), ("count", str(PAGE_ENTRIES_MAX))])
        for entry in page["entries"]:
            fields = entry["fields"]
            if all(name in fields for name in _ORIGIN):
                stream, group = (_text(entry, fields[name]) for name in _ORIGIN)
                origins[stream, group] = None
        start = None if page["next"] is None else f"({page['next']}"
    return list(origins)


def _text(entry: Item, value: str) -> str:
    """Return a value of the entry as an argument of a command would have it."""
    return os.fsdecode(b64decode(value)) if entry.get("encoding") == "base64" else value


def _all(server: Server, path: str, per_s: float | None) -> Iterator[Item]:
    """Send back all dead letters of a group, page by page, not faster than `per_s`."""
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
