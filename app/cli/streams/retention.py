"""`tailrace retention`: the rules by which the server removes the oldest entries of a stream.

It owns the options. The server removes the entries; see docs/policies.md.
"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from tailrace.app.cli.client_command import connected, on_server
from tailrace.app.cli.output import say_json
from tailrace.app.cli.quantities import age_ms, size_bytes
from tailrace.app.cli.server import stream_path
from tailrace.app.cli.streams.listings import Key


@on_server
def retention(
    key: Key,
    *,
    max_age: Annotated[
        int | None,
        typer.Option(parser=age_ms, metavar="AGE", help="Keep entries for so long.", show_default=False),
    ] = None,
    max_length: Annotated[
        int | None,
        typer.Option(min=1, metavar="COUNT", help="Keep so many entries.", show_default=False),
    ] = None,
    max_bytes: Annotated[
        int | None,
        typer.Option(
            parser=size_bytes, metavar="SIZE", help="Keep so many bytes of entries.", show_default=False
        ),
    ] = None,
    acknowledged: Annotated[
        bool, typer.Option("--acknowledged", help="Remove what every group has acknowledged.")
    ] = False,
    protect_unread: Annotated[
        bool, typer.Option("--protect-unread", help="Keep what a group has not read.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove all rules.")] = False,
) -> None:
    """Set, remove or show the retention of a stream; print it as JSON.

    The server removes the oldest entries by these rules, within about a
    second. An entry goes if one rule removes it. New rules replace all
    earlier ones. Without options, the command shows the rules and what they
    have removed; `null` means that the stream keeps all entries.

    Exit status: 0; 1 if the stream does not exist or the server refuses; 2 for
    wrong arguments.

    [bold]Examples[/bold]

      tailrace retention race:france --max-age 7d --protect-unread

      tailrace retention race:france --remove
    """
    rules = {
        name: rule
        for name, rule in (
            ("max_age_ms", max_age),
            ("max_length", max_length),
            ("max_bytes", max_bytes),
            ("acknowledged", acknowledged),
            ("protect_unread", protect_unread),
        )
        if rule
    }
    if remove and rules:
        raise typer.BadParameter("give rules, or --remove")
    with connected() as server:
        if rules or remove:
            server.request(
                "POST", stream_path(os.fsencode(key), ":configure"), body={"retention": rules or None}
            )
        say_json(server.request("GET", stream_path(os.fsencode(key))).json().get("retention"))
