"""`tailrace group` and `tailrace consumer`: create, move and delete consumer groups, delete consumers.

It owns the options and the summary lines. `groups` lists them, and `settings` configures groups.
"""

from __future__ import annotations

import os
from typing import Annotated, Any, Final, TypeAlias

import typer

from tailrace.app.cli.client_command import ClientCommand, command_group, connected, on_server
from tailrace.app.cli.output import counted, say, say_json
from tailrace.app.cli.quantities import time_ms
from tailrace.app.cli.server import escaped, stream_path
from tailrace.app.cli.streams.changes import Yes, confirm
from tailrace.app.cli.streams.groups import Group
from tailrace.app.cli.streams.listings import Key
from tailrace.app.cli.streams.rows import AsJson
from tailrace.core.stream_id import U64_MAX

group: Final = command_group("Create, move and delete the consumer groups of a stream.")
consumer: Final = command_group("Delete the consumers of a group.")

Since: TypeAlias = Annotated[
    int | None,
    typer.Option(
        parser=time_ms,
        metavar="TIME",
        help="Deliver the entries from this time on: YYYY-MM-DDTHH:MM:SS[Z].",
        show_default=False,
    ),
]


@group.command(cls=ClientCommand)
@on_server
def create(
    key: Key,
    group: Group,
    *,
    after: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Deliver the entries after this id; 0: all. Default: only entries that come later.",
            show_default=False,
        ),
    ] = None,
    since: Since = None,
    stream: Annotated[
        bool, typer.Option("--create-stream", help="Create the stream if it does not exist.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Create a consumer group.

    Exit status: 0; 1 if the group exists or the server refuses; 2 for wrong
    arguments.

    [bold]Examples[/bold]

      tailrace group create race:france judges --create-stream

      tailrace group create race:france archive --after 0

      tailrace group create race:france press --since 2026-07-14T15:30
    """
    body = {"after": _position(after, since) or "$", "create_stream": stream}
    with connected() as server:
        answer = server.request("PUT", _path(key, group), body=body).json()
        _tell(f"{group} is created, after {answer['last_delivered_id']}", answer, as_json=as_json)


@group.command(cls=ClientCommand)
@on_server
def seek(
    key: Key,
    group: Group,
    after: Annotated[
        str | None,
        typer.Argument(
            metavar="ID", help="Deliver the entries after this id; 0: all, $: none.", show_default=False
        ),
    ] = None,
    *,
    since: Since = None,
    as_json: AsJson = False,
) -> None:
    """Move a group: choose the entry that it delivers next.

    Pending entries stay pending. To deliver entries again, move the group
    back.

    Exit status: 0; 1 if the group does not exist or the server refuses; 2 for
    wrong arguments.

    [bold]Examples[/bold]

      tailrace group seek race:france judges 0

      tailrace group seek race:france judges --since 2026-07-14T15:30
    """
    position = _position(after, since)
    if position is None:
        raise typer.BadParameter("give an ID or --since")
    with connected() as server:
        path = _path(key, group)
        server.request("POST", f"{path}:setid", body={"after": position})
        answer = server.request("GET", path).json()
        _tell(f"{group} continues after {answer['last_delivered_id']}", answer, as_json=as_json)


@group.command(cls=ClientCommand)
@on_server
def delete(key: Key, group: Group, *, yes: Yes = False) -> None:
    """Delete a group, with its consumers, its pending entries and its position.

    The entries of the stream stay. The command asks on a terminal; elsewhere it
    needs --yes.

    Exit status: 0; 1 if the group does not exist, the server refuses or you
    answer no; 2 for wrong arguments.

    [bold]Example[/bold]

      tailrace group delete race:france judges --yes
    """
    with connected() as server:
        path = _path(key, group)
        pending = counted(server.request("GET", path).json()["pending"], "pending entry")
        confirm(f"Delete the group {group} of {key} with {pending}?", yes=yes)
        server.request("DELETE", path)
        say(f"{group} is deleted with {pending}")


@consumer.callback()
def _consumers() -> None:
    # Typer would take the only command for the whole application.
    """Delete the consumers of a group."""


@consumer.command("delete", cls=ClientCommand)
@on_server
def delete_consumer(
    key: Key,
    group: Group,
    name: Annotated[str, typer.Argument(metavar="CONSUMER", help="The consumer.", show_default=False)],
    *,
    transfer_to: Annotated[
        str | None,
        typer.Option(
            metavar="CONSUMER", help="Give its pending entries to this consumer.", show_default=False
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Drop its pending entries permanently.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete a consumer of a group.

    A consumer with pending entries needs --transfer-to or --force.

    Exit status: 0; 1 if the consumer does not exist, has pending entries, or
    the server refuses; 2 for wrong arguments.

    [bold]Examples[/bold]

      tailrace consumer delete race:france judges alice --transfer-to bob

      tailrace consumer delete race:france judges alice --force
    """
    if transfer_to is not None and force:
        raise typer.BadParameter("--transfer-to and --force exclude each other")
    parameters = [("force", "true")] if force else []
    if transfer_to is not None:
        parameters.append(("transfer_to", transfer_to))
    with connected() as server:
        path = f"{_path(key, group)}/consumers/{escaped(os.fsencode(name))}"
        answer = server.request("DELETE", path, parameters=parameters).json()
        dropped = counted(answer["pending_dropped"], "pending entry")
        _tell(f"{name} is deleted; {dropped} dropped", answer, as_json=as_json)


def _path(key: str, group: str) -> str:
    return stream_path(os.fsencode(key), f"/groups/{escaped(os.fsencode(group))}")


def _position(after: str | None, since_ms: int | None) -> str | None:
    """Return the id after which the group continues, as the options name it."""
    if after is not None and since_ms is not None:
        raise typer.BadParameter("give either an id or --since")
    return after if since_ms is None else f"{since_ms - 1}-{U64_MAX}"


def _tell(sentence: str, answer: Any, *, as_json: bool) -> None:
    if as_json:
        say_json(answer)
    else:
        say(sentence)
