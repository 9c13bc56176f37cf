"""Settle items for asyncio programs: send acknowledgments, return entries to the group, store dead letters.

`consumer_state` makes the requests; this module sends them and decides when. It reads no entries.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from typing import Final

from tailrace_client import dead_letters
from tailrace_client.asynchronous.items import AsyncBatch, AsyncItem, Settlement
from tailrace_client.consumer_options import WrongHandlerError
from tailrace_client.consumer_state import ConsumerState, Read, Settle, is_group_missing
from tailrace_client.dead_letters import GroupPolicies, Verdict
from tailrace_client.errors import TailraceError
from tailrace_client.hooks import Hooking, Outcome
from tailrace_client.leases import settled
from tailrace_client.session import AsyncSession
from tailrace_client.tasks import call

ACKS_WAIT_S: Final = 0.05
"""The least time between two requests with acknowledgments while there is more work. Acknowledgments of fast
handlers share a request; those of slow handlers are sent at once."""

_log: Final = logging.getLogger("tailrace_client")


class AsyncSettling:
    """Settles the items of one consumer."""

    def __init__(self, session: AsyncSession, state: ConsumerState[AsyncItem], hooks: Hooking) -> None:
        self._session = session
        self._state = state
        self._hooks = hooks
        self._policies = GroupPolicies(state.options)
        self._done: deque[AsyncItem] = deque()
        self._flushed_at = 0.0

    async def settle_now(
        self, items: Sequence[AsyncItem], how: Settlement, error: BaseException | None, delay_ms: int | None
    ) -> int:
        """Send the settlement of `AsyncItem.ack`, `nack` or `fail`, and return how many entries were
        pending. Raises `TailraceError`; the items are released even then.

        With `create_group`, a missing group is no error, because the next read creates it again: the items
        are lost.
        """
        if error is not None:
            await self.failed(items, error)
            return len(items)
        for item in items:
            self._state.let_go(item)
        total = 0
        for settle in self._state.settle_calls(items, how, delay_ms=delay_ms):
            try:
                count = await self._session.send(settle.call)
            except TailraceError as refused:
                if not (self._state.options.create_group and is_group_missing(refused)):
                    raise
                count = 0
            total += count
            settled(self._state, self._hooks, settle, count, "acknowledged" if how == "ack" else "nacked")
        return total

    async def handled(self, items: Sequence[AsyncItem], handle: Callable[[], Awaitable[object]]) -> None:
        """Call the handler of the items. Acknowledge those that it did not settle, or let them fail if it
        raises."""
        try:
            with self._hooks.handling(items):
                await call(handle)
        except WrongHandlerError:
            raise
        except Exception as error:  # noqa: BLE001 - any error of a handler concerns only its items
            _log.exception("%r failed", items[0] if len(items) == 1 else AsyncBatch(items))
            await self.failed([item for item in items if self._state.holds(item)], error)
        else:
            await self.acknowledge_soon([item for item in items if self._state.holds(item)])

    async def acknowledge_soon(self, items: Iterable[AsyncItem]) -> None:
        """Queue acknowledgments, and send the queued ones if the last request was long enough ago."""
        self._done.extend(items)
        if time.monotonic() - self._flushed_at >= ACKS_WAIT_S:
            await self.flush()

    async def flush(self) -> None:
        """Send all queued acknowledgments. Tasks can call this at the same time: each item is taken by one
        of them."""
        done = []
        with suppress(IndexError):
            while True:
                done.append(self._done.popleft())
        self._flushed_at = time.monotonic()
        left = [item for item in done if self._state.holds(item)]
        for item in left:
            item.is_leaving = True
        try:
            await self.send_all(self._state.settle_calls(left, "ack"), "acknowledged")
        except BaseException:
            self._done.extend(done)  # The program is interrupted: the end of the loop sends them.
            raise
        for item in done:
            self._state.let_go(item)

    async def failed(self, items: Iterable[AsyncItem], error: BaseException) -> None:
        """Release items whose handler failed. After their last delivery they become dead letters."""
        for item in items:
            read = item.read
            self._hooks.failed(read, error)
            deliveries = read.entry.deliveries + 1
            verdict = await self.verdict(read.stream, deliveries)
            if not self._state.holds(item):
                continue
            if verdict == "bury":
                await self.bury(read, deliveries, f"{type(error).__name__}: {error}")
            elif verdict == "server_buries":
                _log.error("dead letter: %s %s, last error: %r", read.stream, read.id, error)
                await self.send_all(self._state.settle_calls([item], "nack"), "dead_letter")
            elif self._state.options.on_failure == "nack":
                calls = self._state.settle_calls([item], "nack", delay_ms=self._state.options.retry_delay_ms)
                await self.send_all(calls, "failed")
            else:
                self._hooks.settled([read], "failed")
            self._state.let_go(item)

    async def verdict(self, stream: str, deliveries: int) -> Verdict:
        """Return what to do with an entry that was delivered this many times. If the settings of its group
        cannot be read, the entry is tried again."""
        call = self._policies.call(stream)
        try:
            if call is not None:
                self._policies.learn(stream, await self._session.send(call))
        except TailraceError as error:
            if not self._policies.learn_error(stream, error):
                _log.warning("the settings of the group could not be read: %s", error)
                return "retry"
        return self._policies.verdict(stream, deliveries)

    async def learn_policies(self) -> None:
        """Read the settings of the group on each stream, if the consumer has settings that they replace."""
        streams = self._state.options.streams if self._state.options.max_deliveries is not None else ()
        for stream in streams:
            call = self._policies.call(stream)
            try:
                if call is not None:
                    self._policies.learn(stream, await self._session.attempt(call))
            except TailraceError as error:
                self._policies.learn_error(stream, error)

    async def bury(self, read: Read, deliveries: int, error: str) -> None:
        """Store an entry as a dead letter and log it. `deliveries`: how often it was delivered."""
        _log.error("dead letter: %s %s, last error: %s", read.stream, read.id, error or "unknown")
        options = self._state.options
        try:
            await self._session.send(dead_letters.append(options, read, deliveries, error))
            await self._session.send(dead_letters.acknowledge(options, read))
        except TailraceError as failure:
            _log.warning("%s %s stays pending: %s", read.stream, read.id, failure)
        else:
            self._hooks.settled([read], "dead_letter")

    async def acknowledge_deleted(self, read: Read) -> None:
        """Acknowledge an entry that was deleted while it was pending."""
        await self.send_all(self._state.settle_calls([read], "ack"), "acknowledged")

    async def give_back(self, items: Sequence[AsyncItem]) -> None:
        """Return items that no worker started to the group, as if they had not been delivered."""
        await self.send_all(self._state.settle_calls(items, "nack", "silent"), "returned")

    async def send_all(self, settles: Iterable[Settle], outcome: Outcome) -> None:
        """Send the calls. If one fails permanently, its entries stay pending and are delivered again, and the
        loop continues."""
        for settle in settles:
            try:
                count = await self._session.send(settle.call)
            except TailraceError as error:
                if not is_group_missing(error):
                    _log.warning("entries stay pending: %s", error)
                    continue
                count = 0
            settled(self._state, self._hooks, settle, count, outcome)
