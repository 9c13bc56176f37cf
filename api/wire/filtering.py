"""The parameter `filter`: reads it, and tests entries so that other requests are served in between.

All filters and exports of a server take turns: between two tests of many entries, and between two pages,
every other request that is ready gets served, however many clients filter or export. `api.wire.scans` decides
which entries a request examines.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Annotated, Final, TypeAlias

from fastapi import Depends, Query
from starlette.requests import Request

from tailrace.api.wire.names import raw_query_values
from tailrace.core.filters import Filter, compile_filter, invalid_filter
from tailrace.core.limits import FILTER_CHARACTERS_MAX
from tailrace.core.replies import Entries

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
