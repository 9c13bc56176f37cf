"""`tailrace groups`, `consumers` and `pending`: the consumer groups of a stream.

It owns which requests they make and which columns they have. It changes nothing.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Final, TypeAlias

import typer

from tailrace.app.cli.client_command import connected, on_server
from tailrace.app.cli.server import Server, escaped, stream_path
from tailrace.app.cli.streams.listings import PAGE, Key
from tailrace.app.cli.streams.rows import (
    AsJson,
    Column,
    Item,
    duration,
    name,
    number,
    plain,
    print_facts,
    print_rows,
    text,
    time,
)

Group: TypeAlias = Annotated[
    str, typer.Argument(metavar="GROUP", help="The consumer group.", show_default=False)
]

_GROUPS: Final = (
    name("group", "name"),
    number("consumers", "consumers"),
    number("pending", "pending"),
    number("lag", "lag"),
    text("last delivered", "last_delivered_id"),
    duration("oldest unread", "lag_ms"),
)
_LISTED: Final = frozenset(
    {"encoding", "name", "consumers", "pending", "lag", "last_delivered_id", "lag_ms", "entries_read"}
)
_CONSUMERS: Final = (
    name("consumer", "name"),
    number("pending", "pending"),
    duration("idle", "idle_ms"),
    duration("inactive", "inactive_ms"),
)
_PENDING: Final = (
    text("id", "id"),
    name("consumer", "consumer"),
    duration("idle", "idle_ms"),
    number("deliveries", "deliveries"),
    time("delayed until", "claimable_at_ms"),
)


@on_server
def groups(
    key: Key,
    group: Annotated[
        str | None,
        typer.Argument(metavar="GROUP", help="Show this group with its settings.", show_default=False),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List the groups of a stream, or show one with its settings.

    In a pipe the columns are separated by tabs: group, consumers, pending,
    lag (- if it is unknown), last delivered id, age of the oldest unread
    entry (- if there is none). Of one group, each line is a title and a value.

    Exit status: 0; 1 if the stream does not exist or the server refuses; 2
    for wrong arguments.

    [bold]Examples[/bold]

      tailrace groups race:france

      tailrace groups race:france judges
    """
    with connected() as server:
        if group is not None:
            item = server.request("GET", group_path(key, group, "")).json()
            print_facts(item, (*_GROUPS, *_policies(item)), as_json=as_json)
            return
        path = stream_path(os.fsencode(key), "/groups")
        print_rows(_GROUPS, server.request("GET", path).json()["groups"], as_json=as_json)


def _policies(item: Item) -> Iterator[Column]:
    """Return a column for each setting of a group, and for each figure that a setting has."""
    listed = {
        "encoding",
        "name",
        "consumers",
        "pending",
        "lag",
        "last_delivered_id",
        "lag_ms",
        "entries_read",
    }
    for member in item:
        if member == "dead_letter_stream":
            yield name("dead letter stream", member)
        elif member not in listed:
            yield Column(member.replace("_", " "), partial(_setting, member))


def _setting(member: str, item: Item) -> str:
    value = item[member]
    parts = value.items() if isinstance(value, dict) else [("", value)]
    return " ".join(f"{part}={each}" if part else plain(each) for part, each in parts)


@on_server
def consumers(
    key: Key,
    group: Group,
    *,
    as_json: AsJson = False,
) -> None:
    """List the consumers of a group, with their pending entries.

    In a pipe the columns are separated by tabs: consumer, pending, idle and
    inactive milliseconds (- if it never got an entry).

    Exit status: 0; 1 if the group does not exist or the server refuses; 2 for
    wrong arguments.

    [bold]Example[/bold]

      tailrace consumers race:france judges
    """
    with connected() as server:
        path = group_path(key, group, "/consumers")
        print_rows(_CONSUMERS, server.request("GET", path).json()["consumers"], as_json=as_json)


@on_server
def pending(
    key: Key,
    group: Group,
    *,
    consumer: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only the entries of this consumer.", show_default=False),
    ] = None,
    min_idle_ms: Annotated[
        int, typer.Option(min=0, metavar="MS", help="Only entries that were delivered this long ago.")
    ] = 0,
    count: Annotated[
        int | None,
        typer.Option(
            "-n", "--count", min=1, metavar="COUNT", help="At most COUNT entries.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the pending entries of a group: delivered, and not acknowledged.

    In a pipe the columns are separated by tabs: id, consumer (- if none owns
    the entry), idle milliseconds, deliveries, the time before which no claim
    takes the entry (- if it is not delayed).

    Exit status: 0; 1 if the group does not exist or the server refuses; 2 for
    wrong arguments.

    [bold]Examples[/bold]

      tailrace pending race:france judges

      tailrace pending race:france judges --min-idle-ms 60000 | cut -f 1
    """
    parameters = [("min_idle_ms", str(min_idle_ms))]
    if consumer is not None:
        parameters.append(("consumer", consumer))
    with connected() as server:
        items = _pending(server, group_path(key, group, "/pending"), parameters, count)
        print_rows(_PENDING, items, as_json=as_json)


def group_path(key: str, group: str, rest: str) -> str:
    """Return the path of a group of the stream `key`, followed by `rest`."""
    return stream_path(os.fsencode(key), f"/groups/{escaped(os.fsencode(group))}{rest}")


def with_name(body: Mapping[str, Any], member: str) -> dict[str, Any]:
    """Return a body whose `member`, if it has one, is an argument with a name: in base64 if the name is not
    UTF-8."""
    name = body.get(member, "")
    try:
        name.encode()
    except UnicodeEncodeError:
        return {**body, member: b64encode(os.fsencode(name)).decode(), "encoding": "base64"}
    return dict(body)


def _pending(
    server: Server, path: str, parameters: Sequence[tuple[str, str]], most: int | None
) -> Iterator[Item]:
    """Yield the pending entries in the order of their ids, page by page."""
    start, left = "-", most
    while left is None or left > 0:
        size = PAGE if left is None else min(PAGE, left)
        bounds = [("start", start), ("count", str(size))]
        page: dict[str, Any] = server.request("GET", path, parameters=[*parameters, *bounds]).json()
        yield from page["pending"]
        if page["next"] is None:
            return
        start = f"({page['next']}"
        left = None if left is None else left - len(page["pending"])
