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

from tailrace.app.cli.client_command import connected, fail, on_server
from tailrace.app.cli.following.reading import page_of
from tailrace.app.cli.server import RefusedByServer, Server
from tailrace.app.cli.streams.groups import group_path
from tailrace.app.cli.streams.rows import AsJson, Item, print_rows, text
from tailrace.core.limits import PAGE_ENTRIES_MAX
from tailrace.core.stream_id import StreamId, parse_id

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
    start: str | None = "-"
    while start is not None:
        bounds = [("start", start), ("count", str(PAGE_ENTRIES_MAX)), *_EXACT]
        page = page_of(server, os.fsencode(dead), bounds)
        for entry in page["entries"]:
            added = [(b64decode(name), b64decode(value)) for name, value in entry["pairs"][-len(_ORIGIN) :]]
            if [name for name, _ in added] == _ORIGIN:
                origins[os.fsdecode(added[0][1]), os.fsdecode(added[2][1])] = None
        start = None if page["next"] is None else f"({page['next']}"
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
    newest = page_of(server, dead, [("order", "desc"), ("count", "1")])["entries"]
    return newest[0]["id"] if newest else None


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
