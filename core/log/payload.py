r"""The payload of a sealed block: its ids and fragments in one compressed bytes object.

    zstd( count, kind | ids | f0 \n f1 \n f2 ... )

Consecutive ids are not stored: the block knows its first id. Other ids are 16 bytes each. Fragments contain
no newline. This module knows nothing of blocks, and keeps nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

import zstandard

from tailrace.core.log.decoded import Packed
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
