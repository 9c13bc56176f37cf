"""`tailrace backup`: makes a verified copy of a data directory, also while a server uses it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from tailrace.app.cli.data_directories import DATA_DIR_VARIABLE, copied, failing_in_one_line
from tailrace.app.cli.output import say


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
