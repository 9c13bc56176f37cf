"""Checksums of stored values, and the error for a value that differs from what was stored.

This module distinguishes damage, which needs a backup, from a system that refuses to read or write. It
repairs nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from zlib import crc32

CHECKSUM_BYTES: Final = 4
"""The bytes of the checksum before each body."""


class Damage(Exception):
    """A value in the data directory differs from the value that was written. The message names the place and
    the error."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where}: {what}")
        # The damaged row or file.
        self.where = where
        # What is wrong with it.
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
"""The system refused an operation; the stored data may be intact."""


UNREADABLE: Final = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What a statement on malformed data raises. Python raises the second one where SQLite's message quotes text
of a damaged schema."""


def code_of(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code, 0 if Python raised the error itself."""
    return getattr(error, "sqlite_errorcode", 0) & _CODE_MASK


@contextmanager
def telling_damage(where: str) -> Iterator[None]:
    """Raise `Damage` if SQLite finds malformed data. If the system refused an operation, raise its
    `sqlite3.Error` unchanged."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if code_of(error) in _NOT_DAMAGE:
            raise
        raise Damage(where, str(error)) from error
    except UnicodeDecodeError as error:
        raise Damage(where, "the schema has text that is not UTF-8") from error


def sealed(body: bytes, *context: bytes) -> bytes:
    """Return a checksum of `body` and of `context` (the key columns of the row), followed by `body`.
    O(bytes)."""
    return _checksum(body, context) + body


def opened(raw: object, where: str, *context: bytes) -> bytes:
    """Return the body of `raw`, which `sealed` returned earlier. Raises `Damage` with `where` if the checksum
    differs. O(bytes)."""
    if not isinstance(raw, bytes) or len(raw) < CHECKSUM_BYTES:
        raise Damage(where, "the value has a wrong type or length")
    body = raw[CHECKSUM_BYTES:]
    if raw[:CHECKSUM_BYTES] != _checksum(body, context):
        raise Damage(where, "the checksum does not match")
    return body


def _checksum(body: bytes, context: tuple[bytes, ...]) -> bytes:
    value = crc32(body)
    for part in context:
        value = crc32(part, value)
    return value.to_bytes(CHECKSUM_BYTES, "big")
