"""`tailrace scheduled`: lists and cancels the entries that the server appends later.

It owns the options and the rows. `tailrace append --delay` schedules an entry; see docs/delay.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Annotated, Any, Final
from urllib.parse import quote

import msgspec
import typer

from tailrace.app.cli.client_command import connected, fail, on_server
from tailrace.app.cli.output import say, visible_json
from tailrace.app.cli.server import RefusedByServer, Server, stream_path
from tailrace.app.cli.streams.listings import Key
from tailrace.app.cli.streams.rows import AsJson, Column, Item, print_rows, text, time
from tailrace.core.limits import SCHEDULED_PAGE_MAX


def _content(item: Item) -> str:
    return visible_json(msgspec.json.encode(item.get("fields") or item["pairs"]).decode())


_COLUMNS: Final = (
    text("scheduled id", "scheduled_id"),
    time("time", "deliver_at_ms"),
    Column("fields", _content),
)


@on_server
def scheduled(
    key: Key,
    *,
    cancel: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Cancel this entry; can be repeated.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the entries that the server appends to a stream later, or cancel some.

    The entries are in the order of their times. In a pipe the columns are
    separated by tabs: scheduled id, time, fields.

    Exit status: 0; 1 if the stream or an entry to cancel does not exist, or
    the server refuses; 2 for wrong arguments.

    [bold]Examples[/bold]

      tailrace append race:france --delay 1h rider=Castilla

      tailrace scheduled race:france

      tailrace scheduled race:france --cancel s1692632207973-1692632147973000
    """
    path = stream_path(os.fsencode(key), "/scheduled")
    with connected() as server:
        if cancel:
            _cancel(server, path, list(dict.fromkeys(cancel)))
        else:
            print_rows(_COLUMNS, _all(server, path), as_json=as_json)


def _all(server: Server, path: str) -> Iterator[Item]:
    """Yield the scheduled entries, page by page."""
    parameters = [("limit", str(SCHEDULED_PAGE_MAX))]
    while True:
        page: dict[str, Any] = server.request("GET", path, parameters=parameters).json()
        yield from page["scheduled"]
        if page["next"] is None:
            return
        parameters = [*parameters[:1], ("after", page["next"])]


def _cancel(server: Server, path: str, ids: list[str]) -> None:
    missing = [each for each in ids if not _is_cancelled(server, f"{path}/{quote(each, safe='')}")]
    say(f"{len(ids) - len(missing)} cancelled")
    if missing:
        fail(f"not scheduled: {' '.join(missing)}")


def _is_cancelled(server: Server, path: str) -> bool:
    try:
        server.request("DELETE", path)
    except RefusedByServer as refusal:
        if refusal.code == "NO_SUCH_ENTRY":
            return False
        raise
    return True
