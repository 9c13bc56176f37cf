"""`tailrace ls` and `info`: the streams of a server.

It owns which requests they make and which columns they have. It changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final, TypeAlias

import typer

from tailrace.app.cli.client_command import connected, on_server
from tailrace.app.cli.completions import complete_stream
from tailrace.app.cli.following.follow import is_pattern
from tailrace.app.cli.server import Server, stream_path
from tailrace.app.cli.streams.rows import (
    MISSING,
    AsJson,
    Column,
    Item,
    name,
    name_of,
    number,
    print_facts,
    print_rows,
    text,
)
from tailrace.core.glob import compile_glob

PAGE: Final = 1_000

Key: TypeAlias = Annotated[
    str,
    typer.Argument(metavar="KEY", help="The stream.", autocompletion=complete_stream, show_default=False),
]

Wanted: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="PREFIX",
        help="Only keys that begin with it, or that match it if it is a pattern like 'race:*:dead'.",
        show_default=False,
    ),
]


def _rules(retention: Item | None) -> str:
    """Return the rules that are set, as words."""
    rules = [] if retention is None else [(each, retention.get(each)) for each in _RULES]
    words = [each if value is True else f"{each}={value}" for each, value in rules if value]
    return " ".join(words) or MISSING


def _of_retention(item: Item, count: Callable[[Item], int]) -> str:
    retention = item.get("retention")
    return MISSING if retention is None else str(count(retention))


def _removed(retention: Item) -> int:
    return sum(retention["removed"].values())


def _protected(retention: Item) -> int:
    return int(retention["protected_entries"])


_RULES: Final = ("max_age_ms", "max_length", "max_bytes", "acknowledged", "protect_unread")
_STREAMS: Final = (
    name("stream", "key"),
    number("entries", "length"),
    number("added", "entries_added"),
    number("groups", "groups"),
    text("last id", "last_id"),
)
_FACTS: Final = (
    name("stream", "key"),
    number("entries", "length"),
    text("first id", "first_id"),
    text("last id", "last_id"),
    number("entries added", "entries_added"),
    text("greatest deleted id", "max_deleted_id"),
    number("groups", "groups"),
    number("blocks", "blocks"),
    Column("scheduled", lambda item: str(item.get("scheduled", 0)), is_number=True),
    Column("retention", lambda item: _rules(item.get("retention"))),
    Column("removed by it", lambda item: _of_retention(item, _removed), is_number=True),
    Column("protected from it", lambda item: _of_retention(item, _protected), is_number=True),
    Column("idempotency keys", lambda item: str(item["idempotency"]["keys"]), is_number=True),
    text("incarnation", "incarnation"),
)


@on_server
def ls(
    wanted: Wanted = "",
    *,
    as_json: AsJson = False,
) -> None:
    """List the streams, in the order of their keys.

    In a pipe the columns are separated by tabs: key, entries, entries ever
    added, groups, last id. Keys that are not plain words are quoted.

    Exit status: 0; 1 if the server refuses or does not answer; 2 for wrong
    arguments.

    [bold]Examples[/bold]

      tailrace ls

      tailrace ls 'race:*:dead' | cut -f 1

      tailrace ls --json | jq -r .key
    """
    with connected() as server:
        print_rows(_STREAMS, streams_of(server, wanted), as_json=as_json)


@on_server
def info(
    key: Key,
    *,
    as_json: AsJson = False,
) -> None:
    """Show one stream: entries, ids, groups, retention, scheduled entries.

    In a pipe each line is a title and a value, separated by a tab.

    Exit status: 0; 1 if the stream does not exist or the server refuses; 2
    for wrong arguments.

    [bold]Example[/bold]

      tailrace info race:france
    """
    with connected() as server:
        print_facts(server.request("GET", stream_path(os.fsencode(key))).json(), _FACTS, as_json=as_json)


def streams_of(server: Server, wanted: str) -> Iterator[Item]:
    """Yield the streams that `wanted`, a prefix or a pattern, selects, page by page."""
    glob = compile_glob(os.fsencode(wanted)) if is_pattern(os.fsencode(wanted)) else None
    prefix = wanted if glob is None else os.fsdecode(glob.literal_prefix)
    position: list[tuple[str, str]] = []
    while True:
        parameters = [("prefix", prefix), ("limit", str(PAGE)), *position]
        page: dict[str, Any] = server.request("GET", "/v1/streams", parameters=parameters).json()
        yield from (
            each for each in page["streams"] if glob is None or glob.matches(name_of(each, "key") or b"")
        )
        if page["next"] is None:
            return
        last = name_of(page["streams"][-1], "key")
        assert last is not None, "every stream has a key"
        position = [("start_after", os.fsdecode(last))]
