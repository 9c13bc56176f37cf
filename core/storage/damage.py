"""Checksums around every stored value, and the error that names a value that is not what was stored.

It owns the difference between damage, which asks for a backup, and a system that refuses to read or write.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from zlib import crc32

CHECKSUM_BYTES: Final = 4
"""How many of them stand before a body."""


class Damage(Exception):
    """The data directory holds something that was not written so; the text says where and what."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where}: {what}")
        self.where = where
        self.what = what


_CODE_MASK: Final = 0xFF
"""SQLite's extended codes have the primary one in their lowest byte."""

_NOT_DAMAGE: Final = frozenset(
    {
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
    }
)
"""The system refuses something; what is stored may be intact."""


def code_of(error: sqlite3.Error) -> int:
    """SQLite's primary result code, 0 where Python raised the error by itself."""
    return getattr(error, "sqlite_errorcode", 0) & _CODE_MASK


@contextmanager
def telling_damage(where: str) -> Iterator[None]:
    """Raise `Damage` for what SQLite finds malformed; what the system refuses stays a `sqlite3.Error`."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if code_of(error) in _NOT_DAMAGE:
            raise
        raise Damage(where, str(error)) from error


def sealed(body: bytes, *context: bytes) -> bytes:
    """`body` with a checksum over it and over `context`: the columns under which it is filed."""
    return _checksum(body, context) + body


def opened(raw: object, where: str, *context: bytes) -> bytes:
    """The body that `sealed` made; raises `Damage` naming `where`."""
    if not isinstance(raw, bytes) or len(raw) < CHECKSUM_BYTES:
        raise Damage(where, "not a value of the right kind")
    body = raw[CHECKSUM_BYTES:]
    if raw[:CHECKSUM_BYTES] != _checksum(body, context):
        raise Damage(where, "the checksum does not match")
    return body


def _checksum(body: bytes, context: tuple[bytes, ...]) -> bytes:
    value = crc32(body)
    for part in context:
        value = crc32(part, value)
    return value.to_bytes(CHECKSUM_BYTES, "big")
