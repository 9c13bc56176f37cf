"""The parameter `filter`: reads it, tests entries, and scans a stream in small steps for the entries that
match.

All filters and exports of a server take turns: between two tests of many entries, and between two pages,
every other request that is ready gets served, however many clients filter or export.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import Annotated, Final, NamedTuple, TypeAlias

from fastapi import Depends, Query
from msgspec.structs import replace
from starlette.requests import Request

from tailrace.api.ports import StreamStore
from tailrace.api.wire.names import raw_query_values
from tailrace.core.commands import Range, Read, ReadFrom, ReadLimits
from tailrace.core.filters import Filter, compile_filter, invalid_filter
from tailrace.core.limits import (
    FILTER_CHARACTERS_MAX,
    FILTER_SCAN_BYTES_MAX,
    FILTER_SCAN_ENTRIES_MAX,
    FILTER_STEP_BYTES,
    PAGE_BYTES_MAX,
)
from tailrace.core.replies import Entries, RangeReply, ReadReply
from tailrace.core.stream_id import StreamId

AT_ONCE_MAX: Final = 32
"""Up to this many entries are tested without waiting for a turn: they take less time than a small request."""

FILTER_DESCRIPTION: Final = (
    "Only entries that match this condition, in a subset of CEL: "
    '`fields.status == "failed" && double(fields.amount) >= 10.5`. See `docs/filters.md`.'
)
FILTER_EXAMPLE: Final = 'fields.status == "failed"'


class ScanTurns:
    """Gives the filters and exports of one server their turns, in the order in which they ask: one in each
    turn of the event loop."""

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], object]] = deque()

    def later(self, work: Callable[[], object]) -> None:
        """Call `work` when it is its turn, after this call returns."""
        self._waiting.append(work)
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        work = self._waiting[0]
        try:
            work()
        finally:
            self._waiting.popleft()
            if self._waiting:
                asyncio.get_running_loop().call_soon(self._next)

    async def take(self, entry_count: int) -> None:
        """Return when it is this caller's turn to work on this many entries: at once if they are few."""
        if entry_count <= AT_ONCE_MAX:
            return
        turn = asyncio.Event()
        self.later(turn.set)
        await turn.wait()


class EntryFilter:
    """A filter of one request, with the turns of its server."""

    __slots__ = ("_turns", "filter")

    def __init__(self, found: Filter, turns: ScanTurns) -> None:
        self.filter = found
        self._turns = turns

    async def of(self, entries: Entries) -> Entries:
        """Return the entries that match. O(bytes + tests)."""
        await self._turns.take(len(entries))
        return self.filter.select(entries)


async def compiled(text: str) -> Filter:
    """Return the filter with this text. Raises `StreamError` INVALID_FILTER.

    A thread compiles it: the first filter of a server loads the parser, which takes about 0.1 s.
    """
    return await asyncio.to_thread(compile_filter, text)


async def _filter(
    request: Request,
    filter: Annotated[  # noqa: A002 - the name of the parameter
        str | None,
        Query(max_length=FILTER_CHARACTERS_MAX, description=FILTER_DESCRIPTION, examples=[FILTER_EXAMPLE]),
    ] = None,
) -> EntryFilter | None:
    if filter is None:
        return None
    _require_text(request, filter)
    return EntryFilter(await compiled(filter), request.app.state.scan_turns)


def _require_text(request: Request, text: str) -> None:
    """Raise `StreamError` INVALID_FILTER if the parameter is not UTF-8; `text` has U+FFFD in such places."""
    if "\ufffd" not in text:
        return
    try:
        raw_query_values(request, "filter")[0].decode()
    except UnicodeDecodeError as error:
        offset = len(error.object[: error.start].decode())
        raise invalid_filter(
            text, offset, 'the byte is not UTF-8; write bytes as text, such as `b"\\xff"`'
        ) from None


FilterParameter: TypeAlias = Annotated[EntryFilter | None, Depends(_filter)]
"""The filter of a request, None if it has none."""


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
