"""The parts of a large checkpoint: changes to the tables that are stored before they take effect.

A checkpoint of many streams would be one long transaction, and every commit of the journal would wait for it.
So it is written in parts, each in a transaction of its own::

    journal    -1, -2 ... -n -> part          ignored, until the checkpoint's totals contain their number n
    tables     parts 1, 2 ... n in turn       the parts overlay the tables, so a partly merged table is whole

A part contains rows as the tables store them, with their checksums. Merging a part twice gives the same
tables. This module owns the form of a part and the overlay; `core.storage.publishing` owns the steps.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from tailrace.core.log.zstd import Zstd
from tailrace.core.storage.damage import Damage, opened, sealed
from tailrace.core.storage.journal import seq_bytes
from tailrace.core.storage.totals import Totals, decode_totals

PART_ROWS: Final = 1_000
"""A transaction of this many rows takes 2 to 10 ms, and a commit of the journal may have to wait for it."""

PART_BYTES: Final = 1 << 20
"""A part ends after this many bytes. The state of one group is one row, so a larger one makes a larger
part."""

_encode: Final = msgspec.msgpack.Encoder().encode
_zstd: Final = Zstd()


class Part(msgspec.Struct, array_like=True):
    """Rows to write and rows to delete, in the form of the tables."""

    streams: list[tuple[int, bytes]] = []
    """Rows of `streams`. They replace all rows of `groups` of these serials."""
    groups: list[tuple[int, bytes, bytes]] = []
    """Rows of `groups`, of the streams above or of the last one of the part before."""
    heads: list[tuple[int, bytes, bytes]] = []
    """Rows of `blocks`."""
    removed: list[tuple[int, bytes]] = []
    """Serial and first id of each row to delete from `blocks` and `payloads`."""
    gone: list[int] = []
    """The serials of deleted streams, whose rows all tables lose."""


_decode: Final = msgspec.msgpack.Decoder(Part).decode


def write_part(connection: sqlite3.Connection, number: int, seq: int, part: Part) -> None:
    """Store part `number` of the checkpoint as of journal row `seq`. O(bytes)."""
    body = sealed(_zstd.compress(_encode(part)), seq_bytes(-number), seq_bytes(seq))
    connection.execute("INSERT OR REPLACE INTO journal VALUES (?, ?)", (-number, body))


def read_part(connection: sqlite3.Connection, number: int, seq: int) -> Part:
    """Return part `number` of the checkpoint as of journal row `seq`. Raises `Damage` if it is missing, was
    altered, or belongs to another checkpoint."""
    where = f"part {number} of the checkpoint"
    row = connection.execute("SELECT body FROM journal WHERE seq = ?", (-number,)).fetchone()
    if row is None:
        raise Damage(where, "missing")
    return _decode(_zstd.decompress(opened(row[0], where, seq_bytes(-number), seq_bytes(seq))))


def read_parts(connection: sqlite3.Connection, totals: Totals) -> Iterator[Part]:
    """Yield the parts that are in effect and may not be merged yet."""
    for number in range(1, totals.parts + 1):
        yield read_part(connection, number, totals.seq)


def with_parts(totals: bytes, count: int) -> bytes:
    """Return the encoded `totals` with `count` parts that overlay the tables."""
    return _encode(replace(decode_totals(totals), parts=count))


class Overlay:
    """The rows of the tables as the checkpoint says, while parts of it are not merged yet.

    Each method takes the rows of a table and returns the rows that count. Without parts these are the same.
    """

    def __init__(self, parts: Iterable[Part]) -> None:
        # The state of each changed stream, and the groups that it has, by serial.
        self._streams: dict[int, bytes] = {}
        self._groups: dict[int, list[tuple[bytes, bytes]]] = {}
        self._heads: dict[tuple[int, bytes], bytes] = {}
        # Blocks and streams that the checkpoint no longer has.
        self._removed: set[tuple[int, bytes]] = set()
        self._gone: set[int] = set()
        for part in parts:
            self._streams.update(part.streams)
            for serial, name, body in part.groups:
                self._groups.setdefault(serial, []).append((name, body))
            self._heads.update(((serial, first_id), head) for serial, first_id, head in part.heads)
            self._removed.update(part.removed)
            self._gone.update(part.gone)

    def __bool__(self) -> bool:
        return bool(self._streams or self._heads or self._removed or self._gone)

    def streams(self, rows: Iterable[tuple[Any, ...]]) -> Iterable[tuple[Any, ...]]:
        """Return serial and state of each stream; `rows` and the result are in the order of the serials.
        O(streams log streams)."""
        if not self:
            return rows
        stored = {serial: body for serial, body in rows if serial not in self._gone}
        return sorted((stored | self._streams).items())

    def groups_of(self, serial: int, rows: Iterable[tuple[Any, ...]]) -> Iterable[tuple[Any, ...]]:
        """Return name and state of each group of the stream `serial`, whose rows are `rows`."""
        return self._groups.get(serial, []) if serial in self._streams else rows

    def groups(self, rows: Iterable[tuple[Any, ...]]) -> Iterable[tuple[Any, ...]]:
        """Return serial, name and state of each group, in no order."""
        yield from (row for row in rows if row[0] not in self._streams and row[0] not in self._gone)
        for serial, groups in self._groups.items():
            yield from ((serial, name, body) for name, body in groups)

    def heads(self, rows: Iterable[tuple[Any, ...]]) -> Iterable[tuple[Any, ...]]:
        """Return serial, first id and head of each block, in no order."""
        return self._heads_over(rows) if self else rows

    def _heads_over(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        replaced = self._removed | self._heads.keys()
        yield from (row for row in rows if row[0] not in self._gone and (row[0], row[1]) not in replaced)
        yield from ((serial, first_id, head) for (serial, first_id), head in self._heads.items())
