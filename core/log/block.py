r"""A block: some consecutive entries of one stream, open for appending or sealed and compressed.

The block is the unit of approximate trimming (Redis's macro node), of compression and of the cache::

    open      ids [i0 i1 i2 ...]   fragments [f0 f1 f2 ...]      two lists, as they come
    full      the same; nothing is appended any more, and it waits to be sealed (`core.log.sealing`)
    sealed    zstd( ids | f0 \n f1 \n f2 ... )                    one bytes object
    holes     0b00101  ->  positions 0 and 2 are deleted          in either state

A position is an entry's place in its block and never changes. Deleting marks a hole; when half of a
sealed block is holes, it is packed again without their fragments. A block never knows its neighbours.

A sealed block whose payload is on disk may do without it in memory: it asks its source when it must.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple, TypeAlias

import zstandard

from tailrace.core.limits import KIB
from tailrace.core.log.entry import flat_of, names_of
from tailrace.core.log.id_sequence import IdSequence, PackedIds, pack_ids, position_of
from tailrace.core.stream_id import StreamId

COMPRESSION_LEVEL: Final = 1
"""A block is small; higher levels cost three times the time for a few per cent here."""

_HEADER: Final = struct.Struct("<IB")
_RUN, _PACKED = 0, 1

_compress: Final = zstandard.ZstdCompressor(level=COMPRESSION_LEVEL, write_checksum=False).compress
_decompress: Final = zstandard.ZstdDecompressor().decompress

ENTRY_OVERHEAD_BYTES: Final = 8
"""What a Redis macro node spends on an entry beside its values: flags, two deltas, a count."""

_ELEMENT_OVERHEAD_BYTES: Final = 2
"""What a Redis macro node spends around one name or value."""

MEASURED_BYTES_MAX: Final = 64 * KIB
"""A larger fragment fills a macro node by itself: taking it apart, at 1 ms for a MiB, would tell nothing."""


class Decoded:
    """A block's entries by position. Holes are still among them; their fragments may be empty.

    `position_of`: where an id stands, or None. O(1) for consecutive ids and after `index`, else O(log n).
    `size_bytes`: what ids and fragments take without Python's own, as packed; 0 for an open block.
    """

    __slots__ = ("fragments", "ids", "position_of", "size_bytes")

    def __init__(self, ids: Sequence[StreamId], fragments: Sequence[bytes], size_bytes: int = 0) -> None:
        self.ids = ids
        self.fragments = fragments
        self.size_bytes = size_bytes
        self.position_of: PositionOf = _in_run(ids) if isinstance(ids, range) else partial(_search, ids)

    def index(self) -> None:
        """Have a table of positions from now on, where that is faster: it costs as much as ten searches."""
        if isinstance(self.position_of, partial):
            self.position_of = {value: position for position, value in enumerate(self.ids)}.get


PositionOf: TypeAlias = Callable[[StreamId], int | None]


def _in_run(ids: range) -> PositionOf:
    first, end = ids.start, ids.stop
    return lambda value: value - first if first <= value < end else None


def _search(ids: Sequence[StreamId], value: StreamId) -> int | None:
    position = position_of(ids, value)
    return position if position >= 0 else None


_new_block: Final = object.__new__


class NodeLimits(NamedTuple):
    """`stream-node-max-entries` and `stream-node-max-bytes`; 0 is no limit."""

    entries: int
    size_bytes: int


Source: TypeAlias = Callable[["Block"], bytes]
"""Gives the payload of a block that storage holds."""


class Block:
    """See the module. Ids rise; `first_id` and `last_id` are of positions, deleted or not."""

    __slots__ = (
        "_ids",
        "_open_fragments",
        "_payload",
        "_source",
        "changed",
        "count",
        "filed_under",
        "first_id",
        "holes",
        "last_id",
        "size_bytes",
        "skeleton_bytes",
        "stored",
    )

    def __init__(self, first_id: StreamId, first_fragment: bytes) -> None:
        """An open block made for the entry that is about to be its first.

        `stored`: it has been given to storage; `changed`: and has lost entries since. `filed_under`: the
        serials of the streams under which storage may hold the payload: its own first, then those of the
        streams that it was copied from and that still hold it. `size_bytes`: of an open block, what a macro
        node takes; of a sealed one with one entry, `least_bytes` once it is known.
        """
        self.first_id = first_id
        self.last_id = first_id
        self.count = 0
        self.holes = 0
        self._ids: list[StreamId] | range | None = []
        self._open_fragments: list[bytes] = []
        self._payload = b""
        self._source: Source | None = None
        self.filed_under: tuple[int, ...] = ()
        self.stored = False
        self.changed = False
        names_bytes, self.skeleton_bytes = _measure(first_fragment)
        self.size_bytes = names_bytes + ENTRY_OVERHEAD_BYTES

    @classmethod
    def restored(
        cls,
        first_id: StreamId,
        last_id: StreamId,
        count: int,
        holes: int,
        source: Source | None,
        filed_under: tuple[int, ...] = (),
    ) -> Block:
        """A sealed block as storage knows it; its payload stays there until it is asked for."""
        block = cls.__new__(cls)
        block.first_id, block.last_id = first_id, last_id
        block.count, block.holes = count, holes
        block._ids, block._open_fragments = None, []
        block._payload, block._source = b"", source
        block.filed_under = filed_under
        block.stored, block.changed = True, False
        block.size_bytes = block.skeleton_bytes = 0
        return block

    @classmethod
    def restored_open(
        cls,
        ids: list[StreamId],
        fragments: list[bytes],
        holes: int,
        size_bytes: int,
        skeleton_bytes: int,
    ) -> Block:
        """An open block as it was."""
        block = cls.restored(ids[0], ids[-1], len(ids), holes, None)
        block._ids, block._open_fragments = ids, fragments
        block.stored = False
        block.size_bytes, block.skeleton_bytes = size_bytes, skeleton_bytes
        return block

    def copy(self, filed_under: tuple[int, ...]) -> Block:
        """The same entries, as a block of another stream that storage does not hold yet. O(1) where sealed:
        a payload never changes, it is only replaced."""
        twin = _new_block(Block)
        twin.first_id = self.first_id
        twin.last_id = self.last_id
        twin.count = self.count
        twin.holes = self.holes
        if self._ids is None:
            twin._ids, twin._open_fragments = None, self._open_fragments
        else:
            twin._ids, twin._open_fragments = list(self._ids), self._open_fragments.copy()
        twin._payload = self._payload
        twin._source = self._source
        twin.filed_under = filed_under
        twin.stored = False
        twin.changed = False
        twin.size_bytes = self.size_bytes
        twin.skeleton_bytes = self.skeleton_bytes
        return twin

    @property
    def is_filed_elsewhere(self) -> bool:
        """Whether storage holds the payload, but only as that of the stream that the block is a copy of."""
        return not (self.is_open or self.stored or self._payload)

    def has_source(self, source: Source) -> bool:
        """Whether `source` is asked for the payload, or was before the block was packed anew."""
        return self._source is source

    @property
    def live(self) -> int:
        """How many positions are not holes. O(count / 64)."""
        return self.count - self.holes.bit_count()

    @property
    def is_run(self) -> bool:
        """Whether the ids are consecutive, so that an id's position is its distance from the first one."""
        return self.last_id - self.first_id == self.count - 1

    @property
    def is_open(self) -> bool:
        """Whether the block is not sealed: it is the last of its log, or full and waits to be sealed."""
        return self._ids is not None

    # --- appending -----------------------------------------------------------------------------

    def append(self, value: StreamId, fragment: bytes, limits: NodeLimits) -> bool:
        """Append one entry if it belongs into this block: False where it does not, or is sealed. O(1).

        What it adds to a macro node as Redis would have it is estimated: names are stored once a node as
        long as they do not change, so that counts what it has beyond the first one's names and punctuation.
        """
        most, most_bytes = limits
        ids = self._ids
        if ids is None or (most and self.count >= most):
            return False
        size_bytes = self.size_bytes + ENTRY_OVERHEAD_BYTES
        if len(fragment) > self.skeleton_bytes:
            size_bytes += len(fragment) - self.skeleton_bytes
        if most_bytes and self.count and size_bytes >= most_bytes:
            return False
        ids.append(value)  # type: ignore[union-attr] # a list: see `keep_open`
        self._open_fragments.append(fragment)
        self.count += 1
        self.last_id = value
        self.size_bytes = size_bytes
        return True

    def extend(
        self,
        ids: Sequence[StreamId],
        fragments: Sequence[bytes],
        lengths: Sequence[int],
        start: int,
        limits: NodeLimits,
    ) -> int:
        """Append as many of the entries from `start` on as belong into this block, 0 if it is full or sealed;
        how many. `lengths`: those of `fragments`. O(entries appended), however many more there are."""
        if self._ids is None:
            return 0
        stop, self.size_bytes = self._reach(lengths, start, limits)
        if stop > start:
            self._add_ids(ids[start:stop])
            self._open_fragments += fragments[start:stop]
            self.count += stop - start
            self.last_id = ids[stop - 1]
        return stop - start

    def _reach(self, lengths: Sequence[int], start: int, limits: NodeLimits) -> tuple[int, int]:
        """Where the entries from `start` on that belong into this block end, and what it takes with them: as
        `append` would have it, one by one. Entries that are about as long as the first one go in one look."""
        most, most_bytes = limits
        end = min(len(lengths), start + most - self.count) if most else len(lengths)
        size_bytes, skeleton_bytes, stop = self.size_bytes, self.skeleton_bytes, start
        shared = skeleton_bytes - ENTRY_OVERHEAD_BYTES
        if not self.count:
            size_bytes += max(lengths[start] - shared, ENTRY_OVERHEAD_BYTES)
            stop += 1
        if stop < end:
            each = max(lengths[stop] - shared, ENTRY_OVERHEAD_BYTES)
            likely = min(end, stop + (most_bytes - size_bytes - 1) // each) if most_bytes else end
            some = lengths[stop:likely] if likely > stop else ()
            if some and min(some) >= skeleton_bytes:
                grown_bytes = size_bytes + sum(some) - len(some) * shared
                if not most_bytes or grown_bytes < most_bytes:
                    stop, size_bytes = likely, grown_bytes
        while stop < end:
            grown_bytes = size_bytes + max(lengths[stop] - shared, ENTRY_OVERHEAD_BYTES)
            if most_bytes and grown_bytes >= most_bytes:
                break
            stop, size_bytes = stop + 1, grown_bytes
        return stop, size_bytes

    def _add_ids(self, ids: Sequence[StreamId]) -> None:
        if not self.count and isinstance(ids, range):
            self._ids = ids
        else:
            self.keep_open()
            self._ids += ids  # type: ignore[operator] # a list now

    def keep_open(self) -> None:
        """Make the last block ready for `append` after `extend`, which keeps the ids of a block that it fills
        at once as a range: a list of them would take as long as all the rest."""
        if isinstance(self._ids, range):
            self._ids = list(self._ids)

    def seal(self) -> int:
        """Pack and compress; from now on the block only loses entries. O(bytes), and that is how many
        bytes were compressed."""
        assert self._ids is not None, "sealed already"
        if self.count == 1:
            self.size_bytes = len(self._open_fragments[0])
        packed = _packed(pack_ids(self._ids), self._open_fragments)
        self._payload = _compressed(packed)
        self._ids = None
        self._open_fragments = []
        return len(packed)

    # --- reading -------------------------------------------------------------------------------

    @property
    def packed_bytes(self) -> int:
        """What a sealed block's payload takes in memory, 0 for an open one, or where it is on disk."""
        return len(self._payload)

    def payload(self) -> bytes:
        """The packed entries of a sealed block, from storage where they are not in memory."""
        if self._payload or self._source is None:
            return self._payload
        return self._source(self)

    def least_bytes(self) -> int:
        """A lower bound of the bytes that the entry of a block of one takes in a reply, 0 for other blocks.

        Decompresses nothing. O(1); a block that storage gave reads its payload once.
        """
        if self.count > 1:
            return 0
        if self._ids is not None:
            return len(self._open_fragments[0])
        if not self.size_bytes:
            # One id is a run, which takes no bytes.
            self.size_bytes = max(zstandard.frame_content_size(self.payload()) - _HEADER.size, 1)
        return self.size_bytes

    def release(self, source: Source, filed_under: tuple[int, ...] = ()) -> None:
        """The payload is safely stored: drop it from memory, and ask `source` from now on."""
        self._source = source
        self.filed_under = filed_under
        self._payload = b""

    def decode(self) -> Decoded:
        """The entries by position; O(bytes) where sealed, else the live lists themselves."""
        if self._ids is not None:
            return Decoded(self._ids, self._open_fragments)
        return _unpack(self.payload(), self.first_id)

    # --- deleting ------------------------------------------------------------------------------

    def remove(self, positions: Sequence[int]) -> bool:
        """Make holes at `positions`, which are live. True: the block was packed anew.

        The caller's copy of `decode()` stays right either way, but for the fragments of holes.
        """
        for position in positions:
            self.holes |= 1 << position
        self.changed = True
        if self._ids is not None:
            for position in positions:
                self._open_fragments[position] = b""
            return False
        return self._repack_if_half_empty(len(positions))

    def _repack_if_half_empty(self, newly_removed: int) -> bool:
        dead = self.holes.bit_count()
        half = self.count // 2
        if dead == self.count or not dead - newly_removed < half <= dead:
            return False
        decoded = self.decode()
        kept = [b"" if self.holes >> i & 1 else fragment for i, fragment in enumerate(decoded.fragments)]
        self._payload = _compressed(_packed(pack_ids(decoded.ids), kept))
        return True

    def first_live_position(self) -> int:
        """The lowest position that is no hole; there is one."""
        return self.first_live_from(0)

    def last_live_position(self) -> int:
        """The highest position that is no hole; there is one."""
        return (~self.holes & ((1 << self.count) - 1)).bit_length() - 1

    def first_live_from(self, position: int) -> int:
        """The lowest position from `position` on that is no hole; the block's end or above where there is
        none."""
        holes = self.holes >> position
        return position + (~holes & (holes + 1)).bit_length() - 1

    def first_hole_from(self, position: int, end: int) -> int:
        """The lowest hole from `position` on, `end` where there is none below it."""
        holes = self.holes >> position
        return min(position + (holes & -holes).bit_length() - 1, end) if holes else end

    def live_positions(self, low: int, high: int) -> Sequence[int]:
        """The live positions in ``[low, high)``, rising. O(1) without holes."""
        if not self.holes:
            return range(low, high)
        holes = self.holes
        return [position for position in range(low, high) if not holes >> position & 1]


def _measure(fragment: bytes) -> tuple[int, int]:
    """Bytes that a macro node spends on the names of `fragment`, and the fragment without values.

    Both are 0 for a large one, which is not looked into: its values are nearly all of it.
    """
    if len(fragment) > MEASURED_BYTES_MAX:
        return 0, 0
    if fragment[:1] == b"{" and b"\\" not in fragment:
        # Without escapes and values, a field has four quotation marks, a colon and a comma beside its name;
        # the overhead is told apart.
        names = names_of(fragment)
        names_bytes, count = len("".join(names).encode()), len(names)
        return names_bytes + _ELEMENT_OVERHEAD_BYTES * count, names_bytes + 4 * count + 1
    flat = flat_of(fragment)
    overhead = _ELEMENT_OVERHEAD_BYTES * (len(flat) // 2)
    values_bytes = sum(map(len, flat[1::2]))
    return sum(map(len, flat[::2])) + overhead, len(fragment) - values_bytes - overhead


def _packed(ids: IdSequence, fragments: Sequence[bytes]) -> bytes:
    if isinstance(ids, range):
        head = _HEADER.pack(len(ids), _RUN)
    else:
        head = _HEADER.pack(len(ids), _PACKED) + ids.to_bytes()
    return head + b"\n".join(fragments)


def _compressed(packed: bytes) -> bytes:
    # The compressor's buffer is as large as the worst case; an exact copy keeps the heap from holes.
    return bytes(memoryview(_compress(packed)))


def _unpack(payload: bytes, first_id: StreamId) -> Decoded:
    raw = _decompress(payload)
    count, kind = _HEADER.unpack_from(raw)
    start = _HEADER.size
    if kind == _RUN:
        # One large entry is copied once.
        fragments = [raw[start:]] if count == 1 else raw[start:].split(b"\n")
        return Decoded(range(first_id, first_id + count), fragments, len(raw))
    end = start + 16 * count
    return Decoded(list(PackedIds.from_bytes(raw[start:end])), raw[end:].split(b"\n"), len(raw))
