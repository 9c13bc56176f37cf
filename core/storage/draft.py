"""The draft of a checkpoint: what it stores, gathered stream by stream, with the states of streams as bytes.

A draft can be filled in steps while commands run. A stream that changes after its step is added again, and
its latest step counts. `snapshot` ends the steps: then every stream that changed since the last checkpoint
must have been added after its last change. If the checkpoint fails before it is published, the draft stays
valid, and more streams can be added to it.

Encoding takes about 1 us for each pending unit and 10 us for each stream. A server with many of them lets a
copy of its process encode them, which passes them on in this form::

    length | stream | length | stream | ... | 0 | number of streams | checksum of everything before

So a copy that ended early, or that was damaged on the way, is recognized. This module never starts a process.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from struct import Struct
from typing import Final, NamedTuple
from zlib import crc32

import msgspec

from tailrace.core.keyspace import Keyspace
from tailrace.core.log.block import Block
from tailrace.core.storage.ids import id_bytes
from tailrace.core.storage.state import encode_group, encode_head, encode_stream
from tailrace.core.storage.totals import encode_totals
from tailrace.core.stream import Stream

_LENGTH: Final = Struct(">Q")
_END: Final = Struct(">QQ")
_CHECKSUM_BYTES: Final = 4

_encode: Final = msgspec.msgpack.Encoder().encode


class StreamRows(NamedTuple):
    """One changed stream."""

    serial: int
    """The stream's serial."""
    state: bytes
    """The stream's state without sealed blocks and groups."""
    groups: dict[bytes, bytes]
    """The state of each group by name."""


_decode: Final = msgspec.msgpack.Decoder(StreamRows).decode


class Incomplete(Exception):
    """The bytes are not those of a complete passage."""


def stream_rows(keyspace: Keyspace, keys: Iterable[bytes]) -> Iterator[StreamRows]:
    """Yield the states of the streams under `keys`, as far as they exist. O(pending units + idempotency
    keys)."""
    for key in keys:
        stream = keyspace.streams.get(key)
        if stream is not None:
            groups = {group.name: encode_group(group) for group in stream.groups.values()}
            yield StreamRows(stream.serial, encode_stream(key, stream), groups)


def passage_of(rows: Iterable[StreamRows]) -> Iterator[bytes]:
    """Yield `rows` in the form for another process, piece by piece."""
    checksum = count = 0
    for row in rows:
        body = _encode(row)
        piece = _LENGTH.pack(len(body)) + body
        checksum = crc32(piece, checksum)
        count += 1
        yield piece
    end = _END.pack(0, count)
    yield end + crc32(end, checksum).to_bytes(_CHECKSUM_BYTES, "big")


def rows_of(passage: memoryview) -> list[StreamRows]:
    """Return the rows: the inverse of `passage_of`. Raises `Incomplete`. O(bytes)."""
    content, checksum = passage[:-_CHECKSUM_BYTES], passage[-_CHECKSUM_BYTES:]
    if len(content) < _END.size or checksum != crc32(content).to_bytes(_CHECKSUM_BYTES, "big"):
        raise Incomplete(f"{len(passage)} bytes arrived, and their checksum does not match")
    _, count = _END.unpack(content[-_END.size :])
    rows = list(_rows(content[: -_END.size]))
    assert len(rows) == count, "the checksum covers the number"
    return rows


def _rows(passage: memoryview) -> Iterator[StreamRows]:
    position = 0
    while position < len(passage):
        begin = position + _LENGTH.size
        [length] = _LENGTH.unpack(passage[position:begin])
        position = begin + length
        yield _decode(passage[begin:position])


_PARTS_PER_STREAM: Final = 10
"""Encoding a stream without groups takes as long as encoding this many pending entries."""


class BlockRow(NamedTuple):
    """A sealed block to be stored."""

    serial: int
    """The serial of the block's stream."""
    first_id: bytes
    """The block's first id, as `core.storage.ids` writes it."""
    head: bytes
    """Last id, count, holes and bytes, as `encode_head` writes them."""
    payload: bytes | None
    """The payload; None if only the head changed, or if the payload is stored under a serial of
    `elsewhere`."""
    block: Block
    """The block itself, for `release`."""
    elsewhere: tuple[int, ...] = ()
    """For a block of a copied stream: the serials under which the payload may be stored. Empty: not a
    copy."""


