"""SQLite's write-ahead log: whether its first broken frame can come from a crash, or is damage.

SQLite uses the commits before the first broken frame and ignores the rest. After a power cut, this is right.
If the frame was damaged later, SQLite silently drops commits. This module distinguishes the two: each commit
is synced before the next one begins, so a power cut leaves at most one commit after the broken frame::

    header | frame frame* | frame frame frame* | FRAME frame* | frame frame*        * ends a commit
                                                 ^ broken       ^ had begun, so the commit before was synced

Every start empties the log, so no frame of an earlier crash follows the broken one. A broken frame in the
last commit always counts as a torn write. So does a break in the bytes that link the last frame of the commit
before it to the log.

The log's index (the file -shm) contains how far SQLite reads the log. Only the first check of the log reads
the index, while this process has no connection to the database: a process that closes any descriptor of a
file loses all its locks on the file, and then the next process would consider the database unused. This
module changes no file.
"""

from __future__ import annotations

import sqlite3
import struct
import sys
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from tailrace.core.storage.damage import Damage

_HEADER: Final = struct.Struct(">8I")
_FRAME: Final = struct.Struct(">4I")
_FRAME_HEADER_BYTES: Final = 24
_BIG_ENDIAN_BIT: Final = 1
_U32: Final = 0xFFFF_FFFF

_INDEX_HEADER_BYTES: Final = 48
_INDEX_FRAMES: Final = struct.Struct("=16xI")
_INDEX_SALTS: Final = struct.Struct(">32x2I")
_INDEX_CHECKSUM: Final = struct.Struct("=40x2I")
_BACKFILLED: Final = struct.Struct("=I")

PLACE: Final = "the write-ahead log"


class LogFile(NamedTuple):
    """The frames of a log. `page_counts`: for each frame, the number of pages in the database after the
    commit that ends with the frame; 0 if no commit ends with it, or if it belongs to an earlier log. `salts`:
    the two numbers that distinguish this log from an earlier one."""

    page_counts: list[int]
    salts: tuple[int, ...] = ()

    @property
    def ends_commit(self) -> list[bool]:
        """For each frame, whether a commit of this log ends with it."""
        return [count > 0 for count in self.page_counts]


class LogIndex(NamedTuple):
    """The content of the log's index. `frames`: how many frames of the log SQLite reads; `backfilled`: how
    many of them SQLite has already copied to the database."""

    frames: int
    backfilled: int
    salts: tuple[int, ...]


def log_path(database: Path) -> Path:
    """Return the path of the log of `database`."""
    return database.with_name(f"{database.name}-wal")


def index_path(database: Path) -> Path:
    """Return the path of the index of the log of `database`."""
    return database.with_name(f"{database.name}-shm")


def read_log(database: Path) -> LogFile:
    """Return the frames of the log of `database`. Raises `Damage`. O(frames): reads a few bytes of each."""
    log = log_path(database)
    if not log.exists():
        return LogFile([])
    with log.open("rb") as file:
        header = file.read(_HEADER.size)
        if not any(header) or len(header) < _HEADER.size:
            return LogFile([])
        magic, _, page_bytes, _, *salts_and_checksum = _HEADER.unpack(header)
        if tuple(salts_and_checksum[2:]) != _checksum(
            header[:24], is_big_endian=bool(magic & _BIG_ENDIAN_BIT)
        ):
            raise Damage(PLACE, "the checksum of its header does not match")
        counts = []
        step = _FRAME_HEADER_BYTES + page_bytes
        for start in range(_HEADER.size, log.stat().st_size - step + 1, step):
            file.seek(start)
            _, pages_after_commit, *salts = _FRAME.unpack(file.read(_FRAME.size))
            counts.append(pages_after_commit if salts == salts_and_checksum[:2] else 0)
    return LogFile(counts, tuple(salts_and_checksum[:2]))


def _checksum(header: bytes, *, is_big_endian: bool) -> tuple[int, ...]:
    """Return SQLite's checksum of `header`, computed over pairs of words."""
    words = struct.unpack(f"{'>' if is_big_endian else '<'}{len(header) // 4}I", header)
    first = second = 0
    for low, high in zip(words[::2], words[1::2], strict=True):
        first = (first + low + second) & _U32
        second = (second + high + first) & _U32
    return first, second


def read_index(database: Path) -> LogIndex | None:
    """Return the content of the log's index, None if the index is missing or incomplete.

    Call it only while no connection to `database` is open in this process.
    """
    index = index_path(database)
    if not index.exists():
        return None
    with index.open("rb") as file:
        header, copy = file.read(_INDEX_HEADER_BYTES), file.read(_INDEX_HEADER_BYTES)
        raw_backfilled = file.read(_BACKFILLED.size)
    if header != copy or len(raw_backfilled) < _BACKFILLED.size:
        return None
    if _INDEX_CHECKSUM.unpack(header) != _checksum(header[:40], is_big_endian=sys.byteorder == "big"):
        return None
    (frames,) = _INDEX_FRAMES.unpack_from(header)
    (backfilled,) = _BACKFILLED.unpack(raw_backfilled)
    return LogIndex(frames, backfilled, _INDEX_SALTS.unpack_from(header))


def frames_taken(database: Path) -> int:
    """Return how many frames of the log SQLite reads. Changes no byte of the database and its log.

    Call it only while no connection to `database` is open in this process. It opens a read-only connection,
    which leaves the log and its index in place when it closes.
    """
    with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    index = read_index(database)
    return 0 if index is None else index.frames


def require_torn_at_most(log: LogFile, taken: int) -> None:
    """Raise `Damage` if SQLite reads `taken` frames of the log and ignores more than one commit."""
    if sum(log.ends_commit[taken:]) > 1:
        raise Damage(PLACE, f"the commit after frame {taken} has a damaged frame")
