"""Whether SQLite's write-ahead log breaks off where a crash may break it off, and not before.

SQLite takes the commits up to the first frame that is not whole, and passes over the rest: that is right
for what a power cut tore, and hides what was damaged later. The two can be told apart. A commit is
synced before the next one begins, so behind the break there can be at most one commit::

    header | frame frame* | frame frame frame* | FRAME frame* | frame frame*        * ends a commit
                                                 ^ broken       ^ was begun, so the one before was synced

The log is emptied at every start, so that nothing of an earlier crash lies behind the break. A break in
the last commit of all stays what it looks like: a torn write. So does one in the few bytes that tell that
the last frame of the commit before it belongs to the log.
"""

from __future__ import annotations

import sqlite3
import struct
from pathlib import Path
from typing import Final, NamedTuple

from core.storage.damage import Damage

_HEADER: Final = struct.Struct(">8I")
_FRAME: Final = struct.Struct(">4I")
_FRAME_HEADER_BYTES: Final = 24
_BIG_ENDIAN_BIT: Final = 1
_U32: Final = 0xFFFF_FFFF

_INDEX_MX_FRAME: Final = struct.Struct("=16xI")
"""In the log's index (the file -shm): how many frames SQLite takes."""

_PLACE: Final = "the write-ahead log"


class LogFile(NamedTuple):
    """`ends_commit`: of each frame that belongs to the log, whether a commit ends with it."""

    ends_commit: list[bool]


def read_log(database: Path) -> LogFile:
    """The frames of the log beside `database`; raises `Damage`. Reads a few bytes a page."""
    log = database.with_name(f"{database.name}-wal")
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
            raise Damage(_PLACE, "the checksum of its header does not match")
        ends = []
        step = _FRAME_HEADER_BYTES + page_bytes
        for start in range(_HEADER.size, log.stat().st_size - step + 1, step):
            file.seek(start)
            _, pages_after_commit, *salts = _FRAME.unpack(file.read(_FRAME.size))
            ends.append(pages_after_commit > 0 and salts == salts_and_checksum[:2])
    return LogFile(ends)


def _checksum(header: bytes, *, is_big_endian: bool) -> tuple[int, int]:
    """As SQLite defines it, over pairs of words."""
    words = struct.unpack(">6I" if is_big_endian else "<6I", header)
    first = second = 0
    for low, high in zip(words[::2], words[1::2], strict=True):
        first = (first + low + second) & _U32
        second = (second + high + first) & _U32
    return first, second


def require_torn_at_most(log: LogFile, connection: sqlite3.Connection, database: Path) -> None:
    """Raise `Damage` where `connection`, which has read, passed over more than one commit of the log."""
    if not log.ends_commit:
        return
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    index = database.with_name(f"{database.name}-shm")
    if not index.exists():
        raise Damage("the database file", "it does not go with the write-ahead log beside it")
    (taken,) = _INDEX_MX_FRAME.unpack_from(index.read_bytes())
    if sum(log.ends_commit[taken:]) > 1:
        raise Damage(_PLACE, f"a frame of the commit behind frame {taken} is not as written")
