"""The command line `tailrace`: one module a command, joined here. Commands parse and print, no more."""

from __future__ import annotations

import typer

from app.cli.backup import backup
from app.cli.check import check
from app.cli.openapi import openapi
from app.cli.restore import restore
from app.cli.serve import serve
from app.cli.version import version

_HELP = """Redis and Valkey Streams semantics, over HTTP."""

_cli = typer.Typer(
    help=_HELP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _command in (serve, check, backup, restore, version, openapi):
    _cli.command()(_command)


def main() -> None:
    """Run the command that the arguments name; exits with 0, 1 (failed) or 2 (wrong arguments)."""
    _cli(prog_name="tailrace")
