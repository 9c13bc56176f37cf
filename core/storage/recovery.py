"""Recovery: rebuilds the whole keyspace from the checkpoint and the journal after it, or raises `Damage`.

Recovery reads the index of the blocks and not the blocks, so a start costs O(blocks + pending entries), not
O(entries). A missing row is detected, because another row contains the expected number of rows: the totals
count the streams, a stream's state counts its groups, sealed blocks and entries, and the journal's tail has
the number of the last row. This module repairs nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Any, Final

from tailrace.core.effects import Effect
from tailrace.core.keyspace import Keyspace
from tailrace.core.log.block import Block
from tailrace.core.log.block_cache import BlockCache
from tailrace.core.storage import journal
from tailrace.core.storage.damage import Damage, opened, telling_damage
from tailrace.core.storage.ids import id_of
from tailrace.core.storage.journal import seq_bytes
from tailrace.core.storage.payloads import source_of
from tailrace.core.storage.prepared import Overlay, read_parts
from tailrace.core.storage.schema import get_meta
from tailrace.core.storage.state import (
    decode_group,
    decode_head,
    decode_stream,
    restore_memory,
    restore_stream,
)
from tailrace.core.storage.totals import decode_totals
from tailrace.core.stream import Stream

_first_id_of: Final = attrgetter("first_id")


class Recovered:
    """The result of recovery. `seq`: the number of the last journal row. `covered_seq`: that of the last row
    that the checkpoint covers. `replayed`: the effects of the later rows, which were applied to its state."""

    def __init__(self, keyspace: Keyspace, seq: int, covered_seq: int, replayed: list[Effect]) -> None:
        self.keyspace = keyspace
        self.seq = seq
        self.covered_seq = covered_seq
        self.replayed = replayed


def recover(
    connection: sqlite3.Connection, blocks: sqlite3.Connection, cache: BlockCache | None = None
) -> Recovered:
    """Return the keyspace of the file. The connection `blocks` reads the payload of a block when a command
    needs it.

    Raises `Damage` with the name of the row, and `sqlite3.Error` if the system refuses to read.
    O(blocks + pending units + journal).
    """
    with telling_damage("the database file"):
        return _recover(connection, blocks, cache)


def _recover(
    connection: sqlite3.Connection, blocks: sqlite3.Connection, cache: BlockCache | None
) -> Recovered:
    keyspace = Keyspace(cache)
    seq = covered_seq = _restore_checkpoint(connection, blocks, keyspace)
    replayed: list[Effect] = []
    for row_seq, effects in journal.read(connection, seq):
        for effect in effects:
            journal.replay(keyspace, row_seq, effect)
        replayed.extend(effects)
        seq = row_seq
    return Recovered(keyspace, seq, covered_seq, replayed)


def _restore_checkpoint(
    connection: sqlite3.Connection, blocks: sqlite3.Connection, keyspace: Keyspace
) -> int:
    raw = get_meta(connection, "checkpoint")
    if raw is None:
        _require(not _count(connection, "streams"), "meta checkpoint", "missing")
        return 0
    totals = decode_totals(raw)
    for name, value in totals.config.items():
        keyspace.configure(name, value)
    overlay = Overlay(read_parts(connection, totals))
    index = _block_index(connection, blocks, overlay)
    rows = connection.execute("SELECT serial, body FROM streams ORDER BY serial")
    for serial, body in overlay.streams(rows):
        groups = overlay.groups_of(serial, _group_rows(connection, serial))
        _restore_stream(keyspace, serial, body, groups, index.pop(serial, []))
    found = len(keyspace.streams)
    _require(found == totals.stream_count, "table streams", f"{found} rows, not {totals.stream_count}")
    _require(not index, "table blocks", f"blocks of unknown streams {sorted(index)[:5]}")
    keyspace.last_serial = totals.last_serial
    return totals.seq


def _block_index(
    connection: sqlite3.Connection, source: sqlite3.Connection, overlay: Overlay
) -> dict[int, list[Block]]:
    index: dict[int, list[Block]] = {}
    source_of_all = source_of(source)
    rows = connection.execute("SELECT serial, first_id, head FROM blocks ORDER BY serial, first_id")
    for serial, first_id, raw in overlay.heads(rows):
        _require(isinstance(first_id, bytes), f"a block of stream {serial}", "its id has a wrong type")
        head = opened(raw, f"block {first_id.hex()} of stream {serial}", seq_bytes(serial), first_id)
        filed_under = index[serial][0].filed_under if serial in index else (serial,)
        block = Block.restored(id_of(first_id), *decode_head(head), source_of_all, filed_under)
        index.setdefault(serial, []).append(block)
    for blocks in index.values():
        # Those of the overlay come last. Sorting costs one pass if they are in order.
        blocks.sort(key=_first_id_of)
    return index


def _restore_stream(
    keyspace: Keyspace,
    serial: int,
    body: object,
    groups: Iterable[tuple[Any, ...]],
    blocks: list[Block],
) -> None:
    where = f"stream {serial}"
    state = decode_stream(opened(body, where, seq_bytes(serial)))
    _require(len(blocks) == state.block_count, where, f"{len(blocks)} blocks, not {state.block_count}")
    stream = Stream(serial, keyspace.cache, keyspace.sealing, restore_memory(state.idempotency))
    restore_stream(stream, state, blocks)
    _require(stream.length == state.length, where, f"{stream.length} entries, not {state.length}")
    for name, raw in groups:
        _require(isinstance(name, bytes), f"a group of stream {serial}", "its name has a wrong type")
        body_of_group = opened(raw, f"group {name!r} of stream {serial}", seq_bytes(serial), name)
        stream.add_group(decode_group(body_of_group))
    found = len(stream.groups)
    _require(found == state.group_count, where, f"{found} groups, not {state.group_count}")
    keyspace.put(state.key, stream)


def _group_rows(connection: sqlite3.Connection, serial: int) -> Iterable[tuple[Any, ...]]:
    return connection.execute("SELECT name, body FROM groups WHERE serial = ?", (serial,))


def _count(connection: sqlite3.Connection, table: str) -> int:
    statement = f"SELECT count(*) FROM {table}"  # noqa: S608 - our own names
    count: int = connection.execute(statement).fetchone()[0]
    return count


def _require(holds: bool, where: str, what: str) -> None:  # noqa: FBT001 - reads like an assertion
    if not holds:
        raise Damage(where, what)


def check_payloads(keyspace: Keyspace) -> Iterator[str]:
    """Read every stored block, and yield the name of each intact one. Raises `Damage` at the first damaged
    block. O(entries)."""
    for key, stream in keyspace.streams.items():
        for block in stream.log.blocks:
            decoded = block.decode()
            _require(
                len(decoded.ids) == block.count,
                f"a block of stream {key!r}",
                "its number of entries is wrong",
            )
            yield f"{key!r} {block.first_id:x}"
