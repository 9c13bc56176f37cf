"""Salvage: reads the intact part of a damaged data directory, lists the losses, and writes a new directory.

Rows are independent: salvage leaves out a damaged block, group or stream, and keeps the others. It replays
the journal up to the first damaged row. During the replay, a block with a lost payload keeps its head, so
that later changes (a trim by count, for example) remove the same entries as before; after the replay, the
block is dropped. Where an effect that moves entries does not fit as a whole, each of its parts is carried out
alone, so that a moved entry survives in the stream that is intact.

If the database file is lost, its log still has the newest pages, and with them the newest rows of the
journal. Salvage replays them from the first readable row after the last gap: appended entries create their
streams again, and changes that refer to older data (groups, deletions, trims by count) are lost.

The new directory is one checkpoint and an empty journal. Its blocks are written in portions, so that memory
holds the payloads of only one portion. This module never writes to the damaged directory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from operator import itemgetter
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tailrace.core.effects import (
    DeadLettered,
    Effect,
    EntriesAppended,
    EntriesRemoved,
    EntriesTrimmed,
    PendingRemoved,
    Redriven,
    key_order,
)
from tailrace.core.keyspace import Keyspace
from tailrace.core.log.block import Block
from tailrace.core.storage import journal
from tailrace.core.storage.checkpoint import BLOCKS_PER_TRANSACTION, publish, take, write_blocks
from tailrace.core.storage.damage import UNREADABLE, Damage, opened
from tailrace.core.storage.draft import BlockRow
from tailrace.core.storage.ids import id_bytes, id_of
from tailrace.core.storage.journal import seq_bytes
from tailrace.core.storage.payloads import source_of, stand_in
from tailrace.core.storage.prepared import Overlay, Part, read_part
from tailrace.core.storage.schema import connect, get_meta
from tailrace.core.storage.state import (
    decode_group,
    decode_head,
    decode_stream,
    encode_head,
    restore_memory,
    restore_stream,
)
from tailrace.core.storage.totals import Totals, decode_totals
from tailrace.core.stream import Stream
from tailrace.core.stream_id import format_id


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


def parts_of(keyspace: Keyspace, effect: Effect) -> tuple[Effect, ...]:
    """Return the effect itself if it fits `keyspace` or moves no entries, else effects that together do the
    same, apart from the count of dead letters. O(entries log n) for a move."""
    if not isinstance(effect, DeadLettered | Redriven) or _fits(keyspace, effect):
        return (effect,)
    appended = EntriesAppended(effect.new_key, effect.new_ids, effect.fragments)
    if isinstance(effect, DeadLettered):
        return (appended, PendingRemoved(effect.key, effect.group, effect.ids))
    return (appended, EntriesRemoved(effect.key, effect.ids, tombstone=True))


def _fits(keyspace: Keyspace, effect: DeadLettered | Redriven) -> bool:
    stream = keyspace.streams.get(effect.key)
    if stream is None or effect.new_key not in keyspace.streams:
        return False
    if isinstance(effect, Redriven):
        return len(stream.log.live_among(effect.ids)) == len(effect.ids)
    group = stream.groups.get(effect.group)
    return group is not None and len(group.pending.present(effect.ids)) == len(effect.ids)


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


class Salvage:
    """The intact part of a data directory; the constructor reads it. O(size of the directory).

    `damage`: a loss that is already known. `is_log_alone`: the database file is lost, and `connection` reads
    the pages of its log.
    """

    def __init__(
        self, connection: sqlite3.Connection, damage: Damage | None = None, *, is_log_alone: bool = False
    ) -> None:
        # Everything that is intact.
        self.keyspace = Keyspace()
        # A sentence for each loss, in order of discovery.
        self.losses: list[str] = [] if damage is None else [str(damage)]
        self._connection = connection
        self._is_log_alone = is_log_alone
        # The last journal row that the checkpoint covers, and how many streams it has; 0 if that is lost.
        self._checkpoint_seq = self._stored_streams = 0
        self._overlay = Overlay(())
        # Keys of streams whose older entries are lost with the database file.
        self._without_past: set[bytes] = set()
        # Changes that refer to lost streams, groups or entries.
        self._unfit_count = 0
        self._restore_totals()
        self._restore_streams()
        self._replay()
        self._drop_lost_blocks()

    def _lose(self, where: str, what: object) -> None:
        self.losses.append(f"{where}: {what}")

    def _rows(self, column: str, table: str, key: str) -> list[tuple[Any, ...]]:
        rows, error = readable_rows(self._connection, column, table, key)
        if error is not None:
            self._lose(f"table {table}", f"not all rows can be read: {error}")
        return rows

    # --- the checkpoint ------------------------------------------------------------------------

    def _restore_totals(self) -> None:
        try:
            raw = get_meta(self._connection, "checkpoint")
        except (Damage, *UNREADABLE) as error:
            self._lose("the server's settings", error)
            return
        if raw is not None:
            totals = decode_totals(raw)
            for name, value in totals.config.items():
                self.keyspace.configure(name, value)
            self.keyspace.last_serial = totals.last_serial
            self._checkpoint_seq, self._stored_streams = totals.seq, totals.stream_count
            self._overlay = Overlay(self._parts(totals))

    def _parts(self, totals: Totals) -> Iterator[Part]:
        for number in range(1, totals.parts + 1):
            try:
                yield read_part(self._connection, number, totals.seq)
            except (Damage, *UNREADABLE) as error:
                self._lose("the checkpoint", f"{error}; streams may be as they were before it")

    def _restore_streams(self) -> None:
        blocks = self._blocks()
        rows = list(self._overlay.streams(self._rows("body", "streams", "serial")))
        if len(rows) < self._stored_streams:
            self._lose("table streams", f"{self._stored_streams - len(rows)} streams are missing")
        for serial, raw in rows:
            try:
                state = decode_stream(opened(raw, f"stream {serial}", seq_bytes(serial)))
            except Damage as damage:
                lost = sum(block.live for block in blocks.pop(serial, []))
                self._lose(f"stream {serial}", f"{damage.what}; its {lost} stored entries are lost with it")
                continue
            memory = restore_memory(state.idempotency)
            stream = Stream(serial, self.keyspace.cache, self.keyspace.sealing, memory)
            restore_stream(stream, state, blocks.pop(serial, []))
            self.keyspace.put(state.key, stream)
            if stream.length != state.length:
                missing = state.length - stream.length
                self._lose(f"stream {state.key!r}", f"{missing} entries are missing from the index of blocks")
        for serial in blocks:
            self._lose(f"stream {serial}", "its state is missing, and its blocks are lost with it")
        self._restore_groups()

    def _blocks(self) -> dict[int, list[Block]]:
        index: dict[int, list[Block]] = {}
        for serial, first_id, raw in self._overlay.heads(self._rows("head", "blocks", "serial, first_id")):
            where = f"block {first_id!r} of stream {serial}"
            try:
                head = opened(raw, where, seq_bytes(serial), first_id)
            except Damage as damage:
                self._lose(where, damage.what)
                continue
            source = source_of(self._connection)
            block = Block.restored(id_of(first_id), *decode_head(head), source, (serial,))
            self._check_payload(block, serial)
            index.setdefault(serial, []).append(block)
        for blocks in index.values():
            blocks.sort(key=lambda block: block.first_id)
        return index

    def _check_payload(self, block: Block, serial: int) -> None:
        try:
            block.payload()
        except Damage as damage:
            first, last = format_id(block.first_id), format_id(block.last_id)
            self._lose(f"stream {serial}", f"{block.live} entries from {first} to {last}: {damage.what}")
            block.release(stand_in)

    def _restore_groups(self) -> None:
        streams = {stream.serial: stream for stream in self.keyspace.streams.values()}
        for serial, name, raw in self._overlay.groups(self._rows("body", "groups", "serial, name")):
            where = f"group {name!r} of stream {serial}"
            try:
                group = decode_group(opened(raw, where, seq_bytes(serial), name))
            except Damage as damage:
                self._lose(where, damage.what)
                continue
            if serial in streams:
                streams[serial].add_group(group)

    # --- the journal ---------------------------------------------------------------------------

    def _replay(self) -> None:
        try:
            for seq, effects in self._journal_rows():
                for effect in effects:
                    for part in parts_of(self.keyspace, effect):
                        self._carry_out(part, seq)
        except (Damage, *UNREADABLE) as error:
            self._lose("the journal", f"{error}; all later changes are lost")
        if self._unfit_count:
            what = f"{self._unfit_count} changes refer to streams, groups or entries that are lost"
            self._lose("the journal", what)

    def _journal_rows(self) -> Iterator[tuple[int, list[Effect]]]:
        """Yield the rows after the checkpoint. Raises `Damage` at the first damaged or missing row."""
        expected: int | None = None
        for seq, raw in self._readable_rows():
            if expected not in (None, seq):
                raise Damage(f"journal row {expected}", "missing")
            yield seq, journal.effects_of(seq, raw)
            expected = seq + 1
        last = journal.tail(self._connection)
        if expected is None:
            expected = self._checkpoint_seq + 1
        if expected <= last:
            raise Damage(f"journal row {expected}", f"missing; the last is {last}")

    def _readable_rows(self) -> list[tuple[int, object]]:
        """Return the rows in order; if only the log is left, only the rows after the last gap."""
        stored = sorted(self._rows("body", "journal", "seq"), key=itemgetter(0))
        rows = [(seq, raw) for seq, raw in stored if seq > self._checkpoint_seq]
        if self._is_log_alone:
            gaps = [at for at in range(1, len(rows)) if rows[at][0] != rows[at - 1][0] + 1]
            rows = rows[gaps[-1] :] if gaps else rows
            if rows and rows[0][0] > self._checkpoint_seq + 1:
                self._lose("the journal", f"rows {self._checkpoint_seq + 1} to {rows[0][0] - 1} are lost")
        return rows

    def _carry_out(self, effect: Effect, seq: int) -> None:
        """Apply an effect, or count it as lost if it refers to something that is lost."""
        if self._is_log_alone and not self._fits_log_alone(effect):
            self._unfit_count += 1
            return
        if isinstance(effect, EntriesRemoved) and effect.key in self.keyspace.streams:
            log = self.keyspace.streams[effect.key].log
            effect = replace(effect, ids=[value for value in effect.ids if value in log])
            if not effect.ids:
                return
        try:
            journal.replay(self.keyspace, seq, effect)
        except Damage as damage:
            if self._is_log_alone:
                self._unfit_count += 1
            else:
                self._lose(damage.where, damage.what)

    def _fits_log_alone(self, effect: Effect) -> bool:
        """Return whether the effect can be applied without older data. A trim by count cannot, because it
        would remove other entries. Creates the stream of an append."""
        if isinstance(effect, EntriesAppended) and effect.key not in self.keyspace.streams:
            self.keyspace.create(effect.key)
            self._without_past.add(effect.key)
            older = "everything older than its entry " + format_id(effect.ids[0])
            self._lose(f"stream {effect.key!r}", older)
        return not (isinstance(effect, EntriesTrimmed) and effect.key in self._without_past)

    def _drop_lost_blocks(self) -> None:
        """Drop blocks whose payload is lost, and copies of them that the journal made."""
        for stream in self.keyspace.streams.values():
            for block in stream.log.blocks:
                if block.is_filed_elsewhere and not block.has_source(stand_in):
                    self._check_payload(block, stream.serial)
            stream.log.restore([block for block in stream.log.blocks if not block.has_source(stand_in)])
            key_order.forget_missing(stream)

    def write(self, target: Path) -> None:
        """Write a data directory with everything that is intact into `target`, an empty directory."""
        write_keyspace(self.keyspace, target)