class Snapshot(NamedTuple):
    """Everything that one checkpoint writes."""

    seq: int
    """The number of the last journal row that the checkpoint covers."""
    totals: bytes
    """The server's settings and counters, as `encode_totals` writes them."""
    streams: Iterable[StreamRows]
    """The streams that changed."""
    blocks: list[BlockRow]
    """The blocks to store; those of copied streams first."""
    removed: Collection[tuple[int, bytes]]
    """Serial and first id of each stored block that its stream dropped since the last checkpoint."""
    serials: frozenset[int]
    """The serials of all streams that exist: rows of other serials are deleted."""


class Draft:
    """What the next checkpoint stores, as far as it was gathered."""

    def __init__(self) -> None:
        # The keys that were added.
        self.keys: set[bytes] = set()
        # About how many parts of the added streams have to be encoded one by one.
        self.part_count = 0
        self._blocks: dict[tuple[int, bytes], BlockRow] = {}
        self._removed: set[tuple[int, bytes]] = set()

    def add(self, keyspace: Keyspace, key: bytes) -> None:
        """Add the stream under `key`, if there is one, and mark its blocks as stored. O(blocks)."""
        self.keys.add(key)
        stream = keyspace.streams.get(key)
        if stream is not None:
            # A new block may begin with the id of a removed one: XSETID can set an empty stream back.
            self._drop_removed(stream)
            for row in _block_rows(stream):
                self._file(row)
            self.part_count += _parts_to_encode(stream)

    def _drop_removed(self, stream: Stream) -> None:
        for value in stream.log.removed_ids:
            place = stream.serial, id_bytes(value)
            self._blocks.pop(place, None)
            self._removed.add(place)
        stream.log.removed_ids = ()

    def _file(self, row: BlockRow) -> None:
        place = row.serial, row.first_id
        self._removed.discard(place)
        earlier = self._blocks.get(place)
        if earlier is not None and row.payload is None:
            row = row._replace(payload=earlier.payload, elsewhere=earlier.elsewhere)
        self._blocks[place] = row

    def snapshot(self, keyspace: Keyspace, seq: int, streams: Iterable[StreamRows]) -> Snapshot:
        """Return the checkpoint as of now, which is journal row `seq`. `streams`: the states of the added
        streams. O(blocks of the draft + streams of the keyspace)."""
        serials = frozenset(keyspace.keys_by_serial)
        blocks = [row for row in self._blocks.values() if row.serial in serials]
        # Copies are written first, because a copy may need a payload that the original is about to replace.
        blocks.sort(key=lambda row: not row.elsewhere)
        totals = encode_totals(keyspace, seq)
        return Snapshot(seq, totals, streams, blocks, frozenset(self._removed), serials)


def _block_rows(stream: Stream) -> Iterator[BlockRow]:
    blocks = stream.log.blocks
    for block in blocks:
        if block.is_open:
            if block is blocks[-1]:
                break
            block.seal()
        if block.changed or not block.stored:
            # A stored block has its payload in memory only if it was compressed again.
            elsewhere = block.filed_under if block.is_filed_elsewhere else ()
            payload = None if elsewhere or (block.stored and not block.payload_bytes) else block.payload()
            head = encode_head(block)
            yield BlockRow(stream.serial, id_bytes(block.first_id), head, payload, block, elsewhere)
            block.stored, block.changed = True, False


def _parts_to_encode(stream: Stream) -> int:
    in_groups = sum(group.pending.count for group in stream.groups.values()) if stream.groups else 0
    in_groups += sum(group.held_count for group in stream.ordered.values())
    scheduled = 0 if stream.schedule is None else len(stream.schedule.entries)
    return _PARTS_PER_STREAM + in_groups + stream.idempotency.key_count + scheduled
