"""The payloads of stored blocks: their rows, how to read them, and the replacement for a lost payload.

A copied stream shares its payloads with the original until the next checkpoint stores them under the serial
of the copy. So a payload may be stored under one of several serials (`StoredBlock.filed_under`). This module
never decides which blocks are stored.
"""

from __future__ import annotations

import sqlite3
from functools import partial

from tailrace.core.log.block import Block
from tailrace.core.log.stored_block import Source, StoredBlock
from tailrace.core.storage.damage import UNREADABLE, Damage, opened, sealed
from tailrace.core.storage.ids import id_bytes
from tailrace.core.storage.journal import seq_bytes


def payload_context(serial: int, name: bytes) -> tuple[bytes, bytes]:
    """Return the data that the checksum of a row covers in addition to its body: the stream's serial, and
    `name`, which is a block's first id or a group's name."""
    return seq_bytes(serial), name


def body_of_copy(
    connection: sqlite3.Connection, serial: int, first_id: bytes, elsewhere: tuple[int, ...]
) -> bytes | None:
    """Return the body of the payload under one of the serials `elsewhere`, converted for the row of stream
    `serial`; None if there is no such row. A damaged payload is copied unchanged: readers of both streams get
    the error, and the checkpoint succeeds."""
    found = _filed(connection, elsewhere, first_id)
    if found is None:
        return None
    original, body = found
    try:
        payload = opened(body, "", *payload_context(original, first_id))
    except Damage:
        return body
    return sealed(payload, *payload_context(serial, first_id))


def _filed(
    connection: sqlite3.Connection, serials: tuple[int, ...], first_id: bytes
) -> tuple[int, bytes] | None:
    """Return serial and body of the first of `serials` that has a row for this block, None if none has. One
    statement reads all of them as of one instant: during a checkpoint, one of the serials has the row at each
    instant."""
    places = ", ".join("?" * len(serials))
    statement = f"SELECT serial, body FROM payloads WHERE serial IN ({places}) AND first_id = ?"  # noqa: S608
    bodies: dict[int, bytes] = dict(connection.execute(statement, (*serials, first_id)).fetchall())
    return next(((serial, bodies[serial]) for serial in serials if serial in bodies), None)


def source_of(connection: sqlite3.Connection) -> Source:
    """Return the source that reads payloads of stored blocks from `connection`. It raises `Damage`."""
    return partial(_load, connection)


def _load(connection: sqlite3.Connection, block: StoredBlock) -> bytes:
    first_id = id_bytes(block.first_id)
    where = f"block {first_id.hex()} of stream {block.filed_under[0]}"
    try:
        found = _filed(connection, block.filed_under, first_id)
    except UNREADABLE as error:
        raise Damage(where, str(error)) from error
    if found is None:
        raise Damage(where, "missing")
    serial, body = found
    return opened(body, where, *payload_context(serial, first_id))


def stand_in(block: StoredBlock) -> bytes:
    """Return a substitute for a lost payload: the same number of empty entries, with the block's first and
    last id."""
    ids = [*range(block.first_id, block.first_id + block.count - 1), block.last_id]
    substitute = Block.filled(ids, [b"{}"] * block.count, 0, 0, 0)
    substitute.seal()
    return substitute.payload()
