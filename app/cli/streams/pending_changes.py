"""`tailrace ack`, `nack`, `claim` and `extend`: changes of pending entries, one request each.

It owns their options and summary lines. They can be repeated, so they never ask.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import typer

from tailrace.app.cli.client_command import connected, fail, on_server
from tailrace.app.cli.output import say, say_json
from tailrace.app.cli.quantities import delay_ms
from tailrace.app.cli.streams.groups import Group, group_path, with_name
from tailrace.app.cli.streams.listings import Key
from tailrace.app.cli.streams.rows import AsJson

Ids: TypeAlias = Annotated[
    list[str], typer.Argument(metavar="ID...", help="The ids of the entries.", show_default=False)
]


@on_server
def ack(
    key: Key,
    group: Group,
    ids: Ids,
    *,
    as_json: AsJson = False,
) -> None:
    """Acknowledge entries: they are no longer pending in the group.

    Exit status: 0 if all of them were pending; 1 if not, or if the server
    refuses; 2 for wrong arguments.

    [bold]Examples[/bold]

      tailrace ack race:france judges 1692632086370-0

      tailrace pending race:france judges --json | jq -r .id | xargs tailrace ack race:france judges
    """
    _change_pending(
        group_path(key, group, ":ack"),
        {"ids": ids},
        "acknowledged",
        as_json=as_json,
    )


@on_server
def nack(
    key: Key,
    group: Group,
    ids: Ids,
    *,
    mode: Annotated[
        Literal["silent", "fail", "fatal"],
        typer.Option(help="`silent`: the delivery does not count; `fail`: it counts; `fatal`: set it aside."),
    ] = "fail",
    delay: Annotated[
        int | None,
        typer.Option(
            parser=delay_ms, metavar="DELAY", help="No claim takes them before so long.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Return pending entries to the group: the next claim takes them first.

    With --delay, or by the backoff of the group, no claim takes them before
    that time.

    Exit status: 0 if all of them were pending; 1 if not, or if the server
    refuses; 2 for wrong arguments.

    [bold]Example[/bold]

      tailrace nack race:france judges 1692632086370-0
    """
    body: dict[str, Any] = {"ids": ids, "mode": mode}
    if delay is not None:
        body["delay_ms"] = delay
    _change_pending(group_path(key, group, ":nack"), body, "nacked", as_json=as_json)


@on_server
def claim(
    key: Key,
    group: Group,
    consumer: Annotated[str, typer.Argument(metavar="CONSUMER", help="The new owner.", show_default=False)],
    ids: Ids,
    *,
    min_idle_ms: Annotated[
        int, typer.Option(min=0, metavar="MS", help="Only entries that were delivered this long ago.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Make a consumer the owner of pending entries, and print the ids that it got.

    Exit status: 0 if it got all of them; 1 if not, or if the server refuses;
    2 for wrong arguments.

    [bold]Example[/bold]

      tailrace claim race:france judges bob 1692632086370-0 --min-idle-ms 60000
    """
    wanted = {"consumer": consumer, "ids": ids, "min_idle_ms": min_idle_ms, "just_id": True}
    body = with_name(wanted, "consumer")
    with connected() as server:
        answer = server.request("POST", group_path(key, group, ":claim"), body=body).json()
        if as_json:
            say_json(answer)
        else:
            for entry_id in answer["ids"]:
                say(entry_id)
        if len(answer["ids"]) < len(set(ids)):
            fail(
                f"claimed {len(answer['ids'])} of {len(set(ids))}: "
                "the others are not pending or not idle enough"
            )


@on_server
def extend(
    key: Key,
    group: Group,
    consumer: Annotated[str, typer.Argument(metavar="CONSUMER", help="Their owner.", show_default=False)],
    ids: Ids,
    *,
    as_json: AsJson = False,
) -> None:
    """Extend the leases of entries that a consumer works on: their idle time begins again.

    Exit status: 0 if the consumer owns all of them; 1 if not, or if the
    server refuses; 2 for wrong arguments.

    [bold]Example[/bold]

      tailrace extend race:france judges bob 1692632086370-0
    """
    body = with_name({"consumer": consumer, "ids": ids}, "consumer")
    with connected() as server:
        answer = server.request("POST", group_path(key, group, ":extend"), body=body).json()
        if as_json:
            say_json(answer)
        else:
            say(f"{len(answer['extended'])} extended")
        if answer["lost"]:
            fail(f"{consumer} does not own {' '.join(answer['lost'])}")


def _change_pending(path: str, body: dict[str, Any], member: str, *, as_json: bool) -> None:
    """Send one change of pending entries. Exits with 1 if some were not pending."""
    with connected() as server:
        answer = server.request("POST", path, body=body).json()
        if as_json:
            say_json(answer)
        else:
            say(f"{answer[member]} {member}")
        wanted = len(set(body["ids"]))
        if answer[member] < wanted:
            fail(f"{wanted - answer[member]} of {wanted} were not pending")
