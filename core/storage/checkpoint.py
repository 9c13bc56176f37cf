"""The checkpoint: the state as of one journal row, written beside the journal in the background.

1. `take` (by the writer of the keyspace, O(changed streams + pending units)): the state of every stream
   that changed, as bytes, and the sealed blocks that are not stored yet, by reference. Full blocks that
   wait are sealed here, so a caller who must be quick seals them before (`core.log.sealing`).
2. `write_blocks` (anywhere, in small transactions): blocks are only added, under streams' serials, and
   a block that no state counts is ignored by recovery and overwritten by the next attempt.
3. `publish` (one transaction): states, changed heads and deletions take the place of the old ones, the
   journal rows that they cover go, and the checkpoint's row number moves. Until then a crash finds the
   old checkpoint and the whole journal; from then on the new one.
4. `release` (by the writer): stored payloads may leave memory.
5. `give_back` (in small transactions): the file shrinks by what was trimmed and deleted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain, islice
from typing import Final, NamedTuple

from tailrace.core.keyspace import Keyspace
from tailrace.core.log.block import Block
from tailrace.core.log.stored_block import Source, StoredBlock
from tailrace.core.storage.damage import Damage, opened, sealed
from tailrace.core.storage.ids import id_bytes
from tailrace.core.storage.journal import seq_bytes
from tailrace.core.storage.schema import put_meta
from tailrace.core.storage.state import encode_group, encode_head, encode_stream, encode_totals
from tailrace.core.stream import Stream

BLOCKS_PER_TRANSACTION: Final = 500
"""About 1 MiB: a commit that waits behind one waits a few milliseconds."""

ROWS_PER_STATEMENT: Final = 100
"""SQLite takes 32 766 values in one, and gains little by more than this."""

FREE_PAGES_KEPT: Final = 16_384
"""Free pages of 4 KiB that stay in the file: the next 64 MiB of journal go there."""

FREED_PAGES_PER_TRANSACTION: Final = 500
"""Freeing a page moves another: about 20 ms in all, which a commit may have to wait for."""


class BlockRow(NamedTuple):
    """A sealed block to be stored. `payload` is None where only the head changed, and where the block is of
    a copy: then the payload is filed `elsewhere`, under the first of these serials that has it."""

    serial: int
    first_id: bytes
    head: bytes
    payload: bytes | None
    block: Block
    elsewhere: tuple[int, ...] = ()


class StreamRows(NamedTuple):
    """One changed stream: its state, its groups' states by name, and first ids of blocks that went."""

    serial: int
    state: bytes
    groups: dict[bytes, bytes]
    removed: list[bytes]


class Snapshot(NamedTuple):
    """Everything that one checkpoint writes. `seq`: the last journal row that it covers."""

    seq: int
    totals: bytes
    streams: list[StreamRows]
    blocks: list[BlockRow]
    serials: frozenset[int]


def take(keyspace: Keyspace, seq: int, changed_keys: Iterable[bytes]) -> Snapshot:
    """The state as of journal row `seq`; blocks count as stored from now on."""
    streams: list[StreamRows] = []
    blocks: list[BlockRow] = []
    for key in changed_keys:
        stream = keyspace.streams.get(key)
        if stream is not None:
            blocks += _block_rows(stream)
            streams.append(_stream_rows(key, stream))
    # A payload that is packed anew replaces the one that a copy may still need: copies are written first.
    blocks.sort(key=lambda row: not row.elsewhere)
    totals = encode_totals(keyspace, seq)
    return Snapshot(seq, totals, streams, blocks, frozenset(keyspace.keys_by_serial))


def _stream_rows(key: bytes, stream: Stream) -> StreamRows:
    groups = {group.name: encode_group(group) for group in stream.groups.values()}
    removed = [id_bytes(value) for value in stream.log.removed_ids]
    stream.log.removed_ids.clear()
    return StreamRows(stream.serial, encode_stream(key, stream), groups, removed)


def _block_rows(stream: Stream) -> list[BlockRow]:
    rows = []
    blocks = stream.log.blocks
    for block in blocks:
        if block.is_open:
            if block is blocks[-1]:
                break
            block.seal()
        if block.changed or not block.stored:
            # A stored block has its payload in memory only where it was packed anew.
            elsewhere = block.filed_under if block.is_filed_elsewhere else ()
            payload = None if elsewhere or (block.stored and not block.payload_bytes) else block.payload()
            head = encode_head(block)
            row = BlockRow(stream.serial, id_bytes(block.first_id), head, payload, block, elsewhere)
            rows.append(row)
            block.stored, block.changed = True, False
    return rows


def _context(serial: int, name: bytes) -> tuple[bytes, bytes]:
    return seq_bytes(serial), name


def write_blocks(connection: sqlite3.Connection, rows: Sequence[BlockRow]) -> None:
    """Store the payloads of some blocks, in one transaction; see `chunks`."""
    connection.execute("BEGIN IMMEDIATE")
    bodies = [(row, _body(connection, row)) for row in rows]
    _put(
        connection, "payloads", [(row.serial, row.first_id, body) for row, body in bodies if body is not None]
    )
    connection.execute("COMMIT")


def _body(connection: sqlite3.Connection, row: BlockRow) -> bytes | None:
    """What is filed as the block's payload, None where there is nothing to write."""
    if row.payload is not None:
        return sealed(row.payload, *_context(row.serial, row.first_id))
    return _body_of_copy(connection, row) if row.elsewhere else None


