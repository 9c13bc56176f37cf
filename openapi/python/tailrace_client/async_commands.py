"""Redis commands, reads of several streams and the state of the server, for asyncio programs: `Commands` with
awaited methods. `AsyncTailrace` inherits them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any

from tailrace_client import entry_calls, group_calls, service_calls
from tailrace_client.entries import Slice
from tailrace_client.entry_calls import Page
from tailrace_client.errors import TailraceError
from tailrace_client.following import AsyncFollowing
from tailrace_client.generated import models
from tailrace_client.service_calls import Command, Word, first_failure
from tailrace_client.session import AsyncSession
from tailrace_client.tail import Gap, StreamEntry, StreamsTail, log_gap, positions_of


class AsyncCommands:
    """The methods of `AsyncTailrace` that concern several streams or the server."""

    session: AsyncSession

    # --- Redis commands ------------------------------------------------------------------------

    async def command(self, *words: Word, binary: bool = False) -> Any:
        """Run one Redis command and return its RESP2 reply, like `Tailrace.command`."""
        return await self.session.send(service_calls.command(words, binary=binary))

    async def pipeline(
        self, commands: Iterable[Command], *, binary: bool = False, raise_on_error: bool = True
    ) -> list[Any]:
        """Run commands in one request, like `Tailrace.pipeline`."""
        replies = await self.session.send(service_calls.pipeline(commands, binary=binary))
        return first_failure(replies) if raise_on_error else replies

    async def transaction(
        self, commands: Iterable[Command], *, binary: bool = False, raise_on_error: bool = True
    ) -> list[Any]:
        """Run commands as one transaction, like `Tailrace.transaction`."""
        replies = await self.session.send(service_calls.transaction(commands, binary=binary))
        return first_failure(replies) if raise_on_error else replies

    # --- several streams -----------------------------------------------------------------------

    async def streams(self, prefix: str = "", *, page: int = 1_000) -> AsyncIterator[models.StreamItem]:
        """Yield the key, length, last id and number of groups, like `Tailrace.streams`."""
        start_after: str | bytes | None = None
        while True:
            found = await self.session.send(service_calls.stream_page(prefix, start_after, page))
            for item in found.streams:
                yield item
            start_after = service_calls.next_of(found)
            if start_after is None:
                return

    async def read(
        self,
        positions: Mapping[str, str],
        *,
        count: int | None = None,
        max_count: int | None = None,
        max_bytes: int | None = None,
        wait_ms: int | None = None,
        min_count: int | None = None,
        linger_ms: int | None = None,
        strict: bool = False,
    ) -> dict[str, Page]:
        """Return the entries after a position in each stream, by key, like `Tailrace.read`."""
        call = entry_calls.read(
            positions,
            count=count,
            max_count=max_count,
            max_bytes=max_bytes,
            wait_ms=wait_ms,
            min_count=min_count,
            linger_ms=linger_ms,
            strict=strict,
        )
        return await self.session.send(call)

    async def read_group(  # noqa: PLR0913 - the options of XREADGROUP
        self,
        group: str,
        consumer: str,
        positions: Mapping[str, str] | Iterable[str],
        *,
        count: int | None = None,
        max_count: int | None = None,
        max_bytes: int | None = None,
        wait_ms: int | None = None,
        min_count: int | None = None,
        linger_ms: int | None = None,
        claim_min_idle_ms: int | None = None,
        noack: bool = False,
    ) -> dict[str, Slice]:
        """Read entries of several streams for a consumer, like `Tailrace.read_group`."""
        wanted = positions_of(positions, ">")
        call = group_calls.read(
            group,
            consumer,
            wanted,
            count=count,
            max_count=max_count,
            max_bytes=max_bytes,
            wait_ms=wait_ms,
            min_count=min_count,
            linger_ms=linger_ms,
            claim_min_idle_ms=claim_min_idle_ms,
            noack=noack,
        )
        slices = await self.session.send(call)
        return dict(zip(wanted, slices, strict=True))

    def tail(
        self,
        streams: str | Iterable[str] | Mapping[str, str],
        after: str = "$",
        *,
        on_gap: Callable[[Gap], None] = log_gap,
        filter: str | None = None,  # noqa: A002 - the name of the parameter of the server
    ) -> AsyncFollowing[StreamEntry]:
        """Yield entries of several streams as they arrive, like `Tailrace.tail`."""
        return AsyncFollowing(self.session, StreamsTail(positions_of(streams, after), on_gap, filter))

    # --- the server ----------------------------------------------------------------------------

    async def ping(self) -> None:
        """Return if the server's process answers, like `Tailrace.ping`."""
        await self.session.send(service_calls.health())

    async def is_ready(self) -> bool:
        """Return whether the server can be reached and accepts reads and writes, like `Tailrace.is_ready`."""
        try:
            await self.session.attempt(service_calls.readiness())
        except TailraceError as error:
            if not error.retryable:
                raise
            return False
        return True

    async def limits(self) -> models.Limits:
        """Return the limits of the server, like `Tailrace.limits`."""
        return await self.session.send(service_calls.limits())

    async def access(self) -> models.AccessReply:
        """Return the scopes and key patterns of this client's token, like `Tailrace.access`."""
        return await self.session.send(service_calls.access())

    async def server(self, limit: int | None = None) -> models.ServerState:
        """Return the state of the server, like `Tailrace.server`."""
        return await self.session.send(service_calls.server_state(limit))

    async def create_ticket(self) -> models.Ticket:
        """Return a ticket for the WebSocket of a web page, like `Tailrace.create_ticket`."""
        return await self.session.send(service_calls.ticket())

    async def slow_log(self, limit: int | None = None) -> models.SlowLogPage:
        """Return the slowest operations that the server recorded, like `Tailrace.slow_log`."""
        return await self.session.send(service_calls.slow_operations(limit))

    async def clear_slow_log(self) -> None:
        """Delete the recorded slow operations, like `Tailrace.clear_slow_log`."""
        await self.session.send(service_calls.clear_slow_operations())

    async def explain(self, code: str) -> str:
        """Return the server's page about an error code, like `Tailrace.explain`."""
        return await self.session.send(service_calls.explanation(code))
