"""The checkpoint: the state as of one journal row, written in the background while the journal grows.

1. `take` (the writer of the keyspace calls it, O(changed streams + pending units)): the state of every stream
   that changed, as bytes, and references to the sealed blocks that are not stored yet. A caller that must not
   pause for long seals blocks earlier (`core.log.sealing`), gathers the references in steps
   (`core.storage.draft`), and lets another process encode the states (`core.storage.encoding`).
2. `write_blocks` (in any thread, in small transactions): adds payloads. Recovery ignores a payload without a
   row in `blocks`, and the next attempt overwrites it.
3. `publish` (one transaction): writes changed states and heads, deletes the rows of removed blocks and
   streams, deletes the journal rows that the checkpoint covers, and sets the checkpoint's row number. After a
   crash before the commit, recovery finds the old checkpoint and the whole journal; after a later crash, it
   finds the new checkpoint.
4. `release` (the writer calls it): drops stored payloads from memory.
5. `give_back` (in small transactions): shrinks the file after trimming and deleting.

This module never decides when a checkpoint is due.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from operator import attrgetter
from typing import Final

from tailrace.core.keyspace import Keyspace
from tailrace.core.storage.damage import sealed
from tailrace.core.storage.draft import BlockRow, Draft, Snapshot
from tailrace.core.storage.encoding import StreamRows, stream_rows
from tailrace.core.storage.journal import seq_bytes
from tailrace.core.storage.payloads import body_of_copy, payload_context, source_of
from tailrace.core.storage.schema import put_meta

_serial_of: Final = attrgetter("serial")

BLOCKS_PER_TRANSACTION: Final = 500
"""About 1 MiB: a commit of the journal waits at most a few milliseconds for such a transaction."""

ROWS_PER_STATEMENT: Final = 100
"""SQLite allows 32 766 values in a statement; more rows than this gain little."""

FREE_PAGES_KEPT: Final = 16_384
"""Free pages of 4 KiB that stay in the file, for the next 64 MiB of journal."""

FREED_PAGES_PER_TRANSACTION: Final = 500
"""Freeing a page moves another page. This number of pages takes about 20 ms, and a commit may have to wait
for them."""


def take(keyspace: Keyspace, seq: int, changed_keys: Iterable[bytes]) -> Snapshot:
    """Return the state as of journal row `seq`. Marks its blocks as stored. O(changed streams + pending
    units)."""
    draft = Draft()
    for key in changed_keys:
        draft.add(keyspace, key)
    return draft.snapshot(keyspace, seq, list(stream_rows(keyspace, draft.keys)))


def write_blocks(connection: sqlite3.Connection, rows: Sequence[BlockRow]) -> None:
    """Store the payloads of some blocks (a portion that `chunks` yields) in one transaction. O(bytes)."""
    connection.execute("BEGIN IMMEDIATE")
    bodies = [(row, _body(connection, row)) for row in rows]
    _put(
        connection, "payloads", [(row.serial, row.first_id, body) for row, body in bodies if body is not None]
    )
    connection.execute("COMMIT")


def _body(connection: sqlite3.Connection, row: BlockRow) -> bytes | None:
    """Return the body of the block's row in `payloads`, None if there is nothing to write."""
    if row.payload is not None:
        return sealed(row.payload, *payload_context(row.serial, row.first_id))
    if not row.elsewhere:
        return None
    return body_of_copy(connection, row.serial, row.first_id, row.elsewhere)


def _put(connection: sqlite3.Connection, table: str, rows: Sequence[tuple[int | bytes, ...]]) -> None:
    """Insert or replace rows, many per statement: after each statement the thread has to wait for the
    interpreter lock, which the event loop also needs."""
    for start in range(0, len(rows), ROWS_PER_STATEMENT):
        some = rows[start : start + ROWS_PER_STATEMENT]
        row_places = f"({', '.join('?' * len(some[0]))})"
        places = ", ".join([row_places] * len(some))
        statement = f"INSERT OR REPLACE INTO {table} VALUES {places}"  # noqa: S608 - our own names
        connection.execute(statement, list(chain.from_iterable(some)))