def _body_of_copy(connection: sqlite3.Connection, row: BlockRow) -> bytes | None:
    """The payload that is filed under another stream. A damaged one stays damaged under the copy's name, so
    that a reader of either stream is told, and the checkpoint does not fail."""
    found = _filed(connection, row.elsewhere, row.first_id)
    if found is None:
        return None
    serial, body = found
    try:
        payload = opened(body, "", *_context(serial, row.first_id))
    except Damage:
        return body
    return sealed(payload, *_context(row.serial, row.first_id))


def _filed(
    connection: sqlite3.Connection, serials: tuple[int, ...], first_id: bytes
) -> tuple[int, bytes] | None:
    """The row of the first of `serials` that has one for this block. One statement, hence one instant: while
    a checkpoint is written, one of them has it at any time."""
    places = ", ".join("?" * len(serials))
    statement = f"SELECT serial, body FROM payloads WHERE serial IN ({places}) AND first_id = ?"  # noqa: S608
    bodies: dict[int, bytes] = dict(connection.execute(statement, (*serials, first_id)).fetchall())
    return next(((serial, bodies[serial]) for serial in serials if serial in bodies), None)


def _put(connection: sqlite3.Connection, table: str, rows: Sequence[tuple[int, bytes, bytes]]) -> None:
    """Insert or replace rows, many in a statement: behind each one the thread has to wait for its turn in
    Python, while a busy loop waits for it in turn."""
    for start in range(0, len(rows), ROWS_PER_STATEMENT):
        some = rows[start : start + ROWS_PER_STATEMENT]
        places = ", ".join(["(?, ?, ?)"] * len(some))
        statement = f"INSERT OR REPLACE INTO {table} VALUES {places}"  # noqa: S608 - our own names
        connection.execute(statement, list(chain.from_iterable(some)))


def chunks(rows: Sequence[BlockRow]) -> Iterable[Sequence[BlockRow]]:
    """The blocks in portions for `write_blocks`."""
    remaining = iter(rows)
    while portion := list(islice(remaining, BLOCKS_PER_TRANSACTION)):
        yield portion


def publish(connection: sqlite3.Connection, snapshot: Snapshot) -> None:
    """Make the snapshot the checkpoint, in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    _delete_streams(connection, snapshot.serials)
    for rows in snapshot.streams:
        _replace_stream(connection, rows)
    heads = [
        (row.serial, row.first_id, sealed(row.head, *_context(row.serial, row.first_id)))
        for row in snapshot.blocks
    ]
    _put(connection, "blocks", heads)
    _delete_blocks(connection, snapshot.streams)
    connection.execute("DELETE FROM journal WHERE seq <= ?", (snapshot.seq,))
    put_meta(connection, "checkpoint", snapshot.totals)
    connection.execute("COMMIT")


def give_back(connection: sqlite3.Connection) -> bool:
    """Give some of the free pages beyond those kept to the file system; whether there are more."""
    free: int = connection.execute("PRAGMA freelist_count").fetchone()[0]
    surplus = free - FREE_PAGES_KEPT
    if surplus > 0:
        # It frees a page a step, and only a script is stepped to its end: `execute` would free one page.
        connection.executescript(f"PRAGMA incremental_vacuum({min(surplus, FREED_PAGES_PER_TRANSACTION)})")
    return surplus > FREED_PAGES_PER_TRANSACTION


def _delete_streams(connection: sqlite3.Connection, serials: frozenset[int]) -> None:
    stored = {serial for (serial,) in connection.execute("SELECT serial FROM streams")}
    gone = [(serial,) for serial in stored - serials]
    for table in ("streams", "groups", "blocks", "payloads"):
        connection.executemany(f"DELETE FROM {table} WHERE serial = ?", gone)  # noqa: S608 - our own names


def _replace_stream(connection: sqlite3.Connection, rows: StreamRows) -> None:
    serial = rows.serial
    connection.execute("DELETE FROM groups WHERE serial = ?", (serial,))
    state = (serial, sealed(rows.state, seq_bytes(serial)))
    connection.execute("INSERT OR REPLACE INTO streams VALUES (?, ?)", state)
    connection.executemany(
        "INSERT INTO groups VALUES (?, ?, ?)",
        [(serial, name, sealed(body, *_context(serial, name))) for name, body in rows.groups.items()],
    )


def _delete_blocks(connection: sqlite3.Connection, streams: Iterable[StreamRows]) -> None:
    gone = [(rows.serial, first_id) for rows in streams for first_id in rows.removed]
    for table in ("blocks", "payloads"):
        statement = f"DELETE FROM {table} WHERE serial = ? AND first_id = ?"  # noqa: S608 - our own names
        connection.executemany(statement, gone)


def release(connection: sqlite3.Connection, snapshot: Snapshot) -> None:
    """Have the stored blocks read from `connection` from now on, instead of from memory."""
    source = source_of(connection)
    filed_under = {rows.serial: (rows.serial,) for rows in snapshot.streams}
    for row in snapshot.blocks:
        if not row.block.changed:
            row.block.release(source, filed_under[row.serial])


def source_of(connection: sqlite3.Connection) -> Source:
    """Where stored blocks are read from, each under the serials that it is filed under."""
    return partial(_load, connection)


def _load(connection: sqlite3.Connection, block: StoredBlock) -> bytes:
    first_id = id_bytes(block.first_id)
    where = f"block {first_id.hex()} of stream {block.filed_under[0]}"
    try:
        found = _filed(connection, block.filed_under, first_id)
    except sqlite3.DatabaseError as error:
        raise Damage(where, str(error)) from error
    if found is None:
        raise Damage(where, "missing")
    serial, body = found
    return opened(body, where, *_context(serial, first_id))
