"""A consumer of a group: its name, its activity times, and how many entries it has.

It never knows which entries these are: `SegmentTable.owned` does.
"""

from __future__ import annotations

from typing import Final

NEVER_ACTIVE_MS: Final = -1
"""`active_at_ms` of a consumer that never received an entry."""


class Consumer:
    """One consumer of one group."""

    __slots__ = ("active_at_ms", "name", "pending_count", "seen_at_ms")

    def __init__(self, name: bytes, seen_at_ms: int) -> None:
        self.name = name
        # Unix time of the last attempt to read or claim, successful or not (rule 33).
        self.seen_at_ms = seen_at_ms
        # Unix time of the last read or claim that returned an entry; NEVER_ACTIVE_MS before the first one.
        self.active_at_ms = NEVER_ACTIVE_MS
        # Entries that the consumer owns. Only `core.pending` changes it.
        self.pending_count = 0
