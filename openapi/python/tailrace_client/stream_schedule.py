"""Entries that the server appends later, for blocking programs. `scheduled_calls` contains the requests."""

from __future__ import annotations

from collections.abc import Iterator

from tailrace_client import scheduled_calls
from tailrace_client.chunks import producer_of
from tailrace_client.errors import MISSING_ENTRY, TailraceError
from tailrace_client.fields import FieldsToAppend
from tailrace_client.scheduled_calls import ScheduledEntry
from tailrace_client.stream_of import StreamOf


class StreamSchedule(StreamOf):
    """The methods of `Stream` for scheduled entries."""

    def schedule(
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
        return self._session.send(
            scheduled_calls.schedule(
                self.key,
                fields,
                delay_ms=delay_ms,
                deliver_at_ms=deliver_at_ms,
                create=create,
                producer=producer,
            )
        )

    def scheduled(self, page: int = 1_000) -> Iterator[ScheduledEntry]:
        """Yield the scheduled entries in the order of their times, in requests of `page` entries."""
        after: str | None = None
        while True:
            found = self._session.send(scheduled_calls.scheduled(self.key, after, page))
            yield from found.entries
            after = found.next
            if after is None:
                return

    def cancel_scheduled(self, scheduled_id: str) -> bool:
        """Cancel a scheduled entry. Return False if it was appended or cancelled before."""
        try:
            self._session.send(scheduled_calls.cancel(self.key, scheduled_id))
        except TailraceError as error:
            if error.code in MISSING_ENTRY:
                return False
            raise
        return True
