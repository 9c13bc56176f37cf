"""Settle items for asyncio programs: `Settling` with awaited methods."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Iterable
from typing import Any, Final

from tailrace_client import dead_letters
from tailrace_client.consumer_state import ConsumerState, Read, is_group_missing
from tailrace_client.errors import TailraceError
from tailrace_client.items import AsyncItem, Settlement
from tailrace_client.session import AsyncSession
from tailrace_client.settling import ACKS_WAIT_S

_log: Final = logging.getLogger("tailrace_client")


class AsyncSettling:
    """Settles the items of one consumer, like `Settling`."""

    def __init__(self, session: AsyncSession, state: ConsumerState[AsyncItem]) -> None:
        self._session = session
        self._state = state
        self._done: deque[AsyncItem] = deque()
        self._flushed_at = 0.0

    async def settle_now(self, read: Read, how: Settlement) -> None:
        """Send a settlement, like `Settling.settle_now`."""
        self._state.let_go(read)
        calls = self._state.ack_calls([read]) if how == "ack" else self._state.nack_calls([read], "fail")
        for call in calls:
            try:
                await self._session.send(call)
            except TailraceError as error:
                if not (self._state.options.create_group and is_group_missing(error)):
                    raise
                _log.warning("%s was not settled: %s", read.id, error)

    async def acknowledge_soon(self, item: AsyncItem) -> None:
        """Queue an acknowledgment, like `Settling.acknowledge_soon`."""
        self._done.append(item)
        if time.monotonic() - self._flushed_at >= ACKS_WAIT_S:
            await self.flush()

    async def flush(self) -> None:
        """Send all queued acknowledgments, like `Settling.flush`."""
        done = list(self._done)
        self._done.clear()
        self._flushed_at = time.monotonic()
        await self.send_all(self._state.ack_calls(done))
        for item in done:
            self._state.let_go(item)

    async def failed(self, item: AsyncItem, error: Exception) -> None:
        """Release an item whose handler failed, like `Settling.failed`."""
        if self._state.holds(item) and self._state.is_dead(item.deliveries + 1):
            await self.bury(item.read, item.deliveries + 1, f"{type(error).__name__}: {error}")
        self._state.let_go(item)

    async def bury(self, read: Read, deliveries: int, error: str) -> None:
        """Store an entry as a dead letter, like `Settling.bury`."""
        _log.error("dead letter: %s %s, last error: %s", read.stream, read.id, error or "unknown")
        options = self._state.options
        try:
            await self._session.send(dead_letters.append(options, read, deliveries, error))
            await self._session.send(dead_letters.acknowledge(options, read))
        except TailraceError as failure:
            _log.warning("%s %s stays pending: %s", read.stream, read.id, failure)

    async def send_all(self, calls: Iterable[Any]) -> None:
        """Send the calls, like `Settling.send_all`."""
        for call in calls:
            try:
                await self._session.send(call)
            except TailraceError as error:
                _log.warning("entries stay pending: %s", error)