def chunks(rows: Sequence[BlockRow]) -> Iterable[Sequence[BlockRow]]:
    """Divide the blocks into portions for `write_blocks`."""
    remaining = iter(rows)
    while portion := list(islice(remaining, BLOCKS_PER_TRANSACTION)):
        yield portion


def publish(connection: sqlite3.Connection, snapshot: Snapshot) -> None:
    """Make the snapshot the checkpoint, in one transaction. Raises `sqlite3.Error`; then the old checkpoint
    remains in effect."""
    connection.execute("BEGIN IMMEDIATE")
    # A seek in `groups` may compare its key with a row of many pending entries, and SQLite then reads all of
    # that row: several milliseconds. So streams without groups must not seek there.
    grouped = {serial for (serial,) in connection.execute("SELECT serial FROM groups")}
    _delete_streams(connection, snapshot.serials, grouped)
    _put_streams(connection, snapshot.streams, grouped)
    _delete_blocks(connection, snapshot.removed)
    heads = [
        (row.serial, row.first_id, sealed(row.head, *payload_context(row.serial, row.first_id)))
        for row in snapshot.blocks
    ]
    _put(connection, "blocks", heads)
    connection.execute("DELETE FROM journal WHERE seq <= ?", (snapshot.seq,))
    put_meta(connection, "checkpoint", snapshot.totals)
    connection.execute("COMMIT")


def give_back(connection: sqlite3.Connection) -> bool:
    """Give some of the free pages above `FREE_PAGES_KEPT` back to the file system. Return whether more
    remain."""
    free: int = connection.execute("PRAGMA freelist_count").fetchone()[0]
    surplus = free - FREE_PAGES_KEPT
    if surplus > 0:
        # The pragma frees one page per step. `executescript` runs all steps, `execute` only the first one.
        connection.executescript(f"PRAGMA incremental_vacuum({min(surplus, FREED_PAGES_PER_TRANSACTION)})")
    return surplus > FREED_PAGES_PER_TRANSACTION


def _delete_streams(connection: sqlite3.Connection, serials: frozenset[int], grouped: set[int]) -> None:
    stored = {serial for (serial,) in connection.execute("SELECT serial FROM streams")}
    gone = stored - serials
    for table in ("streams", "groups", "blocks", "payloads"):
        places = [(serial,) for serial in (gone & grouped if table == "groups" else gone)]
        connection.executemany(f"DELETE FROM {table} WHERE serial = ?", places)  # noqa: S608 - our own names


def _put_streams(connection: sqlite3.Connection, streams: Iterable[StreamRows], grouped: set[int]) -> None:
    """Replace the states of `streams`, and of the groups of each of them.

    In the order of the tables: neighbours share a page, which is then written once.
    """
    ordered = iter(sorted(streams, key=_serial_of))
    while some := list(islice(ordered, ROWS_PER_STATEMENT)):
        _put(connection, "streams", [(row.serial, sealed(row.state, seq_bytes(row.serial))) for row in some])
        had_groups = [(row.serial,) for row in some if row.serial in grouped]
        connection.executemany("DELETE FROM groups WHERE serial = ?", had_groups)
        _put(connection, "groups", [each for row in some for each in _group_rows(row)])


def _group_rows(row: StreamRows) -> Iterator[tuple[int, bytes, bytes]]:
    for name, body in sorted(row.groups.items()):
        yield row.serial, name, sealed(body, *payload_context(row.serial, name))


def _delete_blocks(connection: sqlite3.Connection, places: Collection[tuple[int, bytes]]) -> None:
    for table in ("blocks", "payloads"):
        statement = f"DELETE FROM {table} WHERE serial = ? AND first_id = ?"  # noqa: S608 - our own names
        connection.executemany(statement, places)


def release(connection: sqlite3.Connection, snapshot: Snapshot) -> None:
    """Drop the payloads of stored blocks from memory and read them from `connection` from now on."""
    source = source_of(connection)
    filed_under: dict[int, tuple[int, ...]] = {}
    for row in snapshot.blocks:
        if not row.block.changed:
            row.block.release(source, filed_under.setdefault(row.serial, (row.serial,)))
