"""One consumer group of one stream, for programs that block. What its methods say stands in `group_calls`.

For the loop of a worker take `Consumer`, which is made of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tailrace_client import group_calls
from tailrace_client.entries import Delivery, Entry
from tailrace_client.errors import TailraceError
from tailrace_client.generated import models
from tailrace_client.group_calls import NackMode, ScanResult
from tailrace_client.session import Session

if TYPE_CHECKING:
    from tailrace_client.stream_calls import References


class Group:
    """A group by its name. Making one asks nothing of the server; `create` does."""

    def __init__(self, session: Session, key: str, name: str) -> None:
        self._session = session
        self.key = key
        self.name = name

    # --- the group -----------------------------------------------------------------------------

    def create(self, after: str = "$", *, create_stream: bool = False, exist_ok: bool = False) -> None:
        """Make it: it is given entries after `after`; `$` is the stream's last id, `0` is all.

        One that stands already is an error (BUSYGROUP), unless `exist_ok`; then its position is left alone.
        """
        try:
            self._session.send(group_calls.create(self.key, self.name, after, create_stream=create_stream))
        except TailraceError as error:
            if not (exist_ok and error.code == "BUSYGROUP"):
                raise

    def destroy(self) -> None:
        """Delete it with its consumers and pending entries."""
        self._session.send(group_calls.destroy(self.key, self.name))

    def set_position(self, after: str, *, entries_read: int | None = None) -> None:
        """Give it entries after `after` from now on; what is pending stays so."""
        self._session.send(group_calls.set_position(self.key, self.name, after, entries_read))

    def info(self) -> models.Group:
        """Its position, its lag, and how much is pending."""
        return self._session.send(group_calls.info(self.key, self.name))

    def consumers(self) -> list[models.Consumer]:
        """Its consumers, each with how much is pending for it and since when it was not heard of."""
        return self._session.send(group_calls.consumers(self.key, self.name)).consumers

    def delete_consumer(self, consumer: str, *, force: bool = False, transfer_to: str | None = None) -> int:
        """Delete a consumer. What is pending for it goes to `transfer_to`, or is dropped with `force`; how
        much was."""
        call = group_calls.delete_consumer(
            self.key, self.name, consumer, force=force, transfer_to=transfer_to
        )
        return self._session.send(call)

    # --- entries -------------------------------------------------------------------------------

    def read(
        self,
        consumer: str,
        count: int | None = None,
        *,
        id: str = ">",  # noqa: A002 - the name that an entry's id has everywhere
        wait_ms: int | None = None,
        claim_min_idle_ms: int | None = None,
        noack: bool = False,
    ) -> list[Delivery]:
        """Entries for a consumer, pending for it until they are acknowledged.

        With `claim_min_idle_ms` first what has been pending for anyone so long. An `id` in place of `>` reads
        the consumer's own pending entries after it. A lost answer is an error, and what it held is pending.
        """
        call = group_calls.read(
            self.name,
            consumer,
            {self.key: id},
            count=count,
            wait_ms=wait_ms,
            claim_min_idle_ms=claim_min_idle_ms,
            noack=noack,
        )
        return self._session.send(call)[0].entries

    def ack(self, *ids: str, delete: bool = False, references: References | None = None) -> int:
        """Entries are done; how many were pending. `delete`: delete them from the stream in the same step."""
        if not ids:
            return 0
        call = group_calls.ack(self.key, self.name, ids, delete=delete, references=references)
        return self._session.send(call)

    def nack(self, *ids: str, mode: NackMode = "fail", retry_count: int | None = None) -> int:
        """Give entries back, for whoever claims next; how many were pending.

        `silent`: the delivery does not count; `fail`: it does; `fatal`: no further one is worth while.
        """
        if not ids:
            return 0
        return self._session.send(group_calls.nack(self.key, self.name, ids, mode, retry_count))

    def claim(self, consumer: str, *ids: str, min_idle_ms: int) -> list[Entry]:
        """Take over pending entries by their ids, those that are idle long enough."""
        if not ids:
            return []
        return self._session.send(group_calls.claim(self.key, self.name, consumer, ids, min_idle_ms))

    def autoclaim(
        self, consumer: str, *, min_idle_ms: int, start: str = "0-0", count: int = 100
    ) -> ScanResult:
        """Take over idle entries found by a scan in the order of ids."""
        call = group_calls.autoclaim(self.key, self.name, consumer, min_idle_ms, start, count)
        return self._session.send(call)

    def pending(
        self,
        *,
        start: str = "-",
        end: str = "+",
        count: int | None = None,
        consumer: str | None = None,
        min_idle_ms: int | None = None,
    ) -> list[models.PendingItem]:
        """Pending entries in the order of ids, 100 unless `count` says otherwise."""
        call = group_calls.pending(
            self.key,
            self.name,
            start=start,
            end=end,
            count=count,
            consumer=consumer,
            min_idle_ms=min_idle_ms,
        )
        return self._session.send(call).pending

    def pending_summary(self) -> models.PendingOverview:
        """How many are pending, between which ids, and for whom."""
        return self._session.send(group_calls.pending_summary(self.key, self.name))
