"""The option `--context` of every command that talks to a server.

It owns where the option is added: to each command with the option `--url`. Other commands are unchanged.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand

_OPTION: Final = "context"
_AFTER: Final = "url"


class ClientCommand(TyperCommand):
    """A command. If it has the option `--url`, it also has `--context`, which sets URL and token."""

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        names = [parameter.name for parameter in self.params]
        if _AFTER in names:
            self.params.insert(names.index(_AFTER) + 1, _context_option())

    def invoke(self, ctx: Any) -> Any:
        """Run the command with the server of the context."""
        if _OPTION in ctx.params:
            ctx.params.update(_overrides(ctx, ctx.params.pop(_OPTION)))
        return super().invoke(ctx)


def _names(incomplete: str) -> list[str]:
    file = import_module("tailrace.app.cli.contexts.file")
    try:
        return [name for name in file.load().contexts if name.startswith(incomplete)]
    except file.BadContexts:
        return []


def _declared(
    context: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The server and token of this context; see tailrace context.",
            envvar="TAILRACE_CONTEXT",
            autocompletion=_names,
            show_default=False,
        ),
    ] = None,
) -> None:
    """Declare the option."""


def _context_option() -> Any:
    """Return the option as Typer makes it from a declaration."""
    declaring = typer.Typer(add_completion=False)
    declaring.command()(_declared)
    return typer.main.get_command(declaring).params[0]


def _overrides(ctx: Any, name: str | None) -> dict[str, Any]:
    # Help and completion of commands need no contexts.
    choice = import_module("tailrace.app.cli.contexts.choice")
    connection = import_module("tailrace.app.cli.client.connection")
    try:
        found: dict[str, Any] = choice.overrides(ctx, name)
    except choice.BadContexts as error:
        connection.fail(str(error))
    if found.get("token_file"):
        found["token_file"] = Path(found["token_file"])
    return found
