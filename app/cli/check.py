"""`tailrace check`: whether a data directory is as it was written, and what of a damaged one is intact."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tailrace.app.cli.data_directories import failing_in_one_line, new_directory, verified, writing_to
from tailrace.core.storage.inspection import salvageable
from tailrace.core.storage.salvage import Salvage


def check(
    directory: Annotated[Path, typer.Argument(metavar="D", help="The data directory.", show_default=False)],
    salvage: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT",
            help="Write what is intact to OUT, a new directory, and list what is not.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Verify every value in a data directory, without changing a byte of it.

    A directory that a server uses is read as of one instant, while the
    server goes on; meanwhile its write-ahead log grows. A server cannot start
    on a directory while it is checked. After a crash the files are copied to
    the system's temporary directory first.

    Exit status: 0 when all is well; 1 when something is damaged, and then it
    is named; with --salvage, 1 when anything was lost, and OUT is there all
    the same.

    [bold]Examples[/bold]

      tailrace check data

      tailrace check data --salvage rescued
    """
    with failing_in_one_line(directory):
        if salvage is None:
            typer.echo(f"{directory} is intact: {verified(directory)}")
        else:
            _salvage(directory, salvage)


def _salvage(directory: Path, target: Path) -> None:
    with new_directory(target) as unfinished:
        with salvageable(directory) as inspection:
            found = Salvage(inspection.connection, inspection.damage, is_log_alone=inspection.is_log_alone)
            with writing_to(unfinished):
                found.write(unfinished)
        counts = verified(unfinished, "Verifying what was salvaged")
    typer.echo(f"{target} holds what is intact of {directory}: {counts}")
    for loss in found.losses:
        typer.echo(f"lost: {loss}")
    if found.losses:
        raise typer.Exit(1)
