"""Waiting reads that gather entries (`min_count`, `linger_ms`): they count, and take nothing meanwhile.

It owns when such a read has waited long enough. A plain read counts each entry once, by reading it; the
engine counts for a group. It sends nothing.
"""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from tailrace.app.remote.readers.parts import AnyRead
from tailrace.core.commands import Batch, Malformed, Read, ReadFrom, ReadGroup, ReadLimits, Special
from tailrace.core.replies import ReadReply, StreamRead
from tailrace.core.stream_id import ZERO_ID


def gathering_of(command: AnyRead) -> Gathering | None:
    """Return how the read gathers entries; None if it does not, or shows a history."""
    if command.batch is None or command.block_ms is None:
        return None
    if isinstance(command, ReadGroup) and any(isinstance(each.after, int) for each in command.streams):
        return None
    if any(isinstance(each.after, Malformed) for each in command.streams):
        return None
    return Gathering(command, command.batch)


class Gathering:
    """The state of one read. `available`: how many entries it has counted."""

    def __init__(self, command: AnyRead, batch: Batch) -> None:
        self._batch = batch
        self._until_s: float | None = None
        self.available = 0
        # Where the next look of a plain read counts on.
        self._counted = command.streams

    @property
    def min_count(self) -> int:
        """Return how many entries the read waits for."""
        return self._batch.min_count

    @property
    def missing(self) -> int:
        """Return how many entries the read still waits for."""
        return self._batch.min_count - self.available

    # --- counting ------------------------------------------------------------------------------

    def look(self, command: Read) -> Read:
        """Return the read that finds the entries that are not counted yet."""
        return replace(command, streams=self._counted, limits=ReadLimits(self.missing, self.missing))

    def count(self, command: Read, reply: ReadReply) -> Read:
        """Count the entries of a look; return the command with all positions resolved."""
        pairs = list(zip(self._counted, command.streams, reply.streams, strict=True))
        self.available += sum(len(read.entries.ids) for _, _, read in pairs)
        self._counted = tuple(replace(source, after=read.next) for _, source, read in pairs)
        streams = tuple(replace(source, after=_position(source, read)) for _, source, read in pairs)
        return replace(command, streams=streams)

    def begin_again(self, command: AnyRead) -> None:
        """Count again: the read found nothing, so others took what was counted, or it was deleted."""
        self.available, self._until_s, self._counted = 0, None, command.streams

    # --- waiting -------------------------------------------------------------------------------

    def due_s(self, *, is_over: bool) -> float | None:
        """Return when the read may return on the loop's clock, None if only more entries or the end of its
        wait can tell. A time that has passed means now."""
        now_s = asyncio.get_running_loop().time()
        if self.missing <= 0 or is_over:
            return now_s
        linger_ms = self._batch.linger_ms
        if not self.available or linger_ms is None:
            self._until_s = None
        elif self._until_s is None:
            self._until_s = now_s + linger_ms / 1000
        return self._until_s


def _position(source: ReadFrom, read: StreamRead) -> int:
    """Return the position from which the final read starts."""
    if isinstance(source.after, int):
        return source.after
    if source.after is Special.LAST_ENTRY and read.entries.ids:
        return max(read.entries.ids[0] - 1, ZERO_ID)
    return read.next
