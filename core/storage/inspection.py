"""Looking at a data directory without changing a byte of it, and copying it whole.

A directory that a server uses is read as any reader of SQLite does, as of one instant, while the server
goes on. One that nobody uses is read as it lies; only where the last stop was a crash, and SQLite would
have to put its log in order first, is that done to a copy in the system's temporary directory.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from core.invariants import check_group
from core.keyspace import Keyspace
from core.storage.damage import Damage
from core.storage.log_file import read_log, require_torn_at_most
from core.storage.schema import FILE_NAME, LOCK_NAME, check_is_ours, sync_directory

WAL_NAME: Final = f"{FILE_NAME}-wal"
PAGES_PER_STEP: Final = 500

Progress = Callable[[int, int], None]
"""Gets how much is done, and how much there is in all."""


class NoData(Exception):
    """The directory holds no data of ours."""


class Inspection(NamedTuple):
    """An open directory. `connection`: in one read transaction; `is_in_use`: a server runs on it."""

    connection: sqlite3.Connection
    is_in_use: bool


@contextmanager
def inspected(directory: Path) -> Iterator[Inspection]:
    """The directory, open for reading; no server can start on it meanwhile.

    Raises `NoData`, `UnknownFormat`, `Damage`, or `OSError` where it cannot be read.
    """
    if not (directory / FILE_NAME).is_file():
        raise NoData(f"{directory} holds no data: there is no file {FILE_NAME} in it")
    try:
        with (
            _shared_lock(directory) as is_in_use,
            _file_to_read(directory, is_in_use=is_in_use) as uri,
            closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection,
        ):
            connection.execute("BEGIN")
            check_is_ours(connection)
            yield Inspection(connection, is_in_use)
    except sqlite3.DatabaseError as error:
        raise Damage("the database file", str(error)) from error


@contextmanager
def _shared_lock(directory: Path) -> Iterator[bool]:
    """Whether a server holds the directory; where none does, none can take it inside the context."""
    try:
        handle = os.open(directory / LOCK_NAME, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield False
        return
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            yield True
        else:
            yield False
    finally:
        os.close(handle)


@contextmanager
def _file_to_read(directory: Path, *, is_in_use: bool) -> Iterator[str]:
    uri = (directory / FILE_NAME).absolute().as_uri()
    log = directory / WAL_NAME
    if is_in_use:
        yield f"{uri}?mode=ro"
    elif not log.exists() or not log.stat().st_size:
        yield f"{uri}?mode=ro&immutable=1"
    else:
        with TemporaryDirectory(prefix="tailrace-") as scratch:
            for name in (FILE_NAME, WAL_NAME):
                shutil.copyfile(directory / name, Path(scratch) / name)
            copy = Path(scratch) / FILE_NAME
            _put_log_in_order(copy)
            yield copy.as_uri()


def _put_log_in_order(copy: Path) -> None:
    log = read_log(copy)
    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        require_torn_at_most(log, connection, copy)


def copy_whole(source: sqlite3.Connection, target: Path, progress: Progress) -> None:
    """Copy what `source` sees, as of one instant, into `target`, an empty directory; synced."""
    with closing(sqlite3.connect(target / FILE_NAME, isolation_level=None)) as copied:
        copied.execute("PRAGMA synchronous=FULL")
        source.backup(
            copied,
            pages=PAGES_PER_STEP,
            progress=lambda _, remaining, total: progress(total - remaining, total),
        )
    sync_directory(target)


def check_groups(keyspace: Keyspace) -> None:
    """Raise `Damage` where a group contradicts itself. O(pending entries)."""
    for key, stream in keyspace.streams.items():
        for name, group in stream.groups.items():
            try:
                check_group(group)
            except AssertionError as error:
                raise Damage(f"group {name!r} of stream {key!r}", str(error)) from error
