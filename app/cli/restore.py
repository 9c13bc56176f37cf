"""`tailrace restore`: creates a data directory from a backup."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tailrace.app.cli.data_directories import DataDirectory, copied, failing_in_one_line
from tailrace.app.cli.output import say


def restore(
    backup: Annotated[
        Path,
        typer.Argument(
            metavar="BACKUP", help="A directory that `tailrace backup` created.", show_default=False
        ),
    ],
    directory: DataDirectory,
) -> None:
    """Create a data directory from a backup and verify it.

    D must not exist or must be empty: the command never overwrites data. D
    appears only when it is complete and verified. The backup is not changed.

    Exit status: 0; 1 if the data is damaged or D cannot be written; 2 for
    wrong arguments; 130 after Ctrl-C.

    [bold]Example[/bold]

      tailrace restore /backups/data-monday data
    """
    with failing_in_one_line(backup):
        say(f"{directory} is restored from {backup}: {copied(backup, directory, 'Restoring')}")
