"""`tailrace check`: verifies a data directory, and copies the intact data of a damaged one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tailrace.app.cli.data_directories import (
    DataDirectory,
    failing_in_one_line,
    new_directory,
    verified,
    writing_to,
)
from tailrace.app.cli.output import say
from tailrace.core.storage.inspection import salvageable
from tailrace.core.storage.salvage import Salvage


def check(
    directory: DataDirectory,
    salvage: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT",
            help="Write all intact data to OUT, a new directory, and list what is lost.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Verify every value in a data directory. The command changes nothing.

    If a server uses the directory, the command reads the state of one
    instant while the server keeps running; meanwhile the write-ahead log
    grows. A server cannot start on a directory during a check. After a crash
    the command first copies the files to the system's temporary directory.

    Exit status: 0 if everything is intact; 1 if something is damaged, and the
    output names it. With --salvage: 1 if anything was lost; OUT exists anyway.

    [bold]Examples[/bold]

      tailrace check data

      tailrace check data --salvage rescued
    """
    with failing_in_one_line(directory):
        if salvage is None:
            say(f"{directory} is intact: {verified(directory)}")
        else:
            _salvage(directory, salvage)


def _salvage(directory: Path, target: Path) -> None:
    with new_directory(target) as unfinished:
        with salvageable(directory) as inspection:
            found = Salvage(inspection.connection, inspection.damage, is_log_alone=inspection.is_log_alone)
            with writing_to(unfinished):
                found.write(unfinished)
        counts = verified(unfinished, "Verifying what was salvaged")
    say(f"{target} has all intact data of {directory}: {counts}")
    for loss in found.losses:
        say(f"lost: {loss}")
    if found.losses:
        raise typer.Exit(1)
