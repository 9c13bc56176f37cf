"""Ids as bytes, because msgpack has no 128-bit integers. This module never reads an entry."""

from __future__ import annotations

from collections.abc import Sequence
from operator import eq
from typing import Final

from tailrace.core.log.id_sequence import ID_BYTES, IdSequence, PackedIds
from tailrace.core.stream_id import StreamId

_RUN: Final = b"R"
_PACKED: Final = b"P"
_EMPTY: Final = b""


def id_bytes(value: StreamId) -> bytes:
    """Return the id as 16 bytes, most significant first, so that the bytes sort in the order of the ids."""
    return value.to_bytes(ID_BYTES, "big")


def id_of(raw: bytes) -> StreamId:
    """Return the id: the inverse of `id_bytes`."""
    return int.from_bytes(raw, "big")


def ids_bytes(ids: Sequence[StreamId]) -> bytes:
    """Return `ids` in their order as bytes. Any number of consecutive rising ids takes 33 bytes."""
    if not ids:
        return _EMPTY
    if len(ids) == 1:
        # Most effects have one id: this is five times as fast as the way below.
        return _RUN + 2 * ids[0].to_bytes(ID_BYTES, "big")
    packed = _packed(ids)
    if isinstance(packed, range):
        return _RUN + id_bytes(packed[0]) + id_bytes(packed[-1])
    return _PACKED + packed.to_bytes()


def _packed(ids: Sequence[StreamId]) -> IdSequence:
    """Return `ids` as runs. The ids may be in any order: those of a claim are in order of delivery."""
    if isinstance(ids, range | PackedIds):
        return ids
    consecutive = range(ids[0], ids[0] + len(ids))
    return consecutive if all(map(eq, ids, consecutive)) else PackedIds.of(ids)


def ids_of(raw: bytes) -> IdSequence:
    """Return the ids: the inverse of `ids_bytes`."""
    if raw == _EMPTY:
        return range(0)
    if raw[:1] == _RUN:
        return range(id_of(raw[1 : 1 + ID_BYTES]), id_of(raw[1 + ID_BYTES :]) + 1)
    return PackedIds.from_bytes(raw[1:])
