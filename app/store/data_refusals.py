"""Explains in one sentence why a data directory cannot be used, and what to do. It owns that wording.

It never reports a full disk, a missing permission or too few file descriptors as damage.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Final

from tailrace.app.reasons import reason
from tailrace.core.limits import KIB, MIB
from tailrace.core.storage.damage import Damage, code_of
from tailrace.core.storage.data_files import FILE_NAME, LostDatabase, Unusable
from tailrace.core.storage.inspection import NoData
from tailrace.core.storage.schema import InUse, UnknownFormat

STORAGE_ERRORS: Final = (Damage, NoData, Unusable, InUse, UnknownFormat, OSError, sqlite3.Error)
"""The exceptions of opening, reading and copying a data directory."""

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_FREE_BYTES_MIN: Final = 256 * KIB
"""SQLite reports some writes to a full disk as I/O errors. Below this much free space, the disk is full."""

_HINTS: Final = {
    errno.EACCES: "give the user of this process the permission to read and write it",
    errno.EPERM: "give the user of this process the permission to read and write it",
    errno.EROFS: "mount it for writing",
    errno.EEXIST: "it may be a symbolic link to a missing directory",
    errno.EMFILE: "allow this process more open files (`ulimit -n`)",
    errno.ENFILE: "the system has reached its limit of open files; raise fs.file-max",
    errno.EIO: "the disk may be failing; read the system log",
    errno.EFBIG: "the limit on file sizes is too low; raise `ulimit -f`",
}


def refusal(directory: Path, error: Exception) -> str:
    """Return why `directory` cannot be used. `error` is one of `STORAGE_ERRORS`."""
    if isinstance(error, LostDatabase):
        return f"{directory} is damaged: {error}; {_way_out(directory, error)}"
    if isinstance(error, Damage):
        return f"{directory} is damaged: {error}"
    if isinstance(error, OSError):
        # Copying names the file that is read first, and then the one that is written.
        name = error.filename2 or error.filename
        return _of_system(directory if name is None else Path(os.fsdecode(name)), directory, error)
    if isinstance(error, sqlite3.Error):
        return _of_sqlite(directory, error)
    return str(error)


def _way_out(directory: Path, error: LostDatabase) -> str:
    if any(path.name.endswith("-wal") and path.stat().st_size for path in error.traces):
        return (
            f"put {error.where} back, restore a backup, or save the content of the log with `tailrace check "
            f"--salvage OUT {directory}`; nothing was changed"
        )
    names = " and ".join(path.name for path in error.traces)
    return (
        f"put {error.where} back, restore a backup, or remove {names} to start without data; nothing was "
        "changed"
    )


def _of_system(path: Path, directory: Path, error: OSError) -> str:
    if error.errno in _FULL:
        return _no_room(path)
    hint = _HINTS.get(error.errno or 0)
    named = f"the data directory {path}" if path == directory else str(path)
    return f"cannot use {named}: {reason(error)}" + (f"; {hint}" if hint else "")


def _of_sqlite(directory: Path, error: sqlite3.Error) -> str:
    code = code_of(error)
    if code == sqlite3.SQLITE_FULL or (
        code == sqlite3.SQLITE_IOERR and _free_bytes(directory) < _FREE_BYTES_MIN
    ):
        return _no_room(directory)
    if code == sqlite3.SQLITE_BUSY:
        return f"another program has locked {directory / FILE_NAME}: end that program, then try again"
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
        refused = _refused_by_system(directory)
        if refused is not None:
            return refused
    if code == sqlite3.SQLITE_CANTOPEN:
        hint = "check its permissions and the limit of open files (`ulimit -n`)"
        return f"cannot use the data directory {directory}: {error}; {hint}"
    name = getattr(error, "sqlite_errorname", None)
    cause = f"{error}" if name is None else f"{error} ({name})"
    return (
        f"cannot use the data directory {directory}: {cause}; the stored data may be "
        "intact: read the system log for errors of the disk"
    )


def _refused_by_system(directory: Path) -> str | None:
    """Return the system's error for opening the database, which SQLite does not report; None if it opens.

    Call it only after SQLite has closed the database: see `core.storage.log_file`.
    """
    database = directory / FILE_NAME
    for path, flags in ((directory, os.O_RDONLY), (database, os.O_RDWR)):
        try:
            os.close(os.open(path, flags))
        except OSError as error:
            return _of_system(path, directory, error)
    if not os.access(directory, os.W_OK):
        return _of_system(directory, directory, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
    return None


def _no_room(path: Path) -> str:
    free_mb = _free_bytes(path) / MIB
    return (
        f"no space is left for {path}: {free_mb:.1f} MiB are free on its disk; no data was "
        "lost. Free some space, then try again"
    )


def _free_bytes(path: Path) -> int:
    existing = next(each for each in (path, *path.absolute().parents) if each.exists())
    return shutil.disk_usage(existing).free
