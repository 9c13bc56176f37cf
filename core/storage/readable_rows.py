"""Reads the rows of a table that may have damaged pages. This module never writes, and never interprets a
row."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from typing import Any

from tailrace.core.storage.damage import UNREADABLE


def readable_rows(
    connection: sqlite3.Connection, column: str, table: str, key: str
) -> tuple[list[tuple[Any, ...]], Exception | None]:
    """Return the rows (key columns, then `column`) of `table`, and the error if some rows cannot be read.

    `key`: the names of the key columns, separated by commas. The function reads the table in key order from
    the first row. After an error, it also reads backward from the last row. So one damaged page loses only
    its own rows. O(rows).
    """
    rows: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    try:
        _gather(connection, rows, column, table, key, "ASC")
    except UNREADABLE as error:
        with suppress(*UNREADABLE):
            _gather(connection, rows, column, table, key, "DESC")
        return list(rows.values()), error
    return list(rows.values()), None


def _gather(
    connection: sqlite3.Connection,
    rows: dict[tuple[Any, ...], tuple[Any, ...]],
    column: str,
    table: str,
    key: str,
    direction: str,
) -> None:
    order = ", ".join(f"{each} {direction}" for each in key.split(", "))
    statement = f"SELECT {key}, {column} FROM {table} ORDER BY {order}"  # noqa: S608 - our own names
    for row in connection.execute(statement):
        rows.setdefault(row[:-1], row)
