"""One stream, for asyncio programs: `Stream` with awaited methods and no other difference."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Literal

import httpx

from tailrace_client import stream_calls
from tailrace_client.async_group import AsyncGroup
from tailrace_client.chunks import AsyncBodyThen, chunks_of, producer_of
from tailrace_client.entries import Entry
from tailrace_client.errors import TailraceError
from tailrace_client.fields import BadFieldError, FieldsToAppend
from tailrace_client.generated.models import DeleteReply, SeekPosition, SplitPlan, StreamState
from tailrace_client.ids import lesser_end
from tailrace_client.json_lines import entries_of_lines
from tailrace_client.lines import Export, LineShape
from tailrace_client.session import AsyncSession
from tailrace_client.stream_calls import ImportResult, References, Trim
from tailrace_client.tail import SILENCE_MAX_S, Gap, Tail, log_gap


class AsyncStream:
    """A stream by its key, like `Stream`."""

    def __init__(self, session: AsyncSession, key: str) -> None:
        self._session = session
        self.key = key

    # --- appending -----------------------------------------------------------------------------

    async def append(
        self,
        fields: FieldsToAppend,
        *,
        id: str | None = None,  # noqa: A002 - entry ids have this name everywhere
        trim: Trim | None = None,
        create: bool = True,
        if_last_id: str | None = None,
        idempotency_key: str | None = None,
        producer_id: str | None = None,
    ) -> str:
        """Append one entry, like `Stream.append`."""
        return await self._session.send(
            stream_calls.append(
                self.key,
                fields,
                id=id,
                trim=trim,
                create=create,
                if_last_id=if_last_id,
                producer=producer_of(self._session.settings.producer_id, producer_id, idempotency_key),
            )
        )

    async def append_many(self, entries: Iterable[FieldsToAppend], chunk: int = 1_000) -> int:
        """Append many entries, like `Stream.append_many`."""
        count = 0
        try:
            chunks = chunks_of(entries, chunk)
            for lines, producer in chunks:
                call = stream_calls.import_lines(
                    self.key,
                    AsyncBodyThen(lines.body, chunks.prepare),
                    shape=lines.shape,
                    content_encoding=None,
                    producer=producer,
                )
                count += (await self._session.send(call)).count
        except (TailraceError, BadFieldError) as error:
            error.add_note(f"append_many appended {count} entries before this error")
            raise
        return count

    async def import_lines(
        self,
        body: bytes,
        *,
        shape: Literal["fields", "entry"] = "fields",
        producer_id: str | None = None,
        producer_epoch: int | None = None,
        producer_layout: str | None = None,
        idempotency_key: str | None = None,
        content_encoding: Literal["gzip", "zstd"] | None = None,
    ) -> ImportResult:
        """Append NDJSON, like `Stream.import_lines`."""
        producer = producer_of(
            self._session.settings.producer_id, producer_id, idempotency_key, producer_epoch, producer_layout
        )
        return await self._session.send(
            stream_calls.import_lines(
                self.key, body, shape=shape, content_encoding=content_encoding, producer=producer
            )
        )

    # --- reading -------------------------------------------------------------------------------

    async def read(self, start: str = "-", end: str = "+", count: int | None = None) -> AsyncIterator[Entry]:
        """Yield the entries of a range, like `Stream.read`."""
        if count is not None:
            last = (await self.seek(count, start)).end
            end = lesser_end(last, end) if last is not None else start
        async for block in self.export_lines(start, end):
            for entry in entries_of_lines(block):
                yield entry

    async def export_lines(
        self,
        start: str = "-",
        end: str = "+",
        *,
        shape: LineShape = "entry",
        fields: Sequence[str] | None = None,
    ) -> AsyncIterator[bytes]:
        """Yield the entries of a range as NDJSON, like `Stream.export_lines`."""
        export = Export(self.key, start, end, shape, fields)
        policy = self._session.settings.retry
        attempts = policy.attempts(is_idempotent=True)
        while True:
            try:
                async with self._session.stream(export.request, self._session.settings.timeout(0)) as chunks:
                    async for chunk in chunks:
                        if block := export.take(chunk):
                            yield block
                            attempts = policy.attempts(is_idempotent=True)
                if block := export.end():
                    yield block
            except TailraceError as error:
                if not export.can_resume:
                    raise
                delay_s = attempts.delay_after(error)
            else:
                return
            await asyncio.sleep(delay_s)

    async def tail(
        self, after: str = "$", *, on_gap: Callable[[Gap], None] = log_gap
    ) -> AsyncIterator[Entry]:
        """Yield new entries without end, like `Stream.tail`."""
        tail = Tail(self.key, after, on_gap)
        policy = self._session.settings.retry
        attempts = policy.attempts(is_idempotent=True)
        while True:
            try:
                async with self._session.stream(tail.request, httpx.Timeout(SILENCE_MAX_S)) as chunks:
                    async for chunk in chunks:
                        attempts = policy.attempts(is_idempotent=True)
                        for entry in tail.take(chunk):
                            yield entry
                raise tail.over()
            except TailraceError as error:
                delay_s = attempts.delay_after(error)
            await asyncio.sleep(delay_s)

    # --- the rest ------------------------------------------------------------------------------

    async def length(self) -> int:
        """Return the number of entries, like `Stream.length`."""
        return await self._session.send(stream_calls.length(self.key))

    def group(self, name: str) -> AsyncGroup:
        """Return the consumer group with this name. This sends no request."""
        return AsyncGroup(self._session, self.key, name)

    async def info(self) -> StreamState:
        """Return the state of the stream, like `Stream.info`."""
        return await self._session.send(stream_calls.info(self.key))

    async def create(self) -> None:
        """Create an empty stream, like `Stream.create`."""
        await self._session.send(stream_calls.create(self.key))

    async def drop(self) -> None:
        """Delete the stream, like `Stream.drop`."""
        await self._session.send(stream_calls.drop(self.key))

    async def trim(
        self,
        max_length: int | None = None,
        *,
        min_id: str | None = None,
        approximate: bool | None = None,
        limit: int | None = None,
        references: References | None = None,
    ) -> int:
        """Remove the oldest entries, like `Stream.trim`."""
        rule = Trim(max_length, min_id, approximate, limit, references)
        return await self._session.send(stream_calls.trim(self.key, rule))

    async def delete(self, *ids: str, references: References | None = None) -> DeleteReply:
        """Delete entries, like `Stream.delete`."""
        return await self._session.send(stream_calls.delete(self.key, ids, references))

    async def split(self, parts: int, start: str = "-", end: str = "+") -> SplitPlan:
        """Split a range into parts, like `Stream.split`."""
        return await self._session.send(stream_calls.split(self.key, parts, start, end))

    async def seek(self, count: int, start: str = "-") -> SeekPosition:
        """Return the id that ends a page, like `Stream.seek`."""
        return await self._session.send(stream_calls.seek(self.key, count, start))
