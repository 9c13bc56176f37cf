"""The rows of the journal before they are committed, and the parts of large rows.

With `--durability interval`, a row has all effects of a second. Encoding them in one step would hold the
interpreter's lock for a tenth of a second under load, and until then all their entries would stay in memory.
So the writer thread encodes and compresses a large row in parts, before the commit. This module owns the
size and the order of the parts. It never commits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from tailrace.core.effects import Effect, EntriesAppended
from tailrace.core.storage import journal
from tailrace.core.storage.records import encode_effects

PART_BYTES: Final = 1 << 20
"""A part begins when the collected effects have about this many bytes: encoding them takes below 1 ms, and
larger parts do not compress better."""

_EFFECT_BYTES: Final = 64
"""What each effect counts as, without its entries."""


def estimated_bytes(effects: Sequence[Effect]) -> int:
    """Return about how many bytes `effects` take: the entries of an effect count as if all had the size of
    the first one. O(effects)."""
    size_bytes = _EFFECT_BYTES * len(effects)
    for effect in effects:
        if type(effect) is EntriesAppended:
            size_bytes += len(effect.fragments) * len(effect.fragments[0])
    return size_bytes


class RowParts:
    """The parts of one row. Only the writer thread calls the methods."""

    __slots__ = ("_parts", "_size_bytes")

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size_bytes = 0

    def add(self, effects: Sequence[Effect]) -> None:
        """Add a part that has `effects`. O(bytes)."""
        body = encode_effects(effects)
        self._size_bytes += len(body)
        self._parts.append(journal.part_of(body))

    def row(self, effects: Sequence[Effect]) -> tuple[bytes, int]:
        """Return the row with the effects of all parts, and of `effects` after them, and its bytes before
        compression. O(compressed bytes)."""
        if effects:
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
