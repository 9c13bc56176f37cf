"""Writes rows of a checkpoint into their tables, many per statement and in the order of the tables.

This module never begins or commits a transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import chain
from typing import Final

from tailrace.core.storage.prepared import Part

ROWS_PER_STATEMENT: Final = 100
"""SQLite allows 32 766 values in a statement; more rows than this gain little."""


def put_rows(connection: sqlite3.Connection, table: str, rows: Sequence[tuple[int | bytes, ...]]) -> None:
    """Insert or replace rows, many per statement: after each statement the thread has to wait for the
    interpreter lock, which the event loop also needs."""
    for start in range(0, len(rows), ROWS_PER_STATEMENT):
        some = rows[start : start + ROWS_PER_STATEMENT]
        row_places = f"({', '.join('?' * len(some[0]))})"
        places = ", ".join([row_places] * len(some))
        statement = f"INSERT OR REPLACE INTO {table} VALUES {places}"  # noqa: S608 - our own names
        connection.execute(statement, list(chain.from_iterable(some)))


def grouped_serials(connection: sqlite3.Connection) -> set[int]:
    """Return the serials of all stored streams that have groups.

    A seek in `groups` may compare its key with a row of many pending entries, and SQLite then reads all of
    that row: several milliseconds. So streams without groups must not seek there.
    """
    return {serial for (serial,) in connection.execute("SELECT serial FROM groups")}


def merge(connection: sqlite3.Connection, part: Part, grouped: set[int]) -> None:
    """Write `part` into the tables. `grouped`: as `grouped_serials` returned before the first part."""
    put_rows(connection, "streams", part.streams)
    had_groups = [(serial,) for serial, _ in part.streams if serial in grouped]
    connection.executemany("DELETE FROM groups WHERE serial = ?", had_groups)
    put_rows(connection, "groups", part.groups)
    for table in ("blocks", "payloads"):
        statement = f"DELETE FROM {table} WHERE serial = ? AND first_id = ?"  # noqa: S608 - our own names
        connection.executemany(statement, part.removed)
    put_rows(connection, "blocks", part.heads)
    for table in ("streams", "groups", "blocks", "payloads"):
        places = [(serial,) for serial in part.gone if table != "groups" or serial in grouped]
        connection.executemany(f"DELETE FROM {table} WHERE serial = ?", places)  # noqa: S608 - our own names
