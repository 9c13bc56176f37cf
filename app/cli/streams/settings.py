"""`tailrace retention` and `configure`: the rules of a stream and the settings of a consumer group.

It owns the options. The server applies the rules and settings; see docs/policies.md."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Annotated, Any

import typer

from tailrace.app.cli.client_command import connected, on_server
from tailrace.app.cli.output import say_json
from tailrace.app.cli.quantities import age_ms, backoff_ms, size_bytes
from tailrace.app.cli.server import stream_path
from tailrace.app.cli.streams.groups import Group, group_path, with_name
from tailrace.app.cli.streams.listings import Key
from tailrace.core.limits import CONSUMER_EXPIRY_MS_MIN

# --- retention ----------------------------------------------------------------------------------


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


# --- groups -------------------------------------------------------------------------------------


class Setting(StrEnum):
    """A setting of a group: the value is the name of its option."""

    MAX_DELIVERIES = "max-deliveries"
    DEAD_LETTER_STREAM = "dead-letter-stream"
    FILTER = "filter"
    CLAIM_MIN_IDLE_MS = "claim-min-idle-ms"
    CONSUMER_EXPIRY_MS = "consumer-expiry-ms"
    MAX_LAG_MS = "max-lag-ms"
    BACKOFF = "backoff"
    ORDER_BY = "order-by"


@on_server
def configure(  # noqa: PLR0913 - one parameter an option
    key: Key,
    group: Group,
    *,
    max_deliveries: Annotated[
        int | None,
        typer.Option(min=1, metavar="COUNT", help="Deliver an entry at most this often.", show_default=False),
    ] = None,
    dead_letter_stream: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="The stream for entries that failed so often.", show_default=False),
    ] = None,
    filter_: Annotated[
        str | None,
        typer.Option(
            "--filter",
            metavar="CONDITION",
            help="Deliver only entries that match (docs/filters.md).",
            show_default=False,
        ),
    ] = None,
    claim_min_idle_ms: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="MS", help="Reads claim entries that are idle for so long.", show_default=False
        ),
    ] = None,
    consumer_expiry_ms: Annotated[
        int | None,
        typer.Option(
            min=CONSUMER_EXPIRY_MS_MIN,
            metavar="MS",
            help="Delete a consumer that was not seen for so long.",
            show_default=False,
        ),
    ] = None,
    max_lag_ms: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="MS", help="Warn if the oldest unread entry is so old.", show_default=False
        ),
    ] = None,
    backoff: Annotated[
        int | None,
        typer.Option(
            parser=backoff_ms,
            metavar="AGE",
            help="How long the first nack delays an entry.",
            show_default=False,
        ),
    ] = None,
    backoff_factor: Annotated[
        float | None,
        typer.Option(
            min=1, metavar="FACTOR", help="How much longer each further nack. Default: 2.", show_default=False
        ),
    ] = None,
    backoff_max: Annotated[
        int | None,
        typer.Option(
            parser=backoff_ms, metavar="AGE", help="The longest delay. Default: 1h.", show_default=False
        ),
    ] = None,
    order_by: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD", help="Deliver entries with equal values one after another.", show_default=False
        ),
    ] = None,
    unset: Annotated[
        list[Setting] | None,
        typer.Option(metavar="SETTING", help="Remove this setting, such as filter; can be repeated."),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove all settings.")] = False,
) -> None:
    """Change settings of a group, and print its state as JSON.

    Dead letters: an entry that was delivered so often moves to another stream
    instead of one more delivery; both options belong together. Filter: the
    group delivers only entries that match, and others count as read. Leases:
    reads claim entries that another consumer has left, and a consumer that is
    gone gives its entries back. Backoff: a nack delays the next delivery, each
    time longer. Order: of the entries with the same value of the field, one at a
    time is delivered and not acknowledged. Settings that you do not give stay as
    they are; `tailrace groups KEY GROUP` shows them.

    Exit status: 0; 1 if the group does not exist or the server refuses; 2 for
    wrong arguments.

    [bold]Examples[/bold]

      tailrace configure race:france judges --max-deliveries 5 --dead-letter-stream race:dead

      tailrace configure race:france judges --filter 'fields.position == "1"'

      tailrace configure race:france judges --claim-min-idle-ms 60000

      tailrace configure race:france judges --backoff 1s --backoff-max 10m

      tailrace configure race:france judges --order-by rider

      tailrace configure race:france judges --unset filter

      tailrace configure race:france judges --remove
    """
    settings: dict[str, Any] = {
        "max_deliveries": max_deliveries,
        "dead_letter_stream": dead_letter_stream,
        "filter": filter_,
        "claim_min_idle_ms": claim_min_idle_ms,
        "consumer_expiry_ms": consumer_expiry_ms,
        "max_lag_ms": max_lag_ms,
        "backoff": _backoff(backoff, backoff_factor, backoff_max),
        "order_by": order_by,
    }
    given = {name: value for name, value in settings.items() if value is not None}
    unset_names = [each.name.lower() for each in unset or ()]
    if remove == bool(given or unset_names):
        raise typer.BadParameter("give settings, or --remove, or --unset")
    if both := [name for name in unset_names if name in given]:
        raise typer.BadParameter(f"{both[0]} cannot be set and removed in one request")
    with connected() as server:
        changed = {**with_name(given, "dead_letter_stream"), **dict.fromkeys(unset_names)}
        body = dict.fromkeys(settings) if remove else changed
        say_json(server.request("POST", group_path(key, group, ":configure"), body=body).json())


def _backoff(initial_ms: int | None, factor: float | None, max_ms: int | None) -> dict[str, Any] | None:
    if initial_ms is None:
        if factor is not None or max_ms is not None:
            raise typer.BadParameter("--backoff-factor and --backoff-max need --backoff")
        return None
    given = {"factor": factor, "max_ms": max_ms}
    return {"initial_ms": initial_ms, **{name: value for name, value in given.items() if value is not None}}
