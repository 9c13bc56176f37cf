"""The effects on the entries of a stream. This module holds data only."""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core.effects.effect import Effect
from tailrace.core.stream_id import StreamId


class EntriesAppended(Effect, frozen=True):
    """Entries were appended to an existing stream."""

    key: bytes
    """The stream's key."""
    ids: Sequence[StreamId]
    """The ids, rising, all above the stream's last id; at least one."""
    fragments: Sequence[bytes]
    """The entries in their stored form (`core.log.entry`); ``fragments[i]`` belongs to ``ids[i]``."""


class EntriesTrimmed(Effect, frozen=True):
    """The first entries were trimmed. The greatest deleted id does not change (rule 17)."""

    key: bytes
    """The stream's key."""
    count: int
    """How many live entries were trimmed; at least 1."""


class EntriesRemoved(Effect, frozen=True):
    """Live entries were deleted, or trimmed by id."""

    key: bytes
    """The stream's key."""
    ids: Sequence[StreamId]
    """The ids of the entries, rising; at least one."""
    tombstone: bool
    """True: the entries were deleted, and the greatest deleted id rises to the last of them. False: they were
    trimmed, and the greatest trimmed id rises (rule 17)."""
