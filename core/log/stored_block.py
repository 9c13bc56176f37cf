r"""The part of a block that storage knows: its id bounds, its positions, and its payload, or where it is.

A payload is the ids and fragments of a sealed block in one compressed bytes object:

    zstd( count, kind | ids | f0 \n f1 \n f2 ... )

Consecutive ids are not stored: the block knows its first id. Other ids are 16 bytes each. Fragments contain
no newline. A payload is in memory until a checkpoint has stored it, and is read from storage afterwards. If
the block is compressed again, the new payload is in memory until the next checkpoint. This module never reads
storage itself: it calls the source that storage provides.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import zstandard

from tailrace.core.log.decoded import Decoded, Packed
from tailrace.core.log.id_sequence import ID_BYTES, PackedIds, pack_ids
from tailrace.core.log.zstd import Zstd
from tailrace.core.stream_id import StreamId

_HEADER: Final = struct.Struct("<IB")
"""The number of entries, and the kind of the ids."""

_RUN, _PACKED = 0, 1
"""Kinds of ids: consecutive from the block's first id on, or stored as `PackedIds`."""

_zstd: Final = Zstd()


def make_payload(ids: Sequence[StreamId], text: bytes) -> tuple[bytes, int]:
    """Return the payload of entries with rising `ids`, and how many bytes were compressed. O(bytes).

    `text`: the fragments, with a newline between two of them.
    """
    packed_ids = pack_ids(ids)
    if isinstance(packed_ids, range):
        head = _HEADER.pack(len(packed_ids), _RUN)
    else:
        head = _HEADER.pack(len(packed_ids), _PACKED) + packed_ids.to_bytes()
    packed = head + text
    # The compressor's buffer is as large as the worst case. An exact copy avoids gaps in the heap.
    return bytes(memoryview(_zstd.compress(packed))), len(packed)


def read_payload(payload: bytes, first_id: StreamId) -> Packed:
    """Return the entries of a payload of a block that begins with `first_id`. O(bytes)."""
    raw = _zstd.decompress(payload)
    count, kind = _HEADER.unpack_from(raw)
    start = _HEADER.size
    if kind == _RUN:
        return Packed(range(first_id, first_id + count), raw[start:], len(raw))
    end = start + ID_BYTES * count
    return Packed(PackedIds.from_bytes(raw[start:end]), raw[end:], len(raw))


def content_size(payload: bytes) -> int:
    """Return the bytes of the fragment in a payload of one entry, at least 1. Decompresses nothing. O(1)."""
    # One id is a run, which takes no bytes.
    return max(zstandard.frame_content_size(payload) - _HEADER.size, 1)


class StoredBlock:
    """The base class of `core.log.block.Block`, which sets all fields."""

    __slots__ = (
        "_payload",
        "_source",
        "cached",
        "changed",
        "count",
        "filed_under",
        "first_id",
        "fragment_bytes",
        "holes",
        "last_id",
        "stored",
    )

    first_id: StreamId
    """The id of the first position, deleted or not."""
    fragment_bytes: int
    """The bytes of the fragments when the block was full, before later deletions; 0 while the block grows."""
    last_id: StreamId
    """The id of the last position, deleted or not."""
    count: int
    """The number of positions, holes included."""
    holes: int
    """The deleted positions as bits (`core.log.block_index`)."""
    _payload: bytes
    """The compressed entries of a sealed block. Empty if the block is open, or if only storage holds them."""
    _source: Source | None
    """Reads the payload from storage; None until storage holds it."""
    cached: Decoded | Packed | None
    """The decompressed entries, while `core.log.block_cache` keeps them to look single ones up."""
    filed_under: tuple[int, ...]
    """The serials of the streams under which storage may hold the payload: the block's own stream first, then
    the streams that it was copied from."""
    stored: bool
    """Whether a checkpoint has taken the block, as a block of its own stream."""
    changed: bool
    """Whether the block lost entries since that checkpoint."""

    @property
    def live(self) -> int:
        """The number of entries, holes excluded. O(count / 64)."""
        return self.count - self.holes.bit_count()

    @property
    def is_run(self) -> bool:
        """Whether the ids are consecutive, so that an id's position is its distance from the first id.
        O(1)."""
        return self.last_id - self.first_id == self.count - 1

    @property
    def payload_bytes(self) -> int:
        """The bytes of the payload in memory; 0 for an open block, and if only storage holds the payload."""
        return len(self._payload)

    def payload(self) -> bytes:
        """Return the compressed entries of a sealed block, read from storage if they are not in memory.
        Raises what the source raises."""
        if self._payload or self._source is None:
            return self._payload
        return self._source(self)

    def unpack(self) -> Packed:
        """Return the entries of a sealed block, decompressed and not divided. O(bytes)."""
        return read_payload(self.payload(), self.first_id)

    def release(self, source: Source, filed_under: tuple[int, ...] = ()) -> None:
        """Drop the payload, which storage holds, from memory, and read it from `source` from now on. O(1)."""
        self._source = source
        self.filed_under = filed_under
        self._payload = b""

    def has_source(self, source: Source) -> bool:
        """Whether `source` was the last source given to the block, also if the payload is in memory again."""
        return self._source is source


Source: TypeAlias = Callable[[StoredBlock], bytes]
"""Returns the payload of a block that storage holds."""
