"""`tailrace backup`: makes a verified copy of a data directory, also while a server uses it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tailrace.app.cli.data_directories import copied, failing_in_one_line


def backup(
    directory: Annotated[Path, typer.Argument(metavar="D", help="The data directory.", show_default=False)],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="A new directory for the copy.", show_default=False)
    ],
) -> None:
    """Copy a data directory and verify the copy. The server may be running.

    The copy shows one instant and contains everything that was acknowledged
    before the command began. OUT appears only when it is complete and
    verified.

    [bold]Example[/bold]

      tailrace backup data /backups/data-monday
    """
    with failing_in_one_line(directory):
        typer.echo(f"{target} is a copy of {directory}: {copied(directory, target, 'Copying')}")
