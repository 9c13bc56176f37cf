"""Shared parts of the commands on data directories: one-line errors, a progress bar, a new output directory.

It owns verification and copying for the command line. The checks themselves are in `core.storage`.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import typer
from rich.console import Console
from rich.progress import Progress

from tailrace.app.cli.client_command import INTERRUPTED
from tailrace.app.cli.output import counted, note
from tailrace.app.store.data_refusals import STORAGE_ERRORS, refusal
from tailrace.app.store.storage import new_identity
from tailrace.core.storage.inspection import check_groups, copy_whole, inspected
from tailrace.core.storage.recovery import check_payloads, recover
from tailrace.core.storage.schema import sync_directory

DATA_DIR_VARIABLE: Final = "TAILRACE_DATA_DIR"

DataDirectory: TypeAlias = Annotated[
    Path,
    typer.Argument(metavar="D", help="The data directory.", envvar=DATA_DIR_VARIABLE, show_default=False),
]


class CannotWrite(Exception):
    """The output directory is in use, or the system refuses to write to it."""


@contextmanager
def failing_in_one_line(directory: Path) -> Iterator[None]:
    """Turn `CannotWrite` and `STORAGE_ERRORS` into one sentence and exit status 1, Ctrl-C into status 130."""
    try:
        yield
    except CannotWrite as error:
        _fail(str(error))
    except STORAGE_ERRORS as error:
        _fail(refusal(directory, error))
    except KeyboardInterrupt:
        note("interrupted; nothing was changed or left behind")
        raise typer.Exit(INTERRUPTED) from None


def _fail(sentence: str) -> None:
    note(sentence)
    raise typer.Exit(1) from None


@contextmanager
def progress_bar(doing: str) -> Iterator[Progress]:
    """Show a progress bar on standard error if that is a terminal."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        # Without a total the bar would be animated; it starts empty instead.
        progress.add_task(doing, total=1)
        yield progress


def show(progress: Progress, done: int, total: int) -> None:
    """Set the bar to `done` of `total` steps."""
    progress.update(progress.task_ids[0], completed=done, total=max(total, 1))


@contextmanager
def new_directory(target: Path) -> Iterator[Path]:
    """Yield a directory to write to; it is renamed to `target` if the context ends without an error.

    After an error the directory is removed. Raises `CannotWrite` if `target` exists and is not an empty
    directory.
    """
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise CannotWrite(f"{target} exists and is not an empty directory: nothing was written")
    unfinished = target.with_name(f"{target.name}.unfinished")
    with writing_to(target):
        _make(unfinished)
    try:
        yield unfinished
        with writing_to(target):
            unfinished.replace(target)
            sync_directory(target.parent)
    except BaseException:
        shutil.rmtree(unfinished)
        raise


def _make(unfinished: Path) -> None:
    try:
        unfinished.mkdir(parents=True)
    except FileExistsError:
        what = "another command is writing to it or was interrupted; if none is running, remove it"
        raise CannotWrite(f"{unfinished} exists: {what}") from None


@contextmanager
def writing_to(target: Path) -> Iterator[None]:
    """Report errors of the system as `CannotWrite` with `target`, not with the directory that is read."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise CannotWrite(refusal(target, error)) from error


def verified(directory: Path, doing: str = "Verifying") -> str:
    """Read and check every value in `directory`; return its counts as text.

    Raises one of `STORAGE_ERRORS` at the first damaged value.
    """
    with inspected(directory) as inspection, progress_bar(doing) as progress:
        keyspace = recover(inspection.connection, inspection.connection).keyspace
        streams = keyspace.streams.values()
        blocks = sum(len(stream.log.blocks) for stream in streams)
        for done, _ in enumerate(check_payloads(keyspace), start=1):
            show(progress, done, blocks)
        check_groups(keyspace)
        groups = [group for stream in streams for group in stream.groups.values()]
        entries = counted(sum(stream.length for stream in streams), "entry")
        pending = counted(sum(group.pending.count for group in groups), "pending entry")
        counts = (
            f"{counted(len(streams), 'stream')}, {entries} in {counted(blocks, 'block')}, "
            f"{counted(len(groups), 'group')}, {pending}"
        )
        used = (
            " (a server uses the directory; this is its state at one instant)" if inspection.is_in_use else ""
        )
        return counts + used


def copied(source: Path, target: Path, doing: str) -> str:
    """Copy a data directory, verify the copy, and return its counts as text. See `verified`."""
    with new_directory(target) as unfinished:
        with (
            inspected(source) as inspection,
            progress_bar(doing) as progress,
            writing_to(unfinished),
        ):
            copy_whole(
                inspection.connection,
                unfinished,
                new_identity(),
                lambda done, total: show(progress, done, total),
            )
        return verified(unfinished, "Verifying the copy")
