"""The journal: the effects since the checkpoint, one row per commit, numbered from 1 without a gap.

Each commit also writes the number of the last row (`tail`), so that recovery detects any missing row. Large
rows are compressed, because each byte is written three times: to SQLite's log, from the log to the file, and
later with the block of its entry. A row has one of three forms::

    effects                                           a small row, as `core.storage.records` encodes it
    zstd( effects )                                   a large row
    mark, size | length, zstd( effects ) | ...        a row in parts, which were compressed before the commit

Rows that the checkpoint covers may be left for a while, and rows below 1 belong to `core.storage.prepared`.
This module never decides what an effect does.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import chain
from struct import Struct
from typing import Final

import zstandard

from tailrace.core.effects import Effect
from tailrace.core.keyspace import Keyspace
from tailrace.core.log.zstd import Zstd
from tailrace.core.storage.damage import CHECKSUM_BYTES, Damage, opened, sealed
from tailrace.core.storage.records import decode_effects
from tailrace.core.storage.schema import get_meta, put_meta

COMPRESSED_FROM_BYTES: Final = 16 * 1024
"""A smaller row takes a few pages, and compressing it takes longer than writing them."""

_FRAME_MAGIC: Final = zstandard.FRAME_HEADER
"""The first bytes of a compressed row. An uncompressed row, an array of effects, never begins with them."""

_FRAME_HEADER_BYTES: Final = 18

_PARTS_MARK: Final = b"\xc1"
"""The first byte of a row in parts. Neither a frame nor an array of effects ever begins with it."""

_PARTS_HEAD: Final = Struct("<cQ")
"""The mark, and the decompressed bytes of all parts."""

_PART_LENGTH: Final = Struct("<I")

_zstd: Final = Zstd()


def seq_bytes(seq: object) -> bytes:
    """Return a row's number as bytes, in the form that checksums cover. Raises `Damage` if it is not an
    int."""
    if not isinstance(seq, int):
        raise Damage("a row's number", "it has a wrong type")
    return seq.to_bytes(8, "big", signed=True)


def part_of(body: bytes) -> bytes:
    """Return encoded effects as a part of a later row. O(bytes)."""
    return _zstd.compress(body)


def row_of(parts: Sequence[bytes], size_bytes: int) -> bytes:
    """Return a row with the effects of `parts`, in order. `size_bytes`: of all parts before compression."""
    pieces = chain.from_iterable((_PART_LENGTH.pack(len(part)), part) for part in parts)
    return b"".join([_PARTS_HEAD.pack(_PARTS_MARK, size_bytes), *pieces])


def append(connection: sqlite3.Connection, seq: int, body: bytes) -> None:
    """Commit one row; it is synced on return. O(bytes), and one sync. Call it from one thread at a time.

    `body`: encoded effects, or what `row_of` returned.
    """
    is_ready = len(body) < COMPRESSED_FROM_BYTES or body.startswith(_PARTS_MARK)
    stored = body if is_ready else _zstd.compress(body)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO journal VALUES (?, ?)", (seq, sealed(stored, seq_bytes(seq))))
    put_meta(connection, "tail", seq_bytes(seq))
    connection.execute("COMMIT")


def empty_log(connection: sqlite3.Connection) -> None:
    """Copy SQLite's write-ahead log into the database, so that the next commit begins the log again.

    Blocks for several milliseconds. A commit that finds a thousand pages in the log does the same.
    """
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)")


def tail(connection: sqlite3.Connection) -> int:
    """Return the number of the last row ever appended, 0 if there was none."""
    raw = get_meta(connection, "tail")
    return 0 if raw is None else int.from_bytes(raw, "big")


def size_bytes(connection: sqlite3.Connection, after_seq: int = 0) -> int:
    """Return the decompressed size of the rows above `after_seq`. O(rows)."""
    begin = f"substr(body, {CHECKSUM_BYTES} + 1, {_FRAME_HEADER_BYTES})"
    statement = f"SELECT length(body) - {CHECKSUM_BYTES}, {begin} FROM journal WHERE seq > ?"  # noqa: S608 - numbers
    rows = connection.execute(statement, (after_seq,))
    return sum(_size_bytes(head, size) for size, head in rows)


def _size_bytes(head: bytes, stored_bytes: int) -> int:
    """Return the decompressed size of a row that begins with `head`."""
    if head.startswith(_FRAME_MAGIC):
        return zstandard.frame_content_size(head)
    if head.startswith(_PARTS_MARK):
        _, size_bytes = _PARTS_HEAD.unpack_from(head)
        return int(size_bytes)
    return stored_bytes


def read(connection: sqlite3.Connection, after_seq: int) -> Iterator[tuple[int, Sequence[Effect]]]:
    """Yield the rows above `after_seq`, in order. Raises `Damage` if a row is missing or was altered."""
    expected = after_seq
    last = tail(connection)
    rows = connection.execute("SELECT seq, body FROM journal WHERE seq > ? ORDER BY seq", (after_seq,))
    for seq, raw in rows:
        expected += 1
        if seq != expected:
            raise Damage(f"journal row {expected}", "missing")
        yield seq, effects_of(seq, raw)
    if max(expected, after_seq) != max(last, after_seq):
        raise Damage(f"journal row {expected + 1}", f"missing; the last is {last}")


def effects_of(seq: int, raw: object) -> list[Effect]:
    """Return the effects of row `seq`. Raises `Damage` if the row was altered."""
    return effects_in(opened(raw, f"journal row {seq}", seq_bytes(seq)))


def effects_in(body: bytes) -> list[Effect]:
    """Return the effects of a row in any form. The caller has checked the bytes for damage. O(bytes)."""
    if body.startswith(_FRAME_MAGIC):
        return decode_effects(_zstd.decompress(body))
    if body.startswith(_PARTS_MARK):
        return list(chain.from_iterable(map(effects_in, _parts_of(body))))
    return decode_effects(body)


def _parts_of(row: bytes) -> Iterator[bytes]:
    position = _PARTS_HEAD.size
    while position < len(row):
        [length] = _PART_LENGTH.unpack_from(row, position)
        position += _PART_LENGTH.size
        yield row[position : position + length]
        position += length


def replay(keyspace: Keyspace, seq: int, effect: Effect) -> None:
    """Carry out an effect of row `seq`. Raises `Damage` if the effect does not fit the current state.

    An intact row can still fail to fit: a disk that lost synced pages may return an older state of a group,
    for example. The assertions of `apply` then fail.
    """
    try:
        effect.apply(keyspace)
    except (AssertionError, AttributeError, LookupError, ValueError) as error:
        what = f"{type(effect).__name__} refers to data that does not exist"
        raise Damage(f"journal row {seq}", what) from error
