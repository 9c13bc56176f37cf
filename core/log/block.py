r"""A block: some consecutive entries of one stream, open for appending or sealed and compressed.

The block is the unit of approximate trimming (Redis's macro node), of compression and of the cache::

    open      ids [i0 i1 i2 ...]   fragments [f0 f1 f2 ...]      two lists, in order of appending
    full      the same; no entry is added any more, and the block waits to be sealed (`core.log.sealing`)
    sealed    zstd( ids | f0 \n f1 \n f2 ... )                    one bytes object (`core.log.stored_block`)
    holes     0b00101  ->  positions 0 and 2 are deleted          in every state

A position is an entry's index in its block and never changes. Deleting an entry makes a hole. When half of a
sealed block is holes, the block is compressed again without their fragments.

A block never knows its neighbours, and never looks into an entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tailrace.core.log.decoded import Decoded
from tailrace.core.log.node_size import ENTRY_OVERHEAD_BYTES, NodeLimits, fill, measure
from tailrace.core.log.stored_block import Source, StoredBlock, content_size, make_payload
from tailrace.core.stream_id import StreamId

_new_block: Final = object.__new__

_NO_FRAGMENTS: Final[list[bytes]] = []
"""The fragments of all sealed blocks: a list for each would take as much memory as ten entries."""


class Block(StoredBlock):
    """Some consecutive entries of a stream; `StoredBlock` describes the other fields."""

    __slots__ = ("_ids", "open_fragments", "size_bytes", "skeleton_bytes")

    def __init__(self, first_id: StreamId, first_fragment: bytes) -> None:
        """Make an open, empty block whose first entry will be this one. O(bytes) up to
        `MEASURED_BYTES_MAX`."""
        self.first_id = first_id
        self.last_id = first_id
        self.count = 0
        self.holes = 0
        self._payload, self._source, self.cached = b"", None, None
        self.filed_under = ()
        self.stored = False
        self.changed = False
        self.fragment_bytes = 0
        # The ids of an open block; None if the block is sealed. A range only in a full block.
        self._ids: list[StreamId] | range | None = []
        # The fragments of an open block; those of holes are empty.
        self.open_fragments: list[bytes] = []
        # Open: the estimated bytes of a macro node (`core.log.node_size`). Sealed with one position: the
        # result of `least_bytes`, 0 until it is known. Otherwise unused.
        names_bytes, skeleton_bytes = measure(first_fragment)
        self.size_bytes = names_bytes + ENTRY_OVERHEAD_BYTES
        # Bytes of the first fragment without its values; used while the block is open.
        self.skeleton_bytes = skeleton_bytes

    @classmethod
    def filled(
        cls,
        ids: list[StreamId] | range,
        fragments: list[bytes],
        size_bytes: int,
        skeleton_bytes: int,
        fragment_bytes: int = 0,
        holes: int = 0,
    ) -> Block:
        """Make an open block that takes over these lists. If it is to grow, `keep_open` must follow. O(1)."""
        block = _new_block(cls)
        block.first_id, block.last_id = ids[0], ids[-1]
        block.count, block.holes = len(fragments), holes
        block._ids, block.open_fragments = ids, fragments
        block._payload, block._source, block.cached = b"", None, None
        block.filed_under = ()
        block.stored = block.changed = False
        block.fragment_bytes = fragment_bytes
        block.size_bytes, block.skeleton_bytes = size_bytes, skeleton_bytes
        return block

    @classmethod
    def restored(
        cls,
        first_id: StreamId,
        last_id: StreamId,
        count: int,
        holes: int,
        fragment_bytes: int,
        source: Source | None,
        filed_under: tuple[int, ...] = (),
    ) -> Block:
        """Make a sealed block that storage holds. Its payload is read from `source` when needed. O(1)."""
        block = cls.__new__(cls)
        block.first_id, block.last_id = first_id, last_id
        block.count, block.holes = count, holes
        block._ids, block.open_fragments = None, _NO_FRAGMENTS
        block._payload, block._source, block.cached = b"", source, None
        block.filed_under = filed_under
        block.stored, block.changed = True, False
        block.size_bytes = block.skeleton_bytes = 0
        block.fragment_bytes = fragment_bytes
        return block

    def copy(self, filed_under: tuple[int, ...]) -> Block:
        """Return the same entries as a block of another stream, not stored yet. O(1) if sealed: both blocks
        share the payload, which is replaced and never changed. Else O(entries)."""
        twin = _new_block(Block)
        twin.first_id = self.first_id
        twin.last_id = self.last_id
        twin.count = self.count
        twin.holes = self.holes
        if self._ids is None:
            twin._ids, twin.open_fragments = None, self.open_fragments
        else:
            twin._ids, twin.open_fragments = list(self._ids), self.open_fragments.copy()
        twin._payload, twin._source, twin.cached = self._payload, self._source, None
        twin.filed_under = filed_under
        twin.stored = False
        twin.changed = False
        twin.fragment_bytes = self.fragment_bytes
        twin.size_bytes = self.size_bytes
        twin.skeleton_bytes = self.skeleton_bytes
        return twin

    # --- state ---------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """Whether the block is not sealed: it is the last block of its log, or full and waiting to be
        sealed."""
        return self._ids is not None

    @property
    def is_filed_elsewhere(self) -> bool:
        """Whether storage holds the payload only under a stream that this block was copied from."""
        return not (self.is_open or self.stored or self._payload)

    # --- appending -----------------------------------------------------------------------------

    def append(self, value: StreamId, fragment: bytes, limits: NodeLimits) -> bool:
        """Append one entry, if the block is open and has room for it; return whether it did. O(1).

        An empty block always has room. See `core.log.node_size` for the estimate of the size.
        """
        ids, count = self._ids, self.count
        if ids is None or count >= limits.entries_max:
            return False
        size_bytes = self.size_bytes + ENTRY_OVERHEAD_BYTES
        excess_bytes = len(fragment) - self.skeleton_bytes
        if excess_bytes > 0:
            size_bytes += excess_bytes
        if size_bytes >= limits.size_bytes_max and count:
            return False
        ids.append(value)  # type: ignore[union-attr] # a list: see `keep_open`
        self.open_fragments.append(fragment)
        self.count = count + 1
        self.last_id = value
        self.size_bytes = size_bytes
        return True

    def extend(self, ids: Sequence[StreamId], fragments: Sequence[bytes], limits: NodeLimits) -> int:
        """Append the first entries of an append, as many as the block has room for; return how many. 0 if the
        block is full or sealed. O(entries that the number of entries leaves room for) in C."""
        most = limits.entries_max - self.count
        if self._ids is None or most <= 0:
            return 0
        lengths = list(map(len, fragments[:most]))
        stop, self.size_bytes, _ = fill(lengths, 0, limits, self.count, self.size_bytes, self.skeleton_bytes)
        if stop:
            self._ids += ids[:stop]  # type: ignore[operator] # a list: see `keep_open`
            self.open_fragments += fragments[:stop]
            self.count += stop
            self.last_id = ids[stop - 1]
        return stop

    def keep_open(self) -> None:
        """Prepare the block for `append` after `filled`, which keeps consecutive ids as a range: most blocks
        of a large append are full at once."""
        if isinstance(self._ids, range):
            self._ids = list(self._ids)

    @property
    def open_bytes(self) -> int:
        """The bytes of the fragments of an open block, 0 for a sealed one. O(entries)."""
        return sum(map(len, self.open_fragments))

    def seal(self, text: bytes | None = None) -> int:
        """Compress the open block, which can only lose entries from now on. O(bytes). Returns how many bytes
        were compressed. `text`: the fragments with a newline between two of them, if they are joined
        already."""
        assert self._ids is not None, "sealed already"
        if self.count == 1:
            self.size_bytes = len(self.open_fragments[0])
        if text is None:
            text = b"\n".join(self.open_fragments)
        self._payload, packed_bytes = make_payload(self._ids, text)
        self._ids = None
        self.open_fragments = _NO_FRAGMENTS
        return packed_bytes

    # --- reading -------------------------------------------------------------------------------

    def decode(self) -> Decoded:
        """Return the entries by position. O(bytes) if sealed; the block's own lists if open."""
        if self._ids is not None:
            return Decoded(self._ids, self.open_fragments)
        return self.unpack().decoded()

    def least_bytes(self) -> int:
        """Return a lower bound of the bytes in a reply, for a block with one position.

        Decompresses nothing. O(1); a restored block reads its payload once.
        """
        assert self.count == 1, "only the entry of a block of one has the block's size"
        if self._ids is not None:
            return len(self.open_fragments[0])
        if not self.size_bytes:
            self.size_bytes = content_size(self.payload())
        return self.size_bytes

    # --- deleting ------------------------------------------------------------------------------

    def remove(self, positions: Sequence[int]) -> bool:
        """Make holes at `positions`, which are live. Return whether the payload was replaced, so that a
        cached `decode()` keeps fragments of holes in memory for nothing; it stays correct. O(positions), and
        O(bytes) when half of a sealed block is holes."""
        for position in positions:
            self.holes |= 1 << position
        self.changed = True
        if self._ids is not None:
            for position in positions:
                self.open_fragments[position] = b""
            return False
        return self._repack_if_half_empty(len(positions))

    def _repack_if_half_empty(self, newly_removed: int) -> bool:
        dead = self.holes.bit_count()
        half = self.count // 2
        if dead == self.count or not dead - newly_removed < half <= dead:
            return False
        decoded = self.decode()
        kept = [b"" if self.holes >> i & 1 else fragment for i, fragment in enumerate(decoded.fragments)]
        self._payload, _ = make_payload(decoded.ids, b"\n".join(kept))
        return True
