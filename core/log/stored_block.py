"""The part of a block that storage knows: its id bounds, its positions, and where its payload is.

A sealed block's payload is in memory until a checkpoint has stored it, and is read from storage afterwards.
If the block is compressed again, the new payload is in memory until the next checkpoint. This module never
reads storage itself: it calls the source that storage provides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tailrace.core.log.decoded import Decoded, Packed
from tailrace.core.log.payload import read_payload
from tailrace.core.stream_id import StreamId


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
    """The deleted positions as bits (`core.log.holes`)."""
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
