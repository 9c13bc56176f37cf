"""The rows of the journal before their commit, and the parts of large rows.

With `--durability interval`, a row has all effects of a second. Encoding them in one step would hold the
interpreter's lock for a tenth of a second under load, and until then all their entries would stay in memory.
So the writer thread encodes and compresses a large row in parts, before the commit. This module owns the
size and the order of the parts. It never commits.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from tailrace.core.effects import Effect, EntriesAppended
from tailrace.core.storage import journal
from tailrace.core.storage.records import encode_effects

PART_BYTES: Final = 1 << 20
"""The collected effects become a part when they have about this many bytes: encoding them takes less than
1 ms, and larger parts do not compress better. A larger import becomes several parts with some of its entries
each: the row, and with it the import, stays all or nothing."""

_EFFECT_BYTES: Final = 64
"""What each effect counts as, without its entries."""


def estimated_bytes(effects: Sequence[Effect]) -> int:
    """Return about how many bytes `effects` take: the entries of an effect count as if all had the size of
    the first one. O(effects)."""
    size_bytes = _EFFECT_BYTES * len(effects)
    for effect in effects:
        if type(effect) is EntriesAppended:
            fragments = effect.fragments
            size_bytes += len(fragments) * len(fragments[0])
    return size_bytes


def _bytes_of(effect: Effect) -> int:
    """As `estimated_bytes`, but with the size of each entry: a small first entry hides how large the others
    are. O(entries) in C, for the thread."""
    return _EFFECT_BYTES + (sum(map(len, effect.fragments)) if type(effect) is EntriesAppended else 0)


def _portions(effects: Iterable[Effect]) -> Iterator[list[Effect]]:
    """Divide `effects` into portions of about twice `PART_BYTES` at most. None is empty. A replay of the
    portions has the same result."""
    some: list[Effect] = []
    size_bytes = 0
    for effect in effects:
        for piece in _pieces(effect):
            piece_bytes = _bytes_of(piece)
            if some and size_bytes + piece_bytes > 2 * PART_BYTES:
                yield some
                some, size_bytes = [], 0
            some.append(piece)
            size_bytes += piece_bytes
    if some:
        yield some


def _pieces(effect: Effect) -> Iterator[Effect]:
    """Divide a large append into appends of at most `PART_BYTES`, or of one entry."""
    if type(effect) is not EntriesAppended or _bytes_of(effect) <= 2 * PART_BYTES:
        yield effect
        return
    ids, fragments = effect.ids, effect.fragments
    ends = list(accumulate(map(len, fragments), initial=0))
    start = 0
    while start < len(fragments):
        stop = max(bisect_right(ends, ends[start] + PART_BYTES, start) - 1, start + 1)
        yield EntriesAppended(effect.key, ids[start:stop], fragments[start:stop])
        start = stop


class RowParts:
    """The parts of one row. Only the writer thread calls the methods."""

    __slots__ = ("_parts", "_size_bytes")

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size_bytes = 0

    def add(self, effects: Sequence[Effect]) -> None:
        """Add parts that have `effects`, mostly one. O(bytes). Between two parts, other threads can run."""
        for some in _portions(effects):
            body = encode_effects(some)
            self._size_bytes += len(body)
            self._parts.append(journal.part_of(body))

    def row(self, effects: Sequence[Effect]) -> tuple[bytes, int]:
        """Return the row with the effects of all parts, and of `effects` after them, and its bytes before
        compression. O(compressed bytes)."""
        self.add(effects)
        return journal.row_of(self._parts, self._size_bytes), self._size_bytes


class Row(NamedTuple):
    """The effects of one journal row, and how many commands or transactions they belong to."""

    seq: int
    effects: Sequence[Effect]
    """The effects after those of the parts."""
    command_count: int
    parts: RowParts | None = None
    """The first effects of a large row. The thread encodes them before it encodes the row."""

    def encoded(self) -> tuple[bytes, int]:
        """Return the row for the journal, and its bytes before compression. Call it in the thread. O(bytes
        that are not encoded yet)."""
        if self.parts is not None:
            return self.parts.row(self.effects)
        body = encode_effects(self.effects)
        return body, len(body)
