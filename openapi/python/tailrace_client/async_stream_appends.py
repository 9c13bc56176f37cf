"""Appending to a stream, trimming it and deleting entries, for asyncio programs.

`stream_calls` contains the requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from tailrace_client import stream_calls
from tailrace_client.async_stream_of import AsyncStreamOf
from tailrace_client.call import Call
from tailrace_client.chunks import AsyncBodyThen, calls_of, producer_of
from tailrace_client.encoding import Lines
from tailrace_client.errors import MISSING_ENTRY, TailraceError
from tailrace_client.fields import FieldsToAppend
from tailrace_client.generated import models
from tailrace_client.stream_calls import ImportResult, Producer, References, Trim


class AsyncStreamAppends(AsyncStreamOf):
    """The methods of `AsyncStream` that append, trim and delete entries."""

    async def append(  # noqa: PLR0913 - the options of XADD
        self,
        fields: FieldsToAppend,
        *,
        id: str | None = None,  # noqa: A002 - entry ids have this name everywhere
        trim: Trim | None = None,
        create: bool = True,
        if_last_id: str | None = None,
        idempotency_key: str | None = None,
        producer_id: str | None = None,
        producer_epoch: int | None = None,
        producer_layout: str | None = None,
        traceparent: str | None = None,
    ) -> str:
        """Append one entry, like `Stream.append`."""
        producer = producer_of(
            self._session.settings.producer_id, producer_id, idempotency_key, producer_epoch, producer_layout
        )
        return await self._session.send(
            stream_calls.append(
                self.key,
                fields,
                id=id,
                trim=trim,
                create=create,
                if_last_id=if_last_id,
                producer=producer,
                traceparent=traceparent,
            )
        )

    async def append_many(
        self,
        entries: Iterable[FieldsToAppend],
        chunk: int = 1_000,
        *,
        producer_id: str | None = None,
        key_prefix: str = "",
        producer_epoch: int | None = None,
        producer_layout: str | None = None,
        traceparent: str | None = None,
    ) -> int:
        """Append many entries, like `Stream.append_many`."""

        def call_of(lines: Lines, producer: Producer, make_next: Callable[[], None]) -> Call[ImportResult]:
            return stream_calls.import_lines(
                self.key,
                AsyncBodyThen(lines.body, make_next),
                shape=lines.shape,
                content_encoding=None,
                producer=producer,
                traceparent=traceparent,
            )

        count = 0
        try:
            options = producer_id, key_prefix, producer_epoch, producer_layout
            for call in calls_of(entries, chunk, call_of, *options):
                count += (await self._session.send(call)).count
        except TailraceError as error:
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
        traceparent: str | None = None,
    ) -> ImportResult:
        """Append NDJSON, like `Stream.import_lines`."""
        producer = producer_of(
            self._session.settings.producer_id, producer_id, idempotency_key, producer_epoch, producer_layout
        )
        return await self._session.send(
            stream_calls.import_lines(
                self.key,
                body,
                shape=shape,
                content_encoding=content_encoding,
                producer=producer,
                traceparent=traceparent,
            )
        )

    async def append_batch(  # noqa: PLR0913 - the options of XADD
        self,
        entries: Sequence[FieldsToAppend],
        *,
        ids: Sequence[str] | None = None,
        trim: Trim | None = None,
        if_last_id: str | None = None,
        idempotency_key: str | None = None,
        producer_id: str | None = None,
        producer_epoch: int | None = None,
        producer_layout: str | None = None,
        traceparent: str | None = None,
    ) -> list[str]:
        """Append entries in one request, all or none, and return their ids, like `Stream.append_batch`."""
        producer = producer_of(
            self._session.settings.producer_id, producer_id, idempotency_key, producer_epoch, producer_layout
        )
        return await self._session.send(
            stream_calls.append_batch(
                self.key,
                entries,
                ids=ids,
                trim=trim,
                if_last_id=if_last_id,
                producer=producer,
                traceparent=traceparent,
            )
        )

    async def check_lines(
        self,
        body: bytes,
        *,
        shape: Literal["fields", "entry"] = "fields",
        producer_id: str | None = None,
        producer_epoch: int | None = None,
        producer_layout: str | None = None,
        idempotency_key: str | None = None,
        content_encoding: Literal["gzip", "zstd"] | None = None,
    ) -> models.ImportCheck:
        """Check the request that `import_lines` would send, and append nothing, like `Stream.check_lines`."""
        producer = producer_of(
            self._session.settings.producer_id, producer_id, idempotency_key, producer_epoch, producer_layout
        )
        return await self._session.send(
            stream_calls.check_lines(
                self.key, body, shape=shape, content_encoding=content_encoding, producer=producer
            )
        )

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

    async def delete_entry(self, entry_id: str) -> bool:
        """Delete one entry and return whether it existed, like `Stream.delete_entry`."""
        try:
            await self._session.send(stream_calls.delete_entry(self.key, entry_id))
        except TailraceError as error:
            if error.code in MISSING_ENTRY:
                return False
            raise
        return True

    async def delete_entries(self, *ids: str, references: References | None = None) -> models.DeleteReply:
        """Delete entries, like `Stream.delete_entries`."""
        return await self._session.send(stream_calls.delete(self.key, ids, references))
