"""The commands on a data directory: `tailrace backup`, `restore` and `check`. None needs a server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from tailrace.app.cli.data_directories import (
    DATA_DIR_VARIABLE,
    DataDirectory,
    copied,
    failing_in_one_line,
    new_directory,
    verified,
    writing_to,
)
from tailrace.app.cli.output import say
from tailrace.core.storage.inspection import salvageable
from tailrace.core.storage.salvage import Salvage


def backup(
    directories: Annotated[
        list[Path],
        typer.Argument(
            metavar="[D] OUT",
            help=f"The data directory (default: {DATA_DIR_VARIABLE}), and a new directory for the copy.",
            show_default=False,
        ),
    ],
) -> None:
    """Copy a data directory and verify the copy. The server may be running.

    The copy shows one instant and contains everything that was acknowledged
    before the command began. OUT appears only when it is complete and
    verified.

    Exit status: 0; 1 if the data is damaged or OUT cannot be written; 2 for
    wrong arguments; 130 after Ctrl-C.

    [bold]Example[/bold]

      tailrace backup data /backups/data-monday
    """
    directory, target = _directory_and_target(directories)
    with failing_in_one_line(directory):
        say(f"{target} is a copy of {directory}: {copied(directory, target, 'Copying')}")


def _directory_and_target(given: list[Path]) -> tuple[Path, Path]:
    directory = os.environ.get(DATA_DIR_VARIABLE)
    match given:
        case [source, target]:
            return source, target
        case [target] if directory:
            return Path(directory), target
        case [_]:
            raise typer.BadParameter(f"give the data directory and OUT, or set {DATA_DIR_VARIABLE}")
        case _:
            raise typer.BadParameter(f"{len(given)} directories are given; two are allowed: D and OUT")


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
