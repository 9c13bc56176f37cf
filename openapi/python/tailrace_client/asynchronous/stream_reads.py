"""Reading a stream, for asyncio programs: ranges, single entries, exports, tails and plans of ranges.

`entry_calls` contains the requests.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from math import inf

from tailrace_client import entry_calls, replies
from tailrace_client.asynchronous.following import AsyncFollowing, exported
from tailrace_client.entries import Entry, lesser_end
from tailrace_client.entry_calls import Page
from tailrace_client.errors import MISSING_ENTRY, TailraceError
from tailrace_client.fields import Fields
from tailrace_client.json_lines import entries_of_lines
from tailrace_client.lines import Export, LineShape
from tailrace_client.session import AsyncSession
from tailrace_client.tail import Gap, Tail, log_gap
from tailrace_client.tasks import flat, opened


class AsyncStreamReads:
    """The methods of `AsyncStream` that read entries."""

    key: str
    _session: AsyncSession

    def read(
        self,
        start: str = "-",
        end: str = "+",
        count: int | None = None,
        *,
        filter: str | None = None,  # noqa: A002 - the name of the parameter of the server
    ) -> AsyncIterator[Entry]:
        """Return the entries between two ids, both included, each as `(id, fields)`; at most `count`.

        A bound is an id, a time in milliseconds, `-`, `+`, or `(id` to exclude that id. The entries are read
        as one export, which resumes after a broken connection. A missing stream is read as an empty one.

        `filter`: only entries that match, such as `fields.status == "failed"`; the server tests them.
        """
        if filter is not None:
            return flat(self._read_blocks(start, end, None, filter), count)
        return flat(self._read_blocks(start, end, count), None)

    async def _read_blocks(
        self, start: str, end: str, count: int | None, condition: str | None = None
    ) -> AsyncIterator[Iterable[Entry]]:
        """Yield the entries one block of lines at a time."""
        if count is not None:
            last = (await self.seek(count, start)).end
            end = lesser_end(last, end) if last is not None else start
        async for block in self.export_lines(start, end, filter=condition):
            yield entries_of_lines(block)

    async def read_reverse(
        self,
        end: str = "+",
        start: str = "-",
        count: int | None = None,
        *,
        filter: str | None = None,  # noqa: A002 - the name of the parameter of the server
    ) -> AsyncIterator[Entry]:
        """Yield the entries between two ids, the newest first; at most `count` (XREVRANGE).

        The entries are read page by page, each in O(log n + page). Bounds and `filter` are those of `read`. A
        missing stream is read as an empty one.
        """
        left = inf if count is None else count
        upper: str | None = end
        while left > 0 and upper is not None:
            page, upper = await self._session.send(
                entry_calls.backwards(self.key, start, upper, left, filter)
            )
            for entry in page:
                yield entry
            left -= len(page)

    async def get(self, entry_id: str) -> Fields | None:
        """Return the fields of one entry; None if there is no entry with this id. O(log n)."""
        try:
            return await self._session.send(entry_calls.entry(self.key, entry_id))
        except TailraceError as error:
            if error.code in MISSING_ENTRY:
                return None
            raise

    async def last(self, count: int = 1) -> list[Entry]:
        """Return the last `count` entries in the order of the stream, the newest last. O(log n + count)."""
        newest_first = [entry async for entry in self.read_reverse(count=count)]
        return newest_first[::-1]

    async def read_after(
        self,
        after: str = "$",
        *,
        count: int | None = None,
        wait_ms: int | None = None,
        strict: bool = False,
        filter: str | None = None,  # noqa: A002 - the name of the parameter of the server
    ) -> Page:
        """Return the entries after a position, and the position of the next read (XREAD). One request,
        O(log n + entries).

        With `wait_ms` (at most 60 000), the server waits until there are entries, or returns none when the
        time is over. `$`: only entries that are appended from now on. `strict`: raise `TailraceError` with
        the status 410 if entries after the position were trimmed. `count`: 100 000 unless given.
        `filter`: only entries that match; the page can be empty although `next` has moved.
        """
        return await self._session.send(
            entry_calls.after(self.key, after, count=count, wait_ms=wait_ms, strict=strict, condition=filter)
        )

    def export_lines(
        self,
        start: str = "-",
        end: str = "+",
        *,
        shape: LineShape = "entry",
        fields: Sequence[str] | None = None,
        filter: str | None = None,  # noqa: A002 - the name of the parameter of the server
    ) -> AsyncIterator[bytes]:
        """Yield the entries of a range as NDJSON, in blocks of complete lines.

        `fields`: only the fields with these names, in this order; None for all fields. `filter`: only entries
        that match.

        This is one request. If the connection breaks, the export resumes after the last line of the last
        block. With `shape="fields"`, lines have no id, and a broken connection after the first block is an
        error.
        """
        return exported(self._session, Export(self.key, start, end, shape, fields, filter))

    def tail(
        self,
        after: str = "$",
        *,
        on_gap: Callable[[Gap], None] = log_gap,
        filter: str | None = None,  # noqa: A002 - the name of the parameter of the server
    ) -> AsyncFollowing[Entry]:
        """Yield entries after `after` as they arrive, each as `(id, fields)`, without end. `$`: only entries
        that are appended after the tail is open: in `async with`, or after the first entry.

        After a broken connection the tail resumes at the same position. `on_gap` is called with the range of
        entries that were trimmed before the tail could read them. `filter`: only entries that match.
        """
        return opened(AsyncFollowing(self._session, Tail(self.key, after, on_gap, filter)))

    async def split(self, parts: int, start: str = "-", end: str = "+") -> replies.SplitPlan:
        """Return boundaries that split a range into parts of about equal counts. The server reads no entries
        for this.

        A missing stream is split like an empty one.
        """
        return await self._session.send(entry_calls.split(self.key, parts, start, end))

    async def seek(self, count: int, start: str = "-") -> replies.SeekPosition:
        """Return the id that ends a page of `count` entries. The server reads no entries for this.

        A missing stream is treated like an empty one.
        """
        return await self._session.send(entry_calls.seek(self.key, count, start))
