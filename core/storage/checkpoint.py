"""The checkpoint: the state as of one journal row, written in the background while the journal grows.

1. `take` (the writer of the keyspace calls it, O(changed streams + pending units)): the state of every stream
   that changed, as bytes, and references to the sealed blocks that are not stored yet. A caller that must not
   pause for long seals blocks earlier (`core.log.sealing`), gathers the references in steps
   (`core.storage.draft`), and lets another process encode the states (`core.storage.draft`).
2. `write_blocks` (in any thread, in small transactions): adds payloads. Recovery ignores a payload without a
   row in `blocks`, and the next attempt overwrites it.
3. `publish` (in short transactions, see `core.storage.publishing`): writes changed states and heads, deletes
   the rows of removed blocks and streams, and sets the checkpoint's row number. After a crash before one of
   the commits, recovery finds the old checkpoint and the whole journal; after a later crash, it finds the new
   checkpoint. Then it deletes the journal rows that the checkpoint covers.
4. `release` (the writer calls it): drops stored payloads from memory.
5. `give_back` (in small transactions): shrinks the file after trimming and deleting.

This module never decides when a checkpoint is due.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from tailrace.core.keyspace import Keyspace
from tailrace.core.storage.damage import sealed
from tailrace.core.storage.draft import BlockRow, Draft, Snapshot, stream_rows
from tailrace.core.storage.payloads import body_of_copy, payload_context, source_of
from tailrace.core.storage.publishing import publishing, put_rows

BLOCKS_PER_TRANSACTION: Final = 500
"""About 1 MiB: a commit of the journal waits at most a few milliseconds for such a transaction."""

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
    rows_to_put = [(row.serial, row.first_id, body) for row, body in bodies if body is not None]
    put_rows(connection, "payloads", rows_to_put)
    connection.execute("COMMIT")


def _body(connection: sqlite3.Connection, row: BlockRow) -> bytes | None:
    """Return the body of the block's row in `payloads`, None if there is nothing to write."""
    if row.payload is not None:
        return sealed(row.payload, *payload_context(row.serial, row.first_id))
    if not row.elsewhere:
        return None
    return body_of_copy(connection, row.serial, row.first_id, row.elsewhere)


def chunks(rows: Sequence[BlockRow]) -> Iterable[Sequence[BlockRow]]:
    """Divide the blocks into portions for `write_blocks`."""
    remaining = iter(rows)
    while portion := list(islice(remaining, BLOCKS_PER_TRANSACTION)):
        yield portion


def publish(connection: sqlite3.Connection, snapshot: Snapshot) -> None:
    """Make the snapshot the checkpoint: all steps of `publishing`, for a caller that nothing waits for."""
    for _ in publishing(connection, snapshot):
        pass


def give_back(connection: sqlite3.Connection) -> bool:
    """Give some of the free pages above `FREE_PAGES_KEPT` back to the file system. Return whether more
    remain."""
    free: int = connection.execute("PRAGMA freelist_count").fetchone()[0]
    surplus = free - FREE_PAGES_KEPT
    if surplus > 0:
        # The pragma frees one page per step. `executescript` runs all steps, `execute` only the first one.
        connection.executescript(f"PRAGMA incremental_vacuum({min(surplus, FREED_PAGES_PER_TRANSACTION)})")
    return surplus > FREED_PAGES_PER_TRANSACTION


def release(connection: sqlite3.Connection, snapshot: Snapshot) -> None:
    """Drop the payloads of stored blocks from memory and read them from `connection` from now on."""
    source = source_of(connection)
    filed_under: dict[int, tuple[int, ...]] = {}
    for row in snapshot.blocks:
        if not row.block.changed:
            row.block.release(source, filed_under.setdefault(row.serial, (row.serial,)))
