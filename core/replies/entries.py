"""Entries as replies contain them: columns of equal length. This module holds data only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from tailrace.core.stream_id import StreamId


class Entries(Struct, frozen=True, gc=False):
    """Entries in the order of the reply. Item i of each column belongs to entry i."""

    ids: Sequence[StreamId]
    """The ids."""
    fragments: Sequence[bytes | None]
    """The entries in their stored form; None for an entry that was deleted while it was pending."""
    idle_ms: Sequence[int] | None = None
    """Milliseconds since the last delivery before this reply. Group reads only; None: 0 for each entry."""
    deliveries: Sequence[int] | None = None
    """How often each entry was delivered before this reply. Group reads only; None: 0 for each entry."""

    def __len__(self) -> int:
        return len(self.ids)

    def first(self, count: int) -> Entries:
        """Return the first `count` entries, or all if there are fewer. O(count)."""
        return self if count >= len(self.ids) else self.part(0, count)

    def part(self, start: int, stop: int) -> Entries:
        """Return the entries with indexes from `start` up to but not including `stop`. O(stop - start)."""
        return Entries(
            self.ids[start:stop],
            self.fragments[start:stop],
            None if self.idle_ms is None else self.idle_ms[start:stop],
            None if self.deliveries is None else self.deliveries[start:stop],
        )


NO_ENTRIES: Final = Entries((), ())
"""No entries at all."""
