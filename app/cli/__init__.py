"""The command line `tailrace`: one module for each command.

The package owns options, printed output and exit statuses. It never implements a stream command: client
commands talk to a server over HTTP.

The module of a command is imported only when that command runs. Client commands therefore start without the
server's imports; a shell starts the program for each completion.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

_HELP = """Redis and Valkey Streams over HTTP: the server and its command-line client."""

_CONTEXT: Final = {"help_option_names": ["-h", "--help"]}

_COMMANDS: Final = {
    "serve": "serve:serve",
    "cli": "cli:cli",
    "tail": "tail:tail",
    "import": "import_file:import_file",
    "export": "export_stream:export_stream",
    "migrate": "migrate_streams:migrate_streams",
    "check": "check:check",
    "backup": "backup:backup",
    "restore": "restore:restore",
    "token": "token:token",
    "openapi": "openapi:openapi",
    "version": "version:version",
}
"""Command name to `module:attribute`. The attribute is a function, or a Typer application of subcommands."""

_SETTINGS: Final[dict[str, dict[str, Any]]] = {
    # All words after a Redis command belong to that command, even words that look like options.
    "cli": {"allow_interspersed_args": False},
}


class _Commands(TyperGroup):
    """The group of all commands. It imports the module of a command on first use."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return all command names, in the order in which help shows them."""
        del ctx
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command `cmd_name`, or None if it does not exist."""
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        module, _, attribute = _COMMANDS[cmd_name].partition(":")
        command = typer.main.get_command(
            _application(cmd_name, getattr(import_module(f"tailrace.app.cli.{module}"), attribute))
        )
        command.name = cmd_name
        return command


def _application(name: str, found: typer.Typer | Callable[..., Any]) -> typer.Typer:
    """Wrap a command function in a Typer application; return a Typer application unchanged."""
    if isinstance(found, typer.Typer):
        return found
    application = typer.Typer(add_completion=False, rich_markup_mode="rich")
    application.command(name, context_settings={**_CONTEXT, **_SETTINGS.get(name, {})})(found)
    return application


_cli = typer.Typer(
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


@_cli.callback()
def _options(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Declare the options that precede a command."""
    del version


def main() -> None:
    """Run the command that the arguments name; exits with 0, 1 (failed) or 2 (wrong arguments)."""
    _cli(prog_name="tailrace")
