"""What is intact of a damaged data directory, written to a new one, and a list of what is not.

Every row stands for itself: a block, a group or a stream that is damaged is left out, the others stay.
The journal is replayed up to the first row that is damaged. A block whose payload is lost takes part in
that by its head alone, so that what follows (a trim by count, say) still hits what it hit; then it goes.

Where the database file is lost, its log still holds the newest pages, and with them the newest rows of the
journal. They are replayed from the first one that can be read: appended entries make their streams anew,
and what refers to anything older (groups, deletions, trims by count) is lost.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from operator import itemgetter
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tailrace.core.effects import Effect, EntriesAppended, EntriesRemoved, EntriesTrimmed
from tailrace.core.keyspace import Keyspace
from tailrace.core.log.block import Block
from tailrace.core.log.id_sequence import PackedIds
from tailrace.core.log.node_size import NodeLimits
from tailrace.core.log.stored_block import StoredBlock
from tailrace.core.storage import journal
from tailrace.core.storage.checkpoint import (
    BLOCKS_PER_TRANSACTION,
    BlockRow,
    publish,
    source_of,
    take,
    write_blocks,
)
from tailrace.core.storage.damage import Damage, opened
from tailrace.core.storage.ids import id_bytes, id_of
from tailrace.core.storage.journal import seq_bytes
from tailrace.core.storage.schema import connect, get_meta
from tailrace.core.storage.state import (
    decode_group,
    decode_head,
    decode_stream,
    decode_totals,
    encode_head,
    restore_memory,
    restore_stream,
)
from tailrace.core.stream import Stream
from tailrace.core.stream_id import format_id


class Salvage:
    """`keyspace`: what is intact; `losses`: a sentence for each thing that is not, in order of discovery.

    `is_log_alone`: the database file is lost, and `connection` shows what its log holds.
    """

    def __init__(
        self, connection: sqlite3.Connection, damage: Damage | None = None, *, is_log_alone: bool = False
    ) -> None:
        self.keyspace = Keyspace()
        self.losses: list[str] = [] if damage is None else [str(damage)]
        self._connection = connection
        self._is_log_alone = is_log_alone
        self._checkpoint_seq = self._stored_streams = 0
        self._without_past: set[bytes] = set()
        self._unfit_count = 0
        self._restore_totals()
        self._restore_streams()
        self._replay()
        self._drop_lost_blocks()

    def _lose(self, where: str, what: object) -> None:
        self.losses.append(f"{where}: {what}")

    def _rows(self, column: str, table: str, key: str) -> list[tuple[Any, ...]]:
        """The rows of a table from its beginning, and where that breaks off, from its end as well."""
        rows: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        try:
            self._gather(rows, column, table, key, "ASC")
        except sqlite3.DatabaseError as error:
            self._lose(f"table {table}", f"not all rows can be read: {error}")
            with suppress(sqlite3.DatabaseError):
                self._gather(rows, column, table, key, "DESC")
        return list(rows.values())

    def _gather(
        self, rows: dict[tuple[Any, ...], Any], column: str, table: str, key: str, direction: str
    ) -> None:
        order = ", ".join(f"{each} {direction}" for each in key.split(", "))
        statement = f"SELECT {key}, {column} FROM {table} ORDER BY {order}"  # noqa: S608 - our own names
        for row in self._connection.execute(statement):
            rows.setdefault(row[:-1], row)

    # --- the checkpoint ------------------------------------------------------------------------

    def _restore_totals(self) -> None:
        try:
            raw = get_meta(self._connection, "checkpoint")
        except (Damage, sqlite3.DatabaseError) as error:
            self._lose("the server's settings", error)
            return
        if raw is not None:
            totals = decode_totals(raw)
            for name, value in totals.config.items():
                self.keyspace.configure(name, value)
            self.keyspace.last_serial = totals.last_serial
            self._checkpoint_seq, self._stored_streams = totals.seq, totals.stream_count

    def _restore_streams(self) -> None:
        blocks = self._blocks()
        rows = self._rows("body", "streams", "serial")
        if len(rows) < self._stored_streams:
            self._lose("table streams", f"{self._stored_streams - len(rows)} streams are missing")
        for serial, raw in rows:
            try:
                state = decode_stream(opened(raw, f"stream {serial}", seq_bytes(serial)))
            except Damage as damage:
                lost = sum(block.live for block in blocks.pop(serial, []))
                self._lose(f"stream {serial}", f"{damage.what}; its {lost} stored entries are lost with it")
                continue
            stream = Stream(
                serial, self.keyspace.cache, self.keyspace.sealing, restore_memory(state.idempotency)
            )
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
        for serial, first_id, raw in self._rows("head", "blocks", "serial, first_id"):
            where = f"block {first_id!r} of stream {serial}"
            try:
                head = opened(raw, where, seq_bytes(serial), first_id)
            except Damage as damage:
                self._lose(where, damage.what)
                continue
            source = source_of(self._connection)
            block = Block.restored(id_of(first_id), *decode_head(head), source, (serial,))
            self._look_at(block, serial)
            index.setdefault(serial, []).append(block)
        for blocks in index.values():
            blocks.sort(key=lambda block: block.first_id)
        return index

    def _look_at(self, block: Block, serial: int) -> None:
        try:
            block.payload()
        except Damage as damage:
            first, last = format_id(block.first_id), format_id(block.last_id)
            self._lose(f"stream {serial}", f"{block.live} entries from {first} to {last}: {damage.what}")
            block.release(_stand_in)

    def _restore_groups(self) -> None:
        streams = {stream.serial: stream for stream in self.keyspace.streams.values()}
        for serial, name, raw in self._rows("body", "groups", "serial, name"):
            where = f"group {name!r} of stream {serial}"
            try:
                group = decode_group(opened(raw, where, seq_bytes(serial), name))
            except Damage as damage:
                self._lose(where, damage.what)
                continue
            if serial in streams:
                streams[serial].groups[group.name] = group

    # --- the journal ---------------------------------------------------------------------------

    def _replay(self) -> None:
        try:
            for seq, effects in self._journal_rows():
                for effect in effects:
                    self._carry_out(effect, seq)
        except (Damage, sqlite3.DatabaseError) as error:
            self._lose("the journal", f"{error}; what happened since is lost")
        if self._unfit_count:
            what = f"{self._unfit_count} changes refer to streams, groups or entries that are lost"
            self._lose("the journal", what)

    def _journal_rows(self) -> Iterator[tuple[int, list[Effect]]]:
        """All rows: those that a checkpoint covers went with it. Raises `Damage` at the first bad one."""
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
        """The rows in order; of the log alone, those behind the last gap."""
        rows: list[tuple[Any, ...]] = sorted(self._rows("body", "journal", "seq"), key=itemgetter(0))
        if self._is_log_alone:
            gaps = [at for at in range(1, len(rows)) if rows[at][0] != rows[at - 1][0] + 1]
            rows = rows[gaps[-1] :] if gaps else rows
            if rows and rows[0][0] > self._checkpoint_seq + 1:
                self._lose("the journal", f"rows {self._checkpoint_seq + 1} to {rows[0][0] - 1} are lost")
        return [(seq, raw) for seq, raw in rows]

    def _carry_out(self, effect: Effect, seq: int) -> None:
        """An effect may speak of something that is lost, and is then lost with it."""
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
        """Make the stream that entries were appended to; a trim by count would hit entries that stayed."""
        if isinstance(effect, EntriesAppended) and effect.key not in self.keyspace.streams:
            self.keyspace.create(effect.key)
            self._without_past.add(effect.key)
            self._lose(
                f"stream {effect.key!r}", "all that is older than its entry " + format_id(effect.ids[0])
            )
        return not (isinstance(effect, EntriesTrimmed) and effect.key in self._without_past)

    def _drop_lost_blocks(self) -> None:
        """A copy that the journal made of a lost block is lost as well."""
        for stream in self.keyspace.streams.values():
            for block in stream.log.blocks:
                if block.is_filed_elsewhere and not block.has_source(_stand_in):
                    self._look_at(block, stream.serial)
            stream.log.restore([block for block in stream.log.blocks if not block.has_source(_stand_in)])

    # --- the new directory ---------------------------------------------------------------------

    def write(self, target: Path) -> None:
        """Write a data directory of what is intact into `target`, which is empty."""
        with closing(connect(target)) as connection:
            heads: list[BlockRow] = []
            for stream in self.keyspace.streams.values():
                sealed = [block for block in stream.log.blocks if not block.is_open]
                for start in range(0, len(sealed), BLOCKS_PER_TRANSACTION):
                    portion = sealed[start : start + BLOCKS_PER_TRANSACTION]
                    rows = [_row(stream.serial, block) for block in portion]
                    write_blocks(connection, rows)
                    heads += [row._replace(payload=None) for row in rows]
            snapshot = take(self.keyspace, 0, list(self.keyspace.streams))
            publish(connection, snapshot._replace(blocks=heads))


def _row(serial: int, block: Block) -> BlockRow:
    row = BlockRow(serial, id_bytes(block.first_id), encode_head(block), block.payload(), block)
    block.stored, block.changed = True, False
    return row


def _stand_in(block: StoredBlock) -> bytes:
    """A payload as long as the lost one, whose ids keep the block's ends."""
    inner = range(block.first_id, block.first_id + block.count - 1)
    stand_in = Block(block.first_id, b"{}")
    fragments, lengths = [b"{}"] * block.count, [len(b"{}")] * block.count
    stand_in.extend(PackedIds.of([*inner, block.last_id]), fragments, lengths, 0, NodeLimits(0, 0))
    stand_in.seal()
    return stand_in.payload()
