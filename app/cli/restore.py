"""`tailrace restore`: a data directory made of a backup."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tailrace.app.cli.data_directories import copied, failing_in_one_line


def restore(
    backup: Annotated[
        Path, typer.Argument(metavar="BACKUP", help="What `tailrace backup` made.", show_default=False)
    ],
    directory: Annotated[
        Path, typer.Argument(metavar="D", help="The new data directory.", show_default=False)
    ],
) -> None:
    """Make a data directory of a backup, which stays as it is, and verify it.

    D must not exist, or be empty: nothing is ever written over. It is there
    only when it is whole and verified.

    [bold]Example[/bold]

      tailrace restore /backups/data-monday data
    """
    with failing_in_one_line(backup):
        typer.echo(f"{directory} is restored from {backup}: {copied(backup, directory, 'Restoring')}")
