"""Entries that the server appends later, for asyncio programs. `scheduled_calls` contains the requests."""

from __future__ import annotations

from collections.abc import AsyncIterator

from tailrace_client import scheduled_calls
from tailrace_client.async_stream_of import AsyncStreamOf
from tailrace_client.chunks import producer_of
from tailrace_client.errors import MISSING_ENTRY, TailraceError
from tailrace_client.fields import FieldsToAppend
from tailrace_client.scheduled_calls import ScheduledEntry


class AsyncStreamSchedule(AsyncStreamOf):
    """The methods of `AsyncStream` for scheduled entries."""

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
        """Append one entry later, and return its scheduled id, like `Stream.schedule`."""
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
        """Yield the scheduled entries, like `Stream.scheduled`."""
        after: str | None = None
        while True:
            found = await self._session.send(scheduled_calls.scheduled(self.key, after, page))
            for entry in found.entries:
                yield entry
            after = found.next
            if after is None:
                return

    async def cancel_scheduled(self, scheduled_id: str) -> bool:
        """Cancel a scheduled entry, like `Stream.cancel_scheduled`."""
        try:
            await self._session.send(scheduled_calls.cancel(self.key, scheduled_id))
        except TailraceError as error:
            if error.code in MISSING_ENTRY:
                return False
            raise
        return True
