"""A block's entries in memory, by position, with a search for the position of an id.

A decompressed block and an open block each have one. It never changes a block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from tailrace.core.log.id_sequence import position_of
from tailrace.core.stream_id import StreamId

PositionOf: TypeAlias = Callable[[StreamId], int | None]
"""Returns the position of an id in a block, None if the id is not there. Holes have positions, too."""


class Decoded:
    """The entries of one block by position."""

    __slots__ = ("fragments", "ids", "position_of", "size_bytes")

    def __init__(self, ids: Sequence[StreamId], fragments: Sequence[bytes], size_bytes: int = 0) -> None:
        # The ids, rising, those of holes included.
        self.ids = ids
        # The entries in their stored form; that of a hole may be empty.
        self.fragments = fragments
        # Bytes of ids and fragments when packed, without Python's objects; 0 for an open block.
        self.size_bytes = size_bytes
        # Finds an id's position: O(1) for consecutive ids and after `index`, else O(log n).
        self.position_of: PositionOf = _of_range(ids) if isinstance(ids, range) else partial(_search, ids)

    def index(self) -> None:
        """Make a table of positions, if the search is not O(1) yet. Costs as much as ten searches."""
        if isinstance(self.position_of, partial):
            self.position_of = {value: position for position, value in enumerate(self.ids)}.get


def _of_range(ids: range) -> PositionOf:
    first, end = ids.start, ids.stop
    return lambda value: value - first if first <= value < end else None


def _search(ids: Sequence[StreamId], value: StreamId) -> int | None:
    position = position_of(ids, value)
    return position if position >= 0 else None
