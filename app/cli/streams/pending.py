"""`tailrace ack`, `nack`, `claim`, `extend` and `redrive`: changes of pending entries, and dead letters.

It owns the options, the pages of a redrive, and how the groups of a dead-letter stream are found. The server
moves each entry; see docs/policies.md."""

from __future__ import annotations

import os
import time
from base64 import b64decode
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias

import typer

from tailrace.app.cli.client_command import connected, fail, on_server
from tailrace.app.cli.following.follow import pages
from tailrace.app.cli.output import say, say_json
from tailrace.app.cli.quantities import delay_ms
from tailrace.app.cli.server import RefusedByServer, Server
from tailrace.app.cli.streams.groups import Group, group_path, with_name
from tailrace.app.cli.streams.listings import Key
from tailrace.app.cli.streams.rows import AsJson, Item, print_rows, text
from tailrace.core.stream_id import StreamId, parse_id

# --- pending entries ----------------------------------------------------------------------------


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


# --- dead letters -------------------------------------------------------------------------------


PAGE: Final = 100

_REDRIVEN: Final = (text("dead letter", "id"), text("new entry", "new_id"))
_ORIGIN: Final = [b"_source_stream", b"_source_id", b"_group", b"_deliveries", b"_last_consumer", b"_reason"]
"""The names of the last six fields of a dead letter. The entry itself may have fields of these names."""
_EXACT: Final = [("shape", "pairs"), ("encoding", "base64")]
_FORBIDDEN: Final = 403


@on_server
def redrive(
    key: Annotated[
        str,
        typer.Argument(
            metavar="KEY", help="The dead-letter stream, or the group's stream.", show_default=False
        ),
    ],
    group: Annotated[
        str | None,
        typer.Argument(metavar="GROUP", help="The group of the stream KEY.", show_default=False),
    ] = None,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Ids of dead letters. Without them: all.", show_default=False),
    ] = None,
    *,
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
    the same step. The command ends with the dead letters that exist when it
    begins, also if entries fail again meanwhile. After an interruption, run it
    again. In a pipe the columns are separated by tabs: the id of the dead
    letter, the id of the new entry.

    Exit status: 0; 1 if KEY alone has no dead letters of a group, if an ID is
    no dead letter of the group, or if the server refuses, for example for a
    group that was deleted; 2 for wrong arguments; 130 after Ctrl-C.

    [bold]Examples[/bold]

      tailrace redrive race:dead

      tailrace redrive race:france judges --per-s 50
    """
    with connected() as server:
        if group is None:
            refused: list[str] = []
            print_rows(_REDRIVEN, _of_all_groups(server, key, per_s, refused), as_json=as_json)
            if refused:
                fail("some dead letters stay where they are; " + "; ".join(refused))
            return
        path = group_path(key, group, ":redrive")
        if ids:
            reply: dict[str, Any] = server.request("POST", path, body={"ids": ids, "limit": len(ids)}).json()
            print_rows(_REDRIVEN, reply["redriven"], as_json=as_json)
            if reply["skipped"]:
                fail(f"{reply['skipped']} of {len(ids)} are no dead letters of this group")
        else:
            last_id = _last_id_of_group(server, key, group)
            print_rows(_REDRIVEN, _all(server, path, per_s, last_id), as_json=as_json)


def _of_all_groups(server: Server, dead: str, per_s: float | None, refused: list[str]) -> Iterator[Item]:
    """Send back the dead letters of each group that has any in the stream `dead`. A group that the server
    refuses does not stop the others; a text about it is added to `refused`."""
    last_id = _last_id(server, os.fsencode(dead))
    origins = _origins(server, dead)
    if not origins:
        fail(f"the stream {dead} has no dead letters of a group; name a dead-letter stream, or KEY and GROUP")
    for key, group in origins:
        try:
            yield from _all(server, group_path(key, group, ":redrive"), per_s, last_id)
        except RefusedByServer as refusal:
            refused.append(f"{key} {group}: {refusal.detail}")


def _origins(server: Server, dead: str) -> list[tuple[str, str]]:
    """Return the stream and the group of the dead letters in `dead`, each pair once. O(entries)."""
    origins: dict[tuple[str, str], None] = {}
    for line in pages(server, os.fsencode(dead), ("-", "+"), None, parameters=_EXACT):
        added = line.pairs[-len(_ORIGIN) :]
        if [name for name, _ in added] == _ORIGIN:
            origins[os.fsdecode(added[0][1]), os.fsdecode(added[2][1])] = None
    return list(origins)


def _last_id_of_group(server: Server, key: str, group: str) -> str | None:
    """Return the last id of the group's dead-letter stream; None if it has none, or the token cannot read."""
    try:
        found: dict[str, Any] = server.request("GET", group_path(key, group, "")).json()
        name: str | None = found.get("dead_letter_stream")
        if name is None:
            return None
        return _last_id(server, b64decode(name) if found.get("encoding") == "base64" else name.encode())
    except RefusedByServer as refusal:
        if refusal.status == _FORBIDDEN:
            return None
        raise


def _last_id(server: Server, dead: bytes) -> str | None:
    """Return the last id of the stream `dead`; None if the stream does not exist."""
    return next((line.id for line in pages(server, dead, ("-", "+"), 1, reverse=True)), None)


def _all(server: Server, path: str, per_s: float | None, last_id: str | None) -> Iterator[Item]:
    """Send back the dead letters of a group up to `last_id`, page by page, not faster than `per_s`. Later
    ones can be entries that failed again, so the last page may have a few, but the command ends."""
    start: str | None = "-"
    size = PAGE if per_s is None else max(min(PAGE, round(per_s)), 1)
    while start is not None:
        began_s = time.monotonic()
        reply = server.request("POST", path, body={"start": start, "limit": size}).json()
        redriven: Sequence[Item] = reply["redriven"]
        yield from redriven
        start = reply["next"]
        if start is not None and last_id is not None and _number(start) > _number(last_id):
            return
        if per_s is not None and start is not None:
            time.sleep(max(began_s + len(redriven) / per_s - time.monotonic(), 0))


def _number(entry_id: str) -> StreamId:
    return parse_id(entry_id.encode())
