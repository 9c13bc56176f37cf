"""The command line `tailrace`: one module for each command.

The package owns options, printed output and exit statuses. It never implements a stream command: client
commands talk to a server over HTTP.

The module of a command is imported only when that command runs. Client commands therefore start without the
server's imports; a shell starts the program for each completion.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from importlib import import_module
from types import FrameType
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

_HELP = """Redis and Valkey Streams over HTTP: the server and its command-line client."""

_CONTEXT: Final = {"help_option_names": ["-h", "--help"]}

_COMMANDS: Final = {
    "serve": ("serve:serve", "Run the server until SIGINT or SIGTERM."),
    "cli": ("cli:cli", "Send Redis commands and print replies as redis-cli does."),
    "read": (
        "streams.read:read",
        "Print the entries of a stream: all, a range, the last ones, or some by id.",
    ),
    "tail": ("tail:tail", "Print the last entries of streams, and with -f new ones until Ctrl-C."),
    "top": ("streams.top:top", "Show the busiest streams: rates, lengths, lag, pending entries."),
    "stats": (
        "observing.stats:stats",
        "Show a server's throughput, commit latency, memory and connections.",
    ),
    "slowlog": ("observing.slowlog:slowlog", "List the slow operations of a server, the newest first."),
    "bench": ("loading.bench:bench", "Put load on a running server, and print rates and percentiles."),
    "ls": ("streams.listings:ls", "List the streams, in the order of their keys."),
    "info": ("streams.listings:info", "Show one stream: entries, ids, groups, retention, scheduled entries."),
    "groups": (
        "streams.groups:groups",
        "List the groups of a stream, or show one with its settings.",
    ),
    "consumers": ("streams.groups:consumers", "List the consumers of a group, with their pending entries."),
    "group": ("streams.group:group", "Create, move and delete the consumer groups of a stream."),
    "consumer": ("streams.group:consumer", "Delete the consumers of a group."),
    "pending": (
        "streams.groups:pending",
        "List the pending entries of a group: delivered, and not acknowledged.",
    ),
    "append": ("streams.changes:append", "Append one entry to a stream, and print its id."),
    "ack": ("streams.pending:ack", "Acknowledge entries: they are no longer pending in the group."),
    "nack": (
        "streams.pending:nack",
        "Return pending entries to the group: the next claim takes them first.",
    ),
    "claim": (
        "streams.pending:claim",
        "Make a consumer the owner of pending entries, and print the ids that it got.",
    ),
    "extend": (
        "streams.pending:extend",
        "Extend the leases of entries that a consumer works on: their idle time begins again.",
    ),
    "configure": (
        "streams.settings:configure",
        "Change settings of a group, and print its state as JSON.",
    ),
    "redrive": (
        "streams.pending:redrive",
        "Send dead letters back to their streams, each once, and print their new ids.",
    ),
    "retention": (
        "streams.settings:retention",
        "Set, remove or show the retention of a stream; print it as JSON.",
    ),
    "scheduled": (
        "streams.changes:scheduled",
        "List the entries that the server appends to a stream later, or cancel some.",
    ),
    "trim": ("streams.changes:trim", "Remove the oldest entries of a stream, and print how many."),
    "rm": ("streams.changes:rm", "Delete a stream with its groups, or some of its entries."),
    "context": (
        "context:context",
        "Add, list and choose contexts: named servers with their tokens.",
    ),
    "import": ("import_file:import_file", "Append the rows of a file, NDJSON or CSV, to a stream."),
    "export": ("export_stream:export_stream", "Write the entries of a stream to a file, NDJSON or CSV."),
    "migrate": (
        "migrate_streams:migrate_streams",
        "Copy streams with their groups and pending entries, and compare both places.",
    ),
    "check": ("backup:check", "Verify every value in a data directory. The command changes nothing."),
    "backup": ("backup:backup", "Copy a data directory and verify the copy. The server may be running."),
    "restore": ("backup:restore", "Create a data directory from a backup and verify it."),
    "token": ("token:token", "Create, list and revoke tokens."),
    "openapi": ("openapi:openapi", "Print the OpenAPI document as JSON, or another document of the API."),
    "version": ("version:version", "Print the version."),
}
"""Command name to `module:attribute` and the summary of its help. The attribute is a function, or a Typer
application of subcommands. The summary is listed here too because `tailrace --help` imports no command."""

_SETTINGS: Final[dict[str, dict[str, Any]]] = {
    # All words after a Redis command belong to that command, even words that look like options.
    # `-h` is the host, as in redis-cli.
    "cli": {"allow_interspersed_args": False, "help_option_names": ["--help"]},
}


def plain_flags(parameters: list[Any]) -> list[Any]:
    """Let the help show a flag without `<bool>`, which reads as if a value should follow."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    return parameters


class _Commands(TyperGroup):
    """The group of all commands. It imports the module of a command when that command runs."""

    def __init__(self, **attributes: Any) -> None:
        """Create a command without options for each name: help and suggestions need the summary only."""
        super().__init__(**attributes)
        self.commands = {name: TyperCommand(name, help=summary) for name, (_, summary) in _COMMANDS.items()}

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters as the help shows them."""
        return plain_flags(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command that the first argument names, with its options, and the arguments after it."""
        name, found, others = super().resolve_command(ctx, args)
        if others == ["-h"]:
            # Also where `-h` has another meaning: without a value, it asks for help.
            others = ["--help"]
        return name, found and load_command(name or ""), others


def load_command(name: str) -> Any:
    """Import the command `name` and return it."""
    module, _, attribute = _COMMANDS[name][0].partition(":")
    # `--help` runs no command, and needs nothing of this module.
    with import_module("tailrace.app.process_tuning").uncollected():
        loaded = import_module(f"tailrace.app.cli.{module}")
    command = typer.main.get_command(_alone(name, getattr(loaded, attribute)))
    command.name = name
    return command


def _alone(name: str, found: typer.Typer | Callable[..., Any]) -> typer.Typer:
    """Wrap a command function in a Typer application; return a Typer application unchanged."""
    if isinstance(found, typer.Typer):
        return found
    command = import_module("tailrace.app.cli.client_command").ClientCommand
    alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
    alone.command(name, cls=command, context_settings={**_CONTEXT, **_SETTINGS.get(name, {})})(found)
    return alone


application = typer.Typer(
    cls=_Commands,
    help=_HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings=_CONTEXT,
)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - the signature of an option's callback
    if wanted:
        import_module("tailrace.app.cli.version").version()
        raise typer.Exit


@application.callback()
def _options(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Declare the options that precede a command."""
    del version


_ENDING: Final = (signal.SIGTERM, signal.SIGHUP)


def main() -> None:
    """Run the command that the arguments name; exits with 0, 1 (failed) or 2 (wrong arguments).

    SIGTERM and SIGHUP end a command as Ctrl-C does, so it stores its progress and stops what it has started.
    The exit status is then 128 and the number of the signal.
    """
    came: list[int] = []

    def end(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        raise KeyboardInterrupt

    for each in _ENDING:
        # A signal that the parent ignores, as `nohup` does, stays ignored.
        if signal.getsignal(each) is signal.SIG_DFL:
            signal.signal(each, end)
    try:
        application(prog_name="tailrace")
    except SystemExit as ended:
        if came and ended.code:
            sys.exit(128 + came[0])
        raise
