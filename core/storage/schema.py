"""The SQLite file: its tables, its settings, its version and identity, and the lock of the data directory.

::

    meta          name -> value           format; identity; checkpoint (its journal row and totals); tail
    journal       seq -> effects          the effects since the checkpoint, one row per group commit
    streams       serial -> state         one row per stream, as of the checkpoint
    groups        serial, name -> state   one row per group, with its pending entries
    blocks        serial, first id -> head  the index of sealed blocks: last id, count, holes
    payloads      serial, first id -> body  the content of the blocks, read only when a command needs it

Every value has a checksum of itself and of its key columns (`core.storage.damage`).

The identity is a text that no other directory has. Serials number the streams of one keyspace, and repeat in
another one, so a serial identifies a stream only together with the identity of its keyspace. A directory
keeps its identity. A copy gets another one: it lacks entries that the original acknowledges later. This
module never creates an identity, and never reads a stream's state.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from tailrace.core.storage.damage import Damage, opened, sealed, telling_damage
from tailrace.core.storage.data_files import FILE_NAME, DataFiles, examine

FORMAT_VERSION: Final = 1
PARTS_FORMAT_VERSION: Final = 2
"""The format while parts of a checkpoint overlay the tables, so that releases without parts refuse them. An
orderly stop leaves the other format."""

_TABLES: Final = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE journal (seq INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE streams (serial INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE groups (serial INTEGER, name BLOB, body BLOB NOT NULL, PRIMARY KEY (serial, name)) WITHOUT ROWID;
CREATE TABLE blocks (serial INTEGER, first_id BLOB, head BLOB NOT NULL, PRIMARY KEY (serial, first_id))
    WITHOUT ROWID;
CREATE TABLE payloads (serial INTEGER, first_id BLOB, body BLOB NOT NULL, PRIMARY KEY (serial, first_id));
"""


class InUse(Exception):
    """Another process serves this data directory."""


class UnknownFormat(Exception):
    """The file was written by a newer release, or is not a file of Tailrace."""


class DirectoryLock:
    """A lock that lets one process at a time write to a data directory. It ends with the process.

    The lock is on the directory, because a locked file can be removed, and then a second server would start.
    """

    def __init__(self, directory: Path) -> None:
        with ExitStack() as held:
            handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            held.callback(os.close, handle)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InUse(f"another server uses the data directory {directory}") from None
            self._held = held.pop_all()

    def release(self) -> None:
        """Release the lock, so that another process can use the directory."""
        self._held.close()


def sync_directory(directory: Path) -> None:
    """Sync `directory`, so that the names of its files survive a power cut."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class DatabaseConnections(NamedTuple):
    """Two connections to one database. `reading` reads committed data only, and never writes."""

    writing: sqlite3.Connection
    reading: sqlite3.Connection

    def abandon(self, *, has_log: bool) -> None:
        """Close both connections without changing the files.

        When the last connection of a database closes, and it may write, SQLite copies the log into the
        database and deletes the log. So the order of closing depends on `has_log`.
        """
        for connection in self if has_log else reversed(self):
            connection.close()


@contextmanager
def opening(directory: Path) -> Iterator[DatabaseConnections]:
    """Yield connections to the database in `directory`; a missing database is created. The connections stay
    open after the context.

    If the context fails, the connections are closed, and the database and its log stay unchanged. Raises
    `Unusable`, `UnknownFormat`, `Damage`, or `OSError` and `sqlite3.Error` if the system refuses an
    operation.
    """
    database = directory / FILE_NAME
    with telling_damage("the database file"):
        files: DataFiles = examine(directory)
        files.require_whole_log(database)
        connections = _connected(directory)
        try:
            # A first start that was interrupted leaves files that only a writing connection can complete.
            if _page_count(connections.writing) > 1:
                check_is_ours(connections.reading)
            else:
                _create(connections.writing)
            yield connections
        except BaseException:
            connections.abandon(has_log=bool(files.log.page_counts))
            raise


def _connected(directory: Path) -> DatabaseConnections:
    with ExitStack() as opened_so_far:
        writing = sqlite3.connect(directory / FILE_NAME, isolation_level=None, check_same_thread=False)
        opened_so_far.enter_context(closing(writing))
        connections = DatabaseConnections(writing, connect_for_reading(directory))
        opened_so_far.pop_all()
    return connections


def connect(directory: Path) -> sqlite3.Connection:
    """Return a connection that is ready for writing. Raises as `opening` does."""
    with opening(directory) as connections:
        take_over(connections.writing)
    connections.reading.close()
    return connections.writing


def take_over(writing: sqlite3.Connection) -> None:
    """Sync every commit from now on, and copy the log that was found into the database."""
    _sync_each_commit(writing)
    # After the next crash, the log must not contain frames of an earlier crash: see `log_file`.
    writing.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _sync_each_commit(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")


def _page_count(connection: sqlite3.Connection) -> int:
    """Return the number of pages. A file with data has a page for each table, so a file that lost only its
    schema does not count as new."""
    count: int = connection.execute("PRAGMA page_count").fetchone()[0]
    return count


def check_is_ours(connection: sqlite3.Connection) -> None:
    """Raise `Damage` or `UnknownFormat` if this release cannot read the database of `connection`."""
    _check_schema(connection)
    _check_format(connection)


def connect_for_reading(directory: Path) -> sqlite3.Connection:
    """Return a second connection, which reads committed data only and never writes."""
    uri = (directory / FILE_NAME).absolute().as_uri()
    return sqlite3.connect(f"{uri}?mode=ro", uri=True, isolation_level=None, check_same_thread=False)


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
    _sync_each_commit(connection)
    connection.executescript(f"BEGIN;{_TABLES}")
    put_meta(connection, "format", str(FORMAT_VERSION).encode())
    connection.execute("COMMIT")


def _check_schema(connection: sqlite3.Connection) -> None:
    found = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
    wanted = {statement.strip() for statement in _TABLES.split(";") if statement.strip()}
    if found != wanted:
        raise Damage("the database's schema", "it differs from the schema of a data directory")


def _check_format(connection: sqlite3.Connection) -> None:
    raw = get_meta(connection, "format")
    if raw is None:
        raise Damage("meta", "the format's version is missing")
    supported = FORMAT_VERSION, PARTS_FORMAT_VERSION
    if int(raw) not in supported:
        known = " and ".join(map(str, supported))
        raise UnknownFormat(f"the data directory has format {int(raw)}, and this release supports {known}")


def note_parts(connection: sqlite3.Connection, *, has_parts: bool) -> None:
    """Store the format that says whether parts of a checkpoint overlay the tables."""
    put_meta(connection, "format", b"%d" % (PARTS_FORMAT_VERSION if has_parts else FORMAT_VERSION))


def put_meta(connection: sqlite3.Connection, name: str, value: bytes) -> None:
    """Store `value` under `name`."""
    row = (name, sealed(value, name.encode()))
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", row)


def get_meta(connection: sqlite3.Connection, name: str) -> bytes | None:
    """Return the value stored under `name`. Raises `Damage`."""
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return None if row is None else opened(row[0], f"meta {name}", name.encode())


_NAME: Final = "identity"


def kept_identity(connection: sqlite3.Connection, fresh: str) -> str:
    """Return the identity of the directory. Store `fresh` if it has none: it is new, or of an old release.

    Raises `Damage`.
    """
    stored = get_meta(connection, _NAME)
    if stored is not None:
        return stored.decode()
    put_identity(connection, fresh)
    return fresh


def put_identity(connection: sqlite3.Connection, identity: str) -> None:
    """Store the identity in place of another one."""
    put_meta(connection, _NAME, identity.encode())
