"""`tailrace append`, `trim`, `rm` and `scheduled`: changes of a stream, and entries that are appended later.

It owns the options and the summary lines. A change that cannot be undone asks on a terminal, and needs
`--yes` elsewhere."""

from __future__ import annotations

import os
import sys
from base64 import b64encode
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, TypeAlias
from urllib.parse import quote

import msgspec
import typer

from tailrace.app.cli.client_command import connected, fail, on_server
from tailrace.app.cli.output import say, say_json, visible, visible_json
from tailrace.app.cli.quantities import delay_ms, time_ms
from tailrace.app.cli.server import RefusedByServer, Server, stream_path
from tailrace.app.cli.streams.listings import Key
from tailrace.app.cli.streams.rows import AsJson, Column, Item, print_rows, text, time
from tailrace.core.limits import SCHEDULED_PAGE_MAX

Yes: TypeAlias = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@on_server
def append(
    key: Key,
    fields: Annotated[
        list[str],
        typer.Argument(metavar="FIELD=VALUE...", help="The fields, in this order.", show_default=False),
    ],
    *,
    entry_id: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="ID", help="The id. Default: the server chooses it.", show_default=False
        ),
    ] = None,
    delay: Annotated[
        int | None,
        typer.Option(
            parser=delay_ms, metavar="DELAY", help="Append later: after so long.", show_default=False
        ),
    ] = None,
    at: Annotated[
        int | None,
        typer.Option(
            parser=time_ms,
            metavar="TIME",
            help="Append at this time, YYYY-MM-DDTHH:MM:SS[Z], at most 366 days ahead.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Append one entry to a stream, and print its id.

    The stream is created if it does not exist. A value is the rest of the
    argument after the first =, and can have any bytes. With --delay or --at,
    the server stores the entry and appends it later; the command prints the
    scheduled id. A time without an offset is in the zone of this machine.

    Exit status: 0; 1 if the server refuses or does not answer; 2 for wrong
    arguments.

    [bold]Examples[/bold]

      tailrace append race:france rider=Castilla speed=30.2

      tailrace append race:france --id 1-1 rider=Norem

      tailrace append race:france --delay 10m rider=Prickett
    """
    body: dict[str, Any] = {"pairs": _pairs(fields)}
    if any(_is_binary(word) for word in fields):
        body = {
            "pairs": [[b64encode(os.fsencode(part)).decode() for part in pair] for pair in body["pairs"]],
            "encoding": "base64",
        }
    if entry_id is not None:
        body["id"] = entry_id
    if delay is not None:
        body["delay_ms"] = delay
    if at is not None:
        body["deliver_at_ms"] = at
    with connected() as server:
        answer = server.request("POST", stream_path(os.fsencode(key), "/entries"), body=body).json()
        if as_json:
            say_json(answer)
        else:
            say(answer.get("id") or answer["scheduled_id"])


@on_server
def trim(
    key: Key,
    *,
    max_length: Annotated[
        int | None,
        typer.Option(min=0, metavar="COUNT", help="Keep the newest COUNT entries.", show_default=False),
    ] = None,
    min_id: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Keep the entries from this id on.", show_default=False),
    ] = None,
    approximate: Annotated[
        bool, typer.Option("--approximate", help="Remove whole blocks only: faster, keeps some more.")
    ] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Remove the oldest entries of a stream, and print how many.

    Exit status: 0; 1 if the server refuses or you answer no; 2 for wrong
    arguments.

    [bold]Examples[/bold]

      tailrace trim race:france --max-length 1000

      tailrace trim race:france --min-id 1692632086370-0 --yes
    """
    if (max_length is None) == (min_id is None):
        raise typer.BadParameter("give either --max-length or --min-id")
    body = {"max_length": max_length, "min_id": min_id, "approximate": approximate}
    with connected() as server:
        path = stream_path(os.fsencode(key))
        length = server.request("GET", f"{path}/length").json()["length"]
        kept = f"all but the newest {max_length}" if min_id is None else f"those before {min_id}"
        confirm(f"Remove {kept} of {length} entries of {key}?", yes=yes)
        answer = server.request("POST", f"{path}/entries:trim", body=body).json()
        if as_json:
            say_json(answer)
        else:
            say(f"{answer['trimmed']} entries removed")


@on_server
def rm(
    key: Key,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Entries. Without them: the stream.", show_default=False),
    ] = None,
    *,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Delete a stream with its groups, or some of its entries.

    Exit status: 0; 1 if the stream or an entry does not exist, if the server
    refuses, or if you answer no; 2 for wrong arguments.

    [bold]Examples[/bold]

      tailrace rm race:france

      tailrace rm race:france 1692632086370-0
    """
    with connected() as server:
        if ids:
            _delete_entries(server, key, ids, as_json=as_json)
            return
        path = stream_path(os.fsencode(key))
        found = server.request("GET", path).json()
        confirm(f"Delete {key} with {found['length']} entries and {found['groups']} groups?", yes=yes)
        server.request("DELETE", path)
        if as_json:
            say_json({"deleted": True})
        else:
            say(f"{key} deleted")


def _delete_entries(server: Server, key: str, ids: Sequence[str], *, as_json: bool) -> None:
    path = stream_path(os.fsencode(key), "/entries:delete")
    answer = server.request("POST", path, body={"ids": list(ids)}).json()
    if as_json:
        say_json(answer)
    else:
        say(f"{answer['deleted']} entries deleted")
    missing = [each["id"] for each in answer["results"] if each["result"] == "not_found"]
    if missing:
        fail(f"not found: {' '.join(missing)}")


def confirm(question: str, *, yes: bool) -> None:
    """Ask on a terminal. Elsewhere the change needs `--yes`."""
    if yes:
        return
    if not sys.stdin.isatty():
        fail("nothing was changed: this cannot be undone, and without a terminal it needs --yes")
    if not typer.confirm(visible(question)):
        fail("nothing was changed")


def _pairs(words: Sequence[str]) -> list[list[str]]:
    pairs = []
    for word in words:
        field, separator, value = word.partition("=")
        if not separator or not field:
            raise typer.BadParameter(f"{word!r} is not FIELD=VALUE")
        pairs.append([field, value])
    return pairs


def _is_binary(word: str) -> bool:
    """Return whether an argument has bytes that are not UTF-8."""
    try:
        word.encode()
    except UnicodeEncodeError:
        return True
    return False


# --- scheduled entries --------------------------------------------------------------------------


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
