"""Reading a stream, for asyncio programs: ranges, single entries, exports, tails and plans of ranges.

`entry_calls` contains the requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from math import inf

from tailrace_client import entry_calls
from tailrace_client.async_stream_of import AsyncStreamOf
from tailrace_client.entries import Entry
from tailrace_client.entry_calls import Page
from tailrace_client.errors import MISSING_ENTRY, TailraceError
from tailrace_client.fields import Fields
from tailrace_client.following import AsyncFollowing
from tailrace_client.generated import models
from tailrace_client.ids import lesser_end
from tailrace_client.json_lines import entries_of_lines
from tailrace_client.lines import Export, LineShape
from tailrace_client.tail import Gap, Tail, log_gap


class AsyncStreamReads(AsyncStreamOf):
    """The methods of `AsyncStream` that read entries."""

    async def read(
        self,
        start: str = "-",
        end: str = "+",
        count: int | None = None,
        *,
        filter: str | None = None,  # noqa: A002 - the name of the parameter of the server
    ) -> AsyncIterator[Entry]:
        """Yield the entries of a range, like `Stream.read`."""
        left = inf
        if count is not None:
            if filter is None:
                last = (await self.seek(count, start)).end
                end = lesser_end(last, end) if last is not None else start
            else:
                left = count
        async for block in self.export_lines(start, end, filter=filter):
            if left is inf:
                for entry in entries_of_lines(block):
                    yield entry
                continue
            for entry in entries_of_lines(block):
                if left <= 0:
                    return
                left -= 1
                yield entry

    async def read_reverse(
        self,
        end: str = "+",
        start: str = "-",
        count: int | None = None,
        *,
        filter: str | None = None,  # noqa: A002 - the name of the parameter of the server
    ) -> AsyncIterator[Entry]:
        """Yield the entries of a range, the newest first, like `Stream.read_reverse`."""
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
        """Return the fields of one entry, like `Stream.get`."""
        try:
            return await self._session.send(entry_calls.entry(self.key, entry_id))
        except TailraceError as error:
            if error.code in MISSING_ENTRY:
                return None
            raise

    async def last(self, count: int = 1) -> list[Entry]:
        """Return the last `count` entries in the order of the stream, the newest last, like `Stream.last`."""
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
        """Return the entries after a position, like `Stream.read_after`."""
        return await self._session.send(
            entry_calls.after(self.key, after, count=count, wait_ms=wait_ms, strict=strict, condition=filter)
        )

    async def export_lines(
        self,
        start: str = "-",
        end: str = "+",
        *,
        shape: LineShape = "entry",
        fields: Sequence[str] | None = None,
        filter: str | None = None,  # noqa: A002 - the name of the parameter of the server
    ) -> AsyncIterator[bytes]:
        """Yield the entries of a range as NDJSON, like `Stream.export_lines`."""
        export = Export(self.key, start, end, shape, fields, filter)
        attempts = self._session.attempts(is_idempotent=True)
        while True:
            try:
                async with self._session.stream(export.request, self._session.settings.timeout(0)) as chunks:
                    async for chunk in chunks:
                        if block := export.take(chunk):
                            yield block
                            attempts = self._session.attempts(is_idempotent=True)
                if block := export.end():
                    yield block
            except TailraceError as error:
                if not export.can_resume:
                    raise
                delay_s = attempts.delay_after(error)
            else:
                return
            await asyncio.sleep(delay_s)

    def tail(
        self,
        after: str = "$",
        *,
        on_gap: Callable[[Gap], None] = log_gap,
        filter: str | None = None,  # noqa: A002 - the name of the parameter of the server
    ) -> AsyncFollowing[Entry]:
        """Yield new entries without end, like `Stream.tail`. The tail opens in `async with`, otherwise with
        the first request for an entry."""
        return AsyncFollowing(self._session, Tail(self.key, after, on_gap, filter))

    async def split(self, parts: int, start: str = "-", end: str = "+") -> models.SplitPlan:
        """Split a range into parts, like `Stream.split`."""
        return await self._session.send(entry_calls.split(self.key, parts, start, end))

    async def seek(self, count: int, start: str = "-") -> models.SeekPosition:
        """Return the id that ends a page, like `Stream.seek`."""
        return await self._session.send(entry_calls.seek(self.key, count, start))
