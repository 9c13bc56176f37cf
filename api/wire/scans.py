"""Scans: reads a stream in small steps and keeps the entries that match a filter, up to the limits.

One request examines at most `FILTER_SCAN_ENTRIES_MAX` entries and `FILTER_SCAN_BYTES_MAX` bytes; its result
has the position from which the next request continues. The store sees plain reads only, so a scan works with
every store. `api.wire.filtering` tests the entries.
"""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import NamedTuple

from msgspec.structs import replace

from tailrace.api.ports import StreamStore
from tailrace.api.wire.filtering import EntryFilter
from tailrace.core.commands import Range, Read, ReadFrom, ReadLimits
from tailrace.core.limits import (
    FILTER_SCAN_BYTES_MAX,
    FILTER_SCAN_ENTRIES_MAX,
    FILTER_STEP_BYTES,
    PAGE_BYTES_MAX,
)
from tailrace.core.replies import Entries, RangeReply, ReadReply
from tailrace.core.stream_id import StreamId


class Scanned(NamedTuple):
    """The result of a scan. `next`: the last examined id, None if the whole range was examined.
    `incarnation`: that of the stream after a position, if it is known."""

    entries: Entries
    next: StreamId | None
    scanned: int
    incarnation: str | None = None


class Scan:
    """The progress of one scan for up to `most` entries."""

    def __init__(self, wanted: EntryFilter, most: int) -> None:
        self._wanted = wanted
        self._left = most
        self._left_bytes = PAGE_BYTES_MAX
        self._scan_bytes_left = FILTER_SCAN_BYTES_MAX
        self._ids: list[StreamId] = []
        self._fragments: list[bytes | None] = []
        self.scanned = 0
        # The last examined id.
        self.last_id: StreamId | None = None

    @property
    def _is_full(self) -> bool:
        return self._left <= 0 or self._left_bytes <= 0

    @property
    def step(self) -> int:
        """How many entries to read next; 0 at the end of the scan."""
        if self._is_full or self._scan_bytes_left <= 0:
            return 0
        return min(self._wanted.filter.step_entries, FILTER_SCAN_ENTRIES_MAX - self.scanned)

    @property
    def has_matches(self) -> bool:
        """Whether an entry matched."""
        return bool(self._ids)

    @property
    def entries(self) -> Entries:
        """The entries that matched so far."""
        return Entries(self._ids, self._fragments)

    async def examine(self, entries: Entries) -> bool:
        """Take the entries that match. Return False if the page was full before the last of `entries`, which
        are at least one."""
        chosen = await self._wanted.of(entries)
        kept = self._fitting(chosen)
        self._ids += chosen.ids[:kept]
        self._fragments += chosen.fragments[:kept]
        self._left -= kept
        examined = len(entries)
        if self._is_full:
            examined = entries.ids.index(chosen.ids[kept - 1]) + 1
        self.scanned += examined
        self._scan_bytes_left -= sum(len(each or b"") for each in islice(entries.fragments, examined))
        self.last_id = entries.ids[examined - 1]
        return examined == len(entries)

    def _fitting(self, chosen: Entries) -> int:
        """Return how many of `chosen` the page has room for, and count their bytes. The last one may exceed
        the room."""
        most = min(self._left, len(chosen))
        for kept, fragment in enumerate(islice(chosen.fragments, most)):
            if self._left_bytes <= 0:
                return kept
            self._left_bytes -= len(fragment or b"")
        return most


async def scanned_range(store: StreamStore, query: Range, wanted: EntryFilter) -> Scanned:
    """Return the matching entries of a range. `query.count`: how many at most. O(scanned bytes)."""
    assert query.count is not None
    scan = Scan(wanted, query.count)
    while step := scan.step:
        page = await store.execute(replace(query, count=step, max_bytes=FILTER_STEP_BYTES))
        assert isinstance(page, RangeReply)
        if not page.entries.ids:
            return Scanned(scan.entries, None, scan.scanned)
        if await scan.examine(page.entries) and not page.more:
            return Scanned(scan.entries, None, scan.scanned)
        assert scan.last_id is not None
        query = _rest(query, scan.last_id)
    return Scanned(scan.entries, scan.last_id, scan.scanned)


def _rest(query: Range, after: StreamId) -> Range:
    """Return the range without the entries up to `after`."""
    return replace(query, end=after - 1) if query.reverse else replace(query, start=after + 1)


async def scanned_read(store: StreamStore, command: Read, wanted: EntryFilter) -> Scanned:
    """Return the matching entries after a position of one stream. `command.limits.count`: how many at most.

    If the command waits, it waits until an entry matches, the time is over, or the limits of a scan are
    reached. `next` is always an id. O(scanned bytes).
    """
    assert command.limits.count is not None
    known = command.streams[0].incarnation
    scan = Scan(wanted, command.limits.count)
    wait = _Wait(command.block_ms)
    while step := scan.step:
        limits = ReadLimits(count=step, page_bytes=FILTER_STEP_BYTES)
        block_ms = None if scan.has_matches else wait.left_ms
        reply = await store.execute(replace(command, limits=limits, block_ms=block_ms))
        assert isinstance(reply, ReadReply)
        read = reply.streams[0]
        if not read.entries.ids:
            return Scanned(scan.entries, read.next, scan.scanned, read.incarnation)
        await scan.examine(read.entries)
        assert scan.last_id is not None
        known = None if known is None else read.incarnation or known
        command = replace(command, streams=(ReadFrom(read.key, scan.last_id, known),))
    return Scanned(scan.entries, scan.last_id, scan.scanned, known or None)


class _Wait:
    """How much is left of a wait of `block_ms` milliseconds; None: no wait."""

    def __init__(self, block_ms: int | None) -> None:
        self._clock = asyncio.get_running_loop().time
        self._end_s = None if block_ms is None else self._clock() + block_ms / 1000

    @property
    def left_ms(self) -> int | None:
        """Milliseconds until the end; None if the wait is over."""
        if self._end_s is None:
            return None
        left_ms = int((self._end_s - self._clock()) * 1000)
        return left_ms if left_ms > 0 else None
