"""`tailrace backup`: a verified copy of a data directory, of a running server's too."""

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
    """Copy a data directory, of a running server too, and verify the copy.

    The copy is as of one instant and holds everything that was acknowledged
    when the command began. OUT is there only when it is whole and verified.

    [bold]Example[/bold]

      tailrace backup data /backups/data-monday
    """
    with failing_in_one_line(directory):
        typer.echo(f"{target} is a copy of {directory}: {copied(directory, target, 'Copying')}")
