"""Reads a data directory without changing a byte of it, and copies it completely.

If a server uses the directory, the server continues to run, and this module reads the state of one instant in
an SQLite read transaction. If no server uses the directory, this module reads the files directly. After a
crash, SQLite has to recover the log before it can read; this module then recovers a copy in the system's
temporary directory.
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

from tailrace.core.keyspace import Keyspace
from tailrace.core.pending_invariants import check_group
from tailrace.core.storage.damage import Damage, telling_damage
from tailrace.core.storage.data_files import (
    FILE_NAME,
    LostDatabase,
    examine,
    read_header,
    require_plain_files,
)
from tailrace.core.storage.log_file import frames_taken, index_path, log_path, read_log
from tailrace.core.storage.schema import check_is_ours, connect, put_identity, sync_directory

PAGES_PER_STEP: Final = 500
_HEADER_PAGE_COUNT_AT: Final = 28

Progress = Callable[[int, int], None]
"""A callback that reports progress: (pages copied, pages in total)."""


class NoData(Exception):
    """The directory contains no data of Tailrace."""


class Inspection(NamedTuple):
    """An open data directory. `connection` is in one read transaction. `is_in_use`: a server uses the
    directory.

    `damage`: the damage that was found before any row was read; only `salvageable` yields an inspection with
    damage. `is_log_alone`: the database file is lost; all rows come from its log.
    """

    connection: sqlite3.Connection
    is_in_use: bool
    damage: Damage | None = None
    is_log_alone: bool = False


@contextmanager
def inspected(directory: Path) -> Iterator[Inspection]:
    """Open the directory for reading. No server can start on it inside the context.

    Raises `NoData`, `Unusable`, `UnknownFormat`, `Damage`, or `OSError` and `sqlite3.Error` if the system
    refuses to read it.
    """
    database = directory / FILE_NAME
    with _locked(directory) as is_in_use, telling_damage("the database file"):
        if is_in_use:
            _require_database_in_use(database)
            with _opened(f"{_uri(database)}?mode=ro") as connection:
                yield Inspection(connection, is_in_use=True)
            return
        files = examine(directory)
        if not _size(log_path(database)):
            files.require_whole_log(database)
            with _opened(f"{_uri(database)}?mode=ro&immutable=1") as connection:
                yield Inspection(connection, is_in_use=False)
            return
        with _copied(directory) as copy:
            files.require_whole_log(copy)
            with _opened(_uri(copy)) as connection:
                yield Inspection(connection, is_in_use=False)


@contextmanager
def salvageable(directory: Path) -> Iterator[Inspection]:
    """Open the directory as `inspected` does. If the files are damaged, open a copy of their readable data.

    Raises `LostDatabase` if there is no database and its log has no data.
    """
    with _locked(directory) as is_in_use:
        damage = None if is_in_use else _damage_of(directory)
        if damage is None:
            with inspected(directory) as inspection:
                yield inspection
            return
        is_log_alone = isinstance(damage, LostDatabase)
        if is_log_alone and not _frames_of(directory):
            raise damage
        with telling_damage("the database file"), _copied(directory, is_log_alone=is_log_alone) as copy:
            header = read_header(copy)
            if header is not None and header.size_bytes > _size(copy):
                os.truncate(copy, header.size_bytes)
            with _opened(_uri(copy)) as connection:
                yield Inspection(connection, is_in_use=False, damage=damage, is_log_alone=is_log_alone)


def _damage_of(directory: Path) -> Damage | None:
    """Return the damage of the files themselves, None if only rows can be damaged."""
    try:
        with inspected(directory):
            return None
    except Damage as damage:
        return damage


def _frames_of(directory: Path) -> list[int]:
    try:
        return read_log(directory / FILE_NAME).page_counts
    except Damage:
        return []


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _uri(path: Path) -> str:
    return path.absolute().as_uri()


@contextmanager
def _opened(uri: str) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)) as connection:
        connection.execute("BEGIN")
        check_is_ours(connection)
        yield connection


@contextmanager
def _locked(directory: Path) -> Iterator[bool]:
    """Yield whether a server uses the directory. If none does, none can start inside the context.

    Raises `NoData` if the directory contains no data of Tailrace, and `Unusable`.
    """
    database = directory / FILE_NAME
    require_plain_files(database)
    if not (_size(database) or log_path(database).exists() or index_path(database).exists()):
        what = (
            f"the file {FILE_NAME} in it is empty"
            if database.exists()
            else f"there is no file {FILE_NAME} in it"
        )
        raise NoData(f"{directory} holds no data: {what}")
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            yield True
        else:
            yield False
    finally:
        os.close(handle)


def _require_database_in_use(database: Path) -> None:
    if not _size(database):
        what = "missing or empty, and a server still uses it: export its streams before you stop that server"
        raise LostDatabase(database, what, ())


@contextmanager
def _copied(directory: Path, *, is_log_alone: bool = False) -> Iterator[Path]:
    """Yield a copy of the database and its log in the system's temporary directory.

    `is_log_alone`: an empty database replaces the lost one, and the pages of the log overlay it.
    """
    with TemporaryDirectory(prefix="tailrace-") as scratch:
        copy, database = Path(scratch) / FILE_NAME, directory / FILE_NAME
        if is_log_alone:
            connect(copy.parent).close()
        else:
            shutil.copyfile(database, copy)
        if log_path(database).exists():
            shutil.copyfile(log_path(database), log_path(copy))
        if is_log_alone:
            _fit_to_log(copy)
        yield copy


def _fit_to_log(database: Path) -> None:
    """Write the log's number of pages into the header of `database`: the log may lack the header's page."""
    taken = frames_taken(database)
    if taken:
        with database.open("r+b") as file:
            file.seek(_HEADER_PAGE_COUNT_AT)
            file.write(read_log(database).page_counts[taken - 1].to_bytes(4, "big"))


def copy_whole(source: sqlite3.Connection, target: Path, identity: str, progress: Progress) -> None:
    """Copy the data of `source`, as of one instant, into the empty directory `target`, and sync it.

    `identity`: the identity of the copy.
    """
    with closing(sqlite3.connect(target / FILE_NAME, isolation_level=None)) as copied:
        copied.execute("PRAGMA synchronous=FULL")
        source.backup(
            copied,
            pages=PAGES_PER_STEP,
            progress=lambda _, remaining, total: progress(total - remaining, total),
        )
        put_identity(copied, identity)
    sync_directory(target)


def check_groups(keyspace: Keyspace) -> None:
    """Raise `Damage` if a group is inconsistent. O(pending entries)."""
    for key, stream in keyspace.streams.items():
        for name, group in stream.groups.items():
            try:
                check_group(group)
            except AssertionError as error:
                raise Damage(f"group {name!r} of stream {key!r}", str(error)) from error
