r"""A block's entries in memory, by position, with a search for the position of an id.

    Packed    ids | f0 \n f1 \n f2 ...          as decompressed: small, and a lookup copies a part of it
    Decoded   [i0 i1 i2 ...]  [f0 f1 f2 ...]    Python objects: five times as large, and a lookup is free

The first lookup in a `Packed` divides a part of its text. The second one notes where each fragment begins.

A decompressed block has one of both, an open block a `Decoded`. This module never changes a block.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Final, TypeAlias

from tailrace.core.id_keys import table_of
from tailrace.core.log.id_sequence import IdSequence, position_of
from tailrace.core.stream_id import StreamId

PositionOf: TypeAlias = Callable[[StreamId], int | None]
"""Returns the position of an id in a block, None if the id is not there. Holes have positions, too."""

Fragments: TypeAlias = "Sequence[bytes] | Mapping[int, bytes] | Packed | ById"
"""Fragments by position or by id. Raises LookupError where there is none."""

_SHORT_END: Final = 1 << 16
"""Numbers below this one take two bytes in an array."""


class Decoded:
    """The entries of one block by position."""

    __slots__ = ("base", "fragments", "ids", "position_of", "size_bytes", "used_in")

    def __init__(self, ids: Sequence[StreamId], fragments: Sequence[bytes], size_bytes: int = 0) -> None:
        # The ids, rising, those of holes included.
        self.ids = ids
        # The id at position 0 if the ids are a range, else None.
        self.base: StreamId | None = ids.start if isinstance(ids, range) else None
        # The entries in their stored form; that of a hole may be empty.
        self.fragments = fragments
        # Bytes of ids and fragments when packed, without Python's objects; 0 for an open block.
        self.size_bytes = size_bytes
        # The period in which a lookup used the entries last, as the cache counts periods.
        self.used_in = 0
        # Finds an id's position: O(1) for consecutive ids and after `index`, else O(log n).
        self.position_of: PositionOf = _of_range(ids) if isinstance(ids, range) else partial(_search, ids)

    def index(self) -> PositionOf:
        """Make a table of positions, if the search is not O(1) yet, and return the search. Costs as much as
        ten searches."""
        if isinstance(self.position_of, partial):
            self.position_of = table_of(self.ids, range(len(self.ids))).get
        return self.position_of


class Packed:
    """The decompressed entries of one sealed block, as one text of which a lookup copies a fragment."""

    __slots__ = ("_body", "_starts", "_was_read", "_was_soon", "base", "ids", "size_bytes", "used_in")

    def __init__(self, ids: IdSequence, body: bytes, size_bytes: int) -> None:
        # The ids, rising, those of holes included.
        self.ids = ids
        # The id at position 0 if the ids are consecutive, else None.
        self.base: StreamId | None = ids.start if isinstance(ids, range) else None
        # The fragments with a newline between two of them; they contain none.
        self._body = body
        # The bytes of all fragments before each one, and of all. None before the second lookup.
        self._starts: array[int] | None = None
        self._was_read = False
        # Bytes of ids and fragments.
        self.size_bytes = size_bytes
        # The period in which a lookup used the entries last, as the cache counts periods.
        self.used_in = 0
        # Whether that use came soon after the one before.
        self._was_soon = False

    def __getitem__(self, position: int) -> bytes:
        """Return the fragment at `position`, which is not negative. O(fragment) from the third lookup on.
        Raises IndexError."""
        starts = self._starts
        if starts is None:
            return self._read_first(position)
        # Each fragment before this one has a newline.
        return self._body[starts[position] + position : starts[position + 1] + position]

    def _read_first(self, position: int) -> bytes:
        """As `__getitem__`, for the first two lookups. O(bytes) in C: for at most half of the body at the
        first one."""
        after = len(self.ids) - position
        if after <= 0:
            raise IndexError(position)
        if self._was_read:
            lengths = accumulate(map(len, self._body.split(b"\n")), initial=0)
            self._starts = array("H" if len(self._body) < _SHORT_END else "Q", lengths)
            return self[position]
        self._was_read = True
        if position < after:
            return self._body.split(b"\n", position + 1)[position]
        return self._body.rsplit(b"\n", after)[1]

    def position_of(self, value: StreamId) -> int | None:
        """Return the position of an id, None if it is not there. O(log n)."""
        return _search(self.ids, value)

    def note_use(self, period: int) -> bool:
        """Note that a lookup of `period` uses the entries. Return whether both this use and the last one came
        in the same period as the one before, or in the next one. O(1)."""
        was_soon, self._was_soon = self._was_soon, period - self.used_in <= 1
        self.used_in = period
        return was_soon and self._was_soon

    def decoded(self) -> Decoded:
        """Return the same entries as Python objects. O(bytes)."""
        ids = self.ids if isinstance(self.ids, range) else list(self.ids)
        # Splitting would copy a large entry once more.
        fragments = [self._body] if len(ids) == 1 else self._body.split(b"\n")
        return Decoded(ids, fragments, self.size_bytes)


class ById:
    """The fragments of the live entries of a block by id."""

    __slots__ = ("_fragments", "_holes", "_position_of")

    def __init__(self, position_of: PositionOf, fragments: Sequence[bytes] | Packed, holes: int) -> None:
        self._position_of = position_of
        self._fragments = fragments
        self._holes = holes

    def __getitem__(self, value: StreamId) -> bytes:
        """Return the fragment of an id. Costs as much as the search. Raises KeyError."""
        position = self._position_of(value)
        if position is None or self._holes >> position & 1:
            raise KeyError(value)
        return self._fragments[position]


def _of_range(ids: range) -> PositionOf:
    first, end = ids.start, ids.stop
    return lambda value: value - first if first <= value < end else None


def _search(ids: Sequence[StreamId], value: StreamId) -> int | None:
    position = position_of(ids, value)
    return position if position >= 0 else None
