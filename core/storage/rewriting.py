"""Writes a whole keyspace to a new data directory, as one checkpoint and an empty journal.

Blocks are written in portions, so that memory holds the payloads of only one portion. This module never reads
the old directory itself: each block reads its payload from its source.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from tailrace.core.keyspace import Keyspace
from tailrace.core.log.block import Block
from tailrace.core.storage.checkpoint import BLOCKS_PER_TRANSACTION, publish, take, write_blocks
from tailrace.core.storage.draft import BlockRow
from tailrace.core.storage.ids import id_bytes
from tailrace.core.storage.schema import connect
from tailrace.core.storage.state import encode_head


def write_keyspace(keyspace: Keyspace, target: Path) -> None:
    """Write `keyspace` as a data directory into `target`, an empty directory. O(size of the keyspace).

    Raises `Damage` if a payload cannot be read, and `OSError` or `sqlite3.Error` if the system refuses a
    write.
    """
    with closing(connect(target)) as connection:
        heads: list[BlockRow] = []
        for stream in keyspace.streams.values():
            sealed = [block for block in stream.log.blocks if not block.is_open]
            for start in range(0, len(sealed), BLOCKS_PER_TRANSACTION):
                portion = sealed[start : start + BLOCKS_PER_TRANSACTION]
                rows = [_row(stream.serial, block) for block in portion]
                write_blocks(connection, rows)
                heads += [row._replace(payload=None) for row in rows]
        snapshot = take(keyspace, 0, list(keyspace.streams))
        publish(connection, snapshot._replace(blocks=heads))


def _row(serial: int, block: Block) -> BlockRow:
    row = BlockRow(serial, id_bytes(block.first_id), encode_head(block), block.payload(), block)
    block.stored, block.changed = True, False
    return row
