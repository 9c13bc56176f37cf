"""The files of a data directory: which combinations are valid, checked before SQLite opens any of them.

SQLite considers an empty database new and deletes its log, reads a database without its log as if it were
complete, and writes to the target of a symbolic link. This module refuses each such state with an error that
names the file, and changes nothing in the directory.

    tailrace.db   -wal        -shm
    -             -           -            new
    0 bytes       -           -            new: the first start was interrupted
    - or 0 bytes  any         any          refused: the log belongs to a database that is gone
    cut off       no frames   any          refused
    whole         no frames   names some   refused: the log is gone (known only until the system restarts)
    whole         any         any          judged by the content of the log
"""

from __future__ import annotations

import stat
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from tailrace.core.storage.damage import Damage
from tailrace.core.storage.log_file import (
    PLACE,
    LogFile,
    LogIndex,
    frames_taken,
    index_path,
    log_path,
    read_index,
    read_log,
    require_torn_at_most,
)

FILE_NAME: Final = "tailrace.db"
BOOT_NAME: Final = "boot-id"
"""The file with the boot id of the system at the time when a server last opened the directory."""

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_MAGIC: Final = b"SQLite format 3\0"
_HEADER: Final = struct.Struct(">16sHBB4xII60xI4x")
_LARGEST_PAGE_BYTES: Final = 65_536
_VERSIONS: Final = (1, 2)


class Unusable(Exception):
    """One of our file names is a directory, a link or another special file."""


class LostDatabase(Damage):
    """The database file is missing or empty, but the files `traces` in its folder show that there was one."""

    def __init__(self, database: Path, what: str, traces: Sequence[Path]) -> None:
        super().__init__(database.name, what)
        self.traces = traces


class DataFiles(NamedTuple):
    """The files of a data directory. `log_index`: the content of the log's index, None if unreliable."""

    log: LogFile
    log_index: LogIndex | None

    def require_whole_log(self, database: Path) -> None:
        """Raise `Damage` if data that was written to the log of `database` is missing from it.

        Call it only while no connection to `database` is open in this process.
        """
        wanted = 0
        if self.log_index is not None and self.log_index.frames > self.log_index.backfilled:
            wanted = self.log_index.frames
            self._require_log_of_index(self.log_index)
        if self.log.page_counts:
            with _index_kept(database):
                taken = frames_taken(database)
                require_torn_at_most(self.log, taken)
                if taken < wanted:
                    raise Damage(PLACE, f"only {taken} of the {wanted} frames in its index are intact")

    def _require_log_of_index(self, index: LogIndex) -> None:
        if not self.log.page_counts:
            raise Damage(PLACE, f"missing or empty, but its index lists {index.frames} frames")
        if self.log.salts != index.salts:
            raise Damage(PLACE, "it is not the log that its index describes")


@contextmanager
def _index_kept(database: Path) -> Iterator[None]:
    """Restore the log's index if the log is refused: the index proves the loss, and reading the log rewrites
    it."""
    index = index_path(database)
    found = index.read_bytes() if index.exists() else None
    try:
        yield
    except Damage:
        if found is not None:
            index.write_bytes(found)
        raise


def examine(directory: Path) -> DataFiles:
    """Return the files in `directory`. Raises `Unusable`, `LostDatabase`, `Damage`, or `OSError`.

    Call it only while no connection to the database is open in this process. O(frames of the log).
    """
    database = directory / FILE_NAME
    require_plain_files(database)
    if not _size_of(database):
        _require_no_trace(database)
        return DataFiles(LogFile([]), None)
    log = read_log(database)
    _require_whole_database(database, is_incomplete=bool(log.page_counts) or _has_rollback_journal(database))
    return DataFiles(log, read_index(database) if is_of_this_boot(directory) else None)


def require_plain_files(database: Path) -> None:
    """Raise `Unusable` if one of our file names is a directory, a link or another special file."""
    for path in (database, log_path(database), index_path(database), database.with_name(BOOT_NAME)):
        with suppress(FileNotFoundError):
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                raise Unusable(
                    f"{path} is a symbolic link, and SQLite stores the log next to the target of a link: "
                    "replace the link with the file, or make the whole directory a link"
                )
            if not stat.S_ISREG(mode):
                raise Unusable(f"{path} is not a regular file: move it elsewhere")


def _size_of(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None


def _require_no_trace(database: Path) -> None:
    """Raise `LostDatabase` if a log or an index exists: SQLite creates them after it syncs the first page."""
    found = [path for path in (log_path(database), index_path(database)) if path.exists()]
    if found:
        state = "missing" if _size_of(database) is None else "empty"
        names = " and ".join(path.name for path in found)
        show = "shows" if len(found) == 1 else "show"
        raise LostDatabase(database, f"{state}, but {names} next to it {show} that it had data", found)


def _has_rollback_journal(database: Path) -> bool:
    """Return whether SQLite was interrupted while it created the database or changed its mode."""
    return bool(_size_of(database.with_name(f"{database.name}-journal")))


def _require_whole_database(database: Path, *, is_incomplete: bool) -> None:
    """Raise `Damage` if the file is of another format, or shorter than its header says.

    `is_incomplete`: SQLite completes the file when it opens it. The file may be shorter then: a checkpoint of
    the log writes the first page before the last ones, and a rollback journal restores the size.
    """
    header = read_header(database)
    if header is None:
        return
    if not header.is_known:
        raise Damage(database.name, "its header names an unknown version of the format")
    found, wanted = _size_of(database) or 0, header.size_bytes
    if not is_incomplete and found < wanted:
        raise Damage(database.name, f"it was cut off: it has {found} bytes, and its header says {wanted}")


class Header(NamedTuple):
    """The header of a database file. `size_bytes`: 0 if the header does not contain the size."""

    is_known: bool
    size_bytes: int


def read_header(database: Path) -> Header | None:
    """Return the header of a database file, None if the file does not begin with one."""
    with database.open("rb") as file:
        raw = file.read(_HEADER.size)
    if len(raw) < _HEADER.size or not raw.startswith(_MAGIC):
        return None
    _, page_bytes, write_version, read_version, changes, page_count, valid_for = _HEADER.unpack(raw)
    size_bytes = page_count * (_LARGEST_PAGE_BYTES if page_bytes == 1 else page_bytes)
    is_known = write_version in _VERSIONS and read_version in _VERSIONS
    return Header(is_known, size_bytes if changes == valid_for else 0)


# --- whether the log's index can be relied on --------------------------------------------------------


def is_of_this_boot(directory: Path) -> bool:
    """Return whether a server opened `directory` since the system started. If so, the system lost no write to
    it."""
    boot_id = _read_boot_id()
    try:
        return boot_id is not None and (directory / BOOT_NAME).read_bytes() == boot_id
    except OSError:
        return False


def note_boot(directory: Path) -> None:
    """Record that a server opened `directory` since the system started."""
    boot_id = _read_boot_id()
    if boot_id is not None and not is_of_this_boot(directory):
        (directory / BOOT_NAME).write_bytes(boot_id)


def _read_boot_id() -> bytes | None:
    try:
        return _BOOT_ID.read_bytes()
    except OSError:
        return None
