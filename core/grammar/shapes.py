"""Ids, entries and maps as RESP2: the shapes that several replies share.

Owns how a value is written; the module of each command decides which values its reply has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, TypeVar

from tailrace.core.grammar.request import Resp, Rows
from tailrace.core.limits import KIB
from tailrace.core.log.entry import flat_of
from tailrace.core.replies import Entries
from tailrace.core.stream_id import SEQ_BITS, U64_MAX, StreamId

T = TypeVar("T")

PIECE_BYTES: Final = 64 * KIB
PIECE_ROWS: Final = 500
"""How many entries of a reply exist as objects at once, at most."""


def id_bulk(value: StreamId) -> bytes:
    """Return an id as a bulk string."""
    return b"%d-%d" % (value >> SEQ_BITS, value & U64_MAX)


def optional_id_bulk(value: StreamId | None) -> bytes | None:
    """Return an id, or nil."""
    return None if value is None else id_bulk(value)


def id_list(ids: Sequence[StreamId]) -> list[Resp]:
    """Return ids as an array of bulk strings."""
    return [id_bulk(value) for value in ids]


def integer_list(values: Sequence[int]) -> Resp:
    """Return integers, or members of an integer enumeration, as an array."""
    return [int(value) for value in values]


def bulk_list(values: Sequence[bytes]) -> Resp:
    """Return names as an array of bulk strings."""
    return list(values)


def map_of(members: dict[bytes, Resp]) -> list[Resp]:
    """Return a map as RESP2 writes it: an array of alternating names and values."""
    return [item for member in members.items() for item in member]


def entry_list(entries: Entries) -> Rows:
    """Return entries as ``[id, [name, value, ...]]``, with nil for the fields of a deleted one. O(bytes) to
    read."""
    return Rows(len(entries), partial(_pieces, entries, ()))


def delivered_list(entries: Entries) -> Rows:
    """Return entries as ``[id, fields, idle-ms, deliveries]`` for XREADGROUP CLAIM; new entries have
    zeros."""
    zeros = [0] * len(entries)
    return Rows(
        len(entries), partial(_pieces, entries, (entries.idle_ms or zeros, entries.deliveries or zeros))
    )


def _pieces(entries: Entries, columns: Sequence[Sequence[int]]) -> Iterator[list[Resp]]:
    """Lists of rows, each of at most `PIECE_ROWS` rows or about `PIECE_BYTES` bytes."""
    rows: list[Resp] = []
    size_bytes = 0
    for value, fragment, *numbers in zip(entries.ids, entries.fragments, *columns, strict=True):
        rows.append([id_bulk(value), fields_of(fragment), *numbers])
        size_bytes += len(fragment or b"")
        if size_bytes >= PIECE_BYTES or len(rows) == PIECE_ROWS:
            yield rows
            rows, size_bytes = [], 0
    if rows:
        yield rows


def row_list(values: Sequence[T], row: Callable[[T], Resp]) -> Rows:
    """Return values as an array with one `row` for each value. O(values) to read."""
    return Rows(len(values), partial(_row_pieces, values, row))


def _row_pieces(values: Sequence[T], row: Callable[[T], Resp]) -> Iterator[list[Resp]]:
    for start in range(0, len(values), PIECE_ROWS):
        yield [row(value) for value in values[start : start + PIECE_ROWS]]


def fields_of(fragment: bytes | None) -> Resp:
    """Return the alternating names and values of an entry, or nil if the entry was deleted."""
    return None if fragment is None else list[Resp](flat_of(fragment))
