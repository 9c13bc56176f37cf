"""Writing a stream, for asyncio programs: appends at once or later, trimming, and deleting entries.

`stream_calls` and `scheduled_calls` contain the requests.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Literal

from tailrace_client import replies, scheduled_calls, stream_calls
from tailrace_client.call import Call
from tailrace_client.chunks import AsyncBodyThen, calls_of, producer_of
from tailrace_client.encoding import Lines
from tailrace_client.errors import MISSING_ENTRY, TailraceError
from tailrace_client.fields import FieldsToAppend
from tailrace_client.scheduled_calls import ScheduledEntry
from tailrace_client.session import AsyncSession
from tailrace_client.stream_calls import ImportResult, Producer, References, Trim


class AsyncStreamWrites:
    """The methods of `AsyncStream` that append, trim and delete entries."""

    key: str
    _session: AsyncSession

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
        """Append one entry and return its id. `if_last_id`: append only if this is the last id of the stream.

        With an `idempotency_key`, the request is retried after a lost response and appends nothing twice. The
        key belongs to the producer (`producer_id`), so set both if the same key is used after a restart.
        Without a key, a lost response is an error with `side_effects` "unknown". `producer_epoch`,
        `producer_layout`: the key is kept for this epoch and the one before, without a time limit.

        `traceparent`: the W3C trace context that the server adds to the entry as a field of that name, for
        example `current_traceparent()`. The spans of consumers link to it.
        """
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
        """Append all entries in order and return how many there are. Each request appends `chunk` entries,
        all or none.

        Every chunk has an idempotency key of its own, so a retry appends nothing twice. If a chunk fails, a
        note of the error says how many entries of earlier chunks were appended.

        `producer_id`: a program that restarts and appends the same chunks again appends nothing twice. The
        key of a chunk is `key_prefix` and its number, so use another prefix, or another `producer_epoch`, for
        other entries. `producer_layout`, `traceparent`: as in `append`.
        """

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
        """Append NDJSON in one request, all lines or none. Each line is an object of fields, or a complete
        entry (`shape`).

        With an `idempotency_key` the request is retried. Without one it is retried only if nothing can have
        been appended.
        """
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
        """Append entries in one request, all or none, and return their ids. O(entries).

        `ids`: one explicit id for each entry. The other parameters are those of `append` and `import_lines`.
        For more entries than one request can contain, use `append_many`.
        """
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
    ) -> replies.ImportCheck:
        """Check the request that `import_lines` would send, and append nothing. O(bytes).

        The result has the number of entries (`count`), and whether an import with this key appended them
        before (`known`). Raises the error that the import would raise for its body.
        """
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
        """Remove the oldest entries, by the rule of `Trim`, and return how many were removed."""
        rule = Trim(max_length, min_id, approximate, limit, references)
        return await self._session.send(stream_calls.trim(self.key, rule))

    async def delete_entry(self, entry_id: str) -> bool:
        """Delete one entry and return whether it existed. Pending entries keep their reference. O(log n)."""
        try:
            await self._session.send(stream_calls.delete_entry(self.key, entry_id))
        except TailraceError as error:
            if error.code in MISSING_ENTRY:
                return False
            raise
        return True

    async def delete_entries(self, *ids: str, references: References | None = None) -> replies.DeleteReply:
        """Delete entries and return the result for each."""
        return await self._session.send(stream_calls.delete(self.key, ids, references))

    # --- entries that the server appends later ---------------------------------------------------

    async def schedule(
        self,
        fields: FieldsToAppend,
        *,
        delay_ms: int | None = None,
        deliver_at_ms: int | None = None,
        create: bool = True,
        idempotency_key: str | None = None,
        producer_id: str | None = None,
    ) -> str:
        """Append one entry later, and return its scheduled id, which is not the id of the entry.

        Pass `delay_ms`, or `deliver_at_ms`, a time in Unix milliseconds. Until then the server stores the
        entry, and no reader sees it. With an `idempotency_key`, the request is retried after a lost response,
        and schedules nothing twice.
        """
        producer = producer_of(self._session.settings.producer_id, producer_id, idempotency_key)
        return await self._session.send(
            scheduled_calls.schedule(
                self.key,
                fields,
                delay_ms=delay_ms,
                deliver_at_ms=deliver_at_ms,
                create=create,
                producer=producer,
            )
        )

    async def scheduled(self, page: int = 1_000) -> AsyncIterator[ScheduledEntry]:
        """Yield the scheduled entries in the order of their times, in requests of `page` entries."""
        after: str | None = None
        while True:
            found = await self._session.send(scheduled_calls.scheduled(self.key, after, page))
            for entry in found.entries:
                yield entry
            after = found.next
            if after is None:
                return

    async def cancel_scheduled(self, scheduled_id: str) -> bool:
        """Cancel a scheduled entry. Return False if it was appended or cancelled before."""
        try:
            await self._session.send(scheduled_calls.cancel(self.key, scheduled_id))
        except TailraceError as error:
            if error.code in MISSING_ENTRY:
                return False
            raise
        return True
