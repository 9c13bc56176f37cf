"""One consumer group of one stream, for asyncio programs: `Group` with awaited methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tailrace_client import group_calls, group_settings
from tailrace_client.entries import Delivery, Entry
from tailrace_client.errors import TailraceError
from tailrace_client.generated import models
from tailrace_client.generated.types import UNSET, Unset
from tailrace_client.group_calls import ClaimChanges, NackMode, ScanResult
from tailrace_client.group_settings import Backoff, Setting
from tailrace_client.session import AsyncSession

if TYPE_CHECKING:
    from tailrace_client.stream_calls import References


class AsyncGroup:
    """A group by its name, like `Group`."""

    def __init__(self, session: AsyncSession, key: str, name: str) -> None:
        self._session = session
        self.key = key
        self.name = name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.key!r}, {self.name!r})"

    # --- the group -----------------------------------------------------------------------------

    async def create(self, after: str = "$", *, create_stream: bool = False, exist_ok: bool = False) -> None:
        """Create the group, like `Group.create`."""
        try:
            await self._session.send(
                group_calls.create(self.key, self.name, after, create_stream=create_stream)
            )
        except TailraceError as error:
            if not (exist_ok and error.code == "BUSYGROUP"):
                raise

    async def destroy(self) -> None:
        """Delete the group, like `Group.destroy`."""
        await self._session.send(group_calls.destroy(self.key, self.name))

    async def set_position(self, after: str, *, entries_read: int | None = None) -> None:
        """Set the position of the group, like `Group.set_position`."""
        await self._session.send(group_calls.set_position(self.key, self.name, after, entries_read))

    async def info(self) -> models.Group:
        """Return the state of the group, like `Group.info`."""
        return await self._session.send(group_calls.info(self.key, self.name))

    async def configure(
        self,
        *,
        max_deliveries: int | Unset | None = UNSET,
        dead_letter_stream: str | Unset | None = UNSET,
        filter: str | Unset | None = UNSET,  # noqa: A002 - the name of the parameter of the server
        claim_min_idle_ms: int | Unset | None = UNSET,
        consumer_expiry_ms: int | Unset | None = UNSET,
        max_lag_ms: int | Unset | None = UNSET,
        backoff: Backoff | Unset | None = UNSET,
    ) -> models.Group:
        """Change the settings that are given, like `Group.configure`."""
        settings: dict[str, Setting | Unset | None] = {
            "max_deliveries": max_deliveries,
            "dead_letter_stream": dead_letter_stream,
            "filter": filter,
            "claim_min_idle_ms": claim_min_idle_ms,
            "consumer_expiry_ms": consumer_expiry_ms,
            "max_lag_ms": max_lag_ms,
            "backoff": backoff,
        }
        return await self._session.send(group_settings.configure(self.key, self.name, settings))

    async def redrive(self, *ids: str, start: str = "-", limit: int = 100) -> models.RedriveReply:
        """Send dead letters of the group back to its stream, like `Group.redrive`."""
        return await self._session.send(group_calls.redrive(self.key, self.name, ids, start, limit))

    async def consumers(self) -> list[models.Consumer]:
        """Return the consumers of the group, like `Group.consumers`."""
        return (await self._session.send(group_calls.consumers(self.key, self.name))).consumers

    async def create_consumer(self, consumer: str) -> bool:
        """Create a consumer and return whether it is new, like `Group.create_consumer`."""
        return await self._session.send(group_calls.create_consumer(self.key, self.name, consumer))

    async def delete_consumer(
        self, consumer: str, *, force: bool = False, transfer_to: str | None = None
    ) -> int:
        """Delete a consumer, like `Group.delete_consumer`."""
        call = group_calls.delete_consumer(
            self.key, self.name, consumer, force=force, transfer_to=transfer_to
        )
        return await self._session.send(call)

    # --- entries -------------------------------------------------------------------------------

    async def read(  # noqa: PLR0913 - the options of XREADGROUP
        self,
        consumer: str,
        count: int | None = None,
        *,
        id: str = ">",  # noqa: A002 - entry ids have this name everywhere
        max_bytes: int | None = None,
        wait_ms: int | None = None,
        min_count: int | None = None,
        linger_ms: int | None = None,
        claim_min_idle_ms: int | None = None,
        noack: bool = False,
    ) -> list[Delivery]:
        """Read entries for a consumer, like `Group.read`."""
        call = group_calls.read(
            self.name,
            consumer,
            {self.key: id},
            count=count,
            max_bytes=max_bytes,
            wait_ms=wait_ms,
            min_count=min_count,
            linger_ms=linger_ms,
            claim_min_idle_ms=claim_min_idle_ms,
            noack=noack,
        )
        return (await self._session.send(call))[0].entries

    async def ack(self, *ids: str, delete: bool = False, references: References | None = None) -> int:
        """Acknowledge entries, like `Group.ack`."""
        if not ids:
            return 0
        call = group_calls.ack(self.key, self.name, ids, delete=delete, references=references)
        return await self._session.send(call)

    async def nack(
        self,
        *ids: str,
        mode: NackMode = "fail",
        retry_count: int | None = None,
        delay_ms: int | None = None,
    ) -> int:
        """Return entries to the group, like `Group.nack`."""
        if not ids:
            return 0
        call = group_calls.nack(self.key, self.name, ids, mode, retry_count, delay_ms)
        return await self._session.send(call)

    async def claim(
        self,
        consumer: str,
        *ids: str,
        min_idle_ms: int,
        idle_ms: int | None = None,
        delivered_at_ms: int | None = None,
        retry_count: int | None = None,
        force: bool = False,
        last_id: str | None = None,
    ) -> list[Entry]:
        """Claim pending entries by their ids, like `Group.claim`."""
        if not ids:
            return []
        changes = ClaimChanges(idle_ms, delivered_at_ms, retry_count, force, last_id)
        return await self._session.send(
            group_calls.claim(self.key, self.name, consumer, ids, min_idle_ms, changes)
        )

    async def extend(self, consumer: str, *ids: str) -> list[str]:
        """Begin the idle time of the consumer's own entries again, like `Group.extend`."""
        if not ids:
            return []
        return await self._session.send(group_calls.extend_own(self.key, self.name, consumer, ids))

    async def autoclaim(
        self, consumer: str, *, min_idle_ms: int, start: str = "0-0", count: int = 100
    ) -> ScanResult:
        """Claim idle entries by a scan, like `Group.autoclaim`."""
        call = group_calls.autoclaim(self.key, self.name, consumer, min_idle_ms, start, count)
        return await self._session.send(call)

    async def pending(
        self,
        *,
        start: str = "-",
        end: str = "+",
        count: int | None = None,
        consumer: str | None = None,
        min_idle_ms: int | None = None,
    ) -> list[models.PendingItem]:
        """Return pending entries, like `Group.pending`."""
        call = group_calls.pending(
            self.key,
            self.name,
            start=start,
            end=end,
            count=count,
            consumer=consumer,
            min_idle_ms=min_idle_ms,
        )
        return (await self._session.send(call)).pending

    async def pending_summary(self) -> models.PendingOverview:
        """Return a summary of the pending entries, like `Group.pending_summary`."""
        return await self._session.send(group_calls.pending_summary(self.key, self.name))
