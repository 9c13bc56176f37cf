"""The source of a consumer's items, for tasks: reads entries when workers need some, and no earlier.

`consumer_state` decides what to request, and `work_queue` which item is next. A worker
that finds no ready item reads the next entries for all workers; only one worker reads at a time, and
the others wait for it, or for an item that becomes ready. At most `batch` items wait for a worker: slow
handlers make the consumer read later.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Final

from tailrace_client.asynchronous.items import AsyncItem
from tailrace_client.asynchronous.settling import AsyncSettling
from tailrace_client.consumer_state import ConsumerState, Read, is_group_missing
from tailrace_client.errors import TailraceError
from tailrace_client.hooks import Hooking
from tailrace_client.leases import lose
from tailrace_client.session import MS_PER_S, AsyncSession
from tailrace_client.tasks import Changes
from tailrace_client.work_queue import WorkQueue

_log: Final = logging.getLogger("tailrace_client")


class AsyncFeed:
    """The items of one consumer, until `stop`."""

    def __init__(
        self, session: AsyncSession, state: ConsumerState[AsyncItem], settling: AsyncSettling, hooks: Hooking
    ) -> None:
        self._session = session
        self._state = state
        self._settling = settling
        self._hooks = hooks
        self._queue: WorkQueue[AsyncItem] = WorkQueue(state.options.batch, state.options.order_by)
        self._changed = Changes()
        self._is_reading = False
        self._is_stopped = False
        self._forever = replace(session.settings.retry, deadline_s=inf)
        self._attempts = self._forever.attempts(is_idempotent=True)

    async def take(self, most: int, fill_s: float = 0.0) -> list[AsyncItem]:
        """Wait for items and return at most `most`; none once the feed is stopped.

        After the first item, it waits up to `fill_s` for more of them.
        """
        items = await self._take(most, None)
        deadline = time.monotonic() + fill_s
        while items and len(items) < most:
            more = await self._take(most - len(items), deadline)
            if not more:
                break
            items += more
        return items

    def done(self, items: Sequence[AsyncItem]) -> None:
        """Let workers have the successors of these items in their order."""
        with self._changed:
            self._queue.done(items)
            self._changed.notify_all()

    def stop(self) -> None:
        """Return no further items. A read that is under way ends first."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()

    def end(self) -> list[AsyncItem]:
        """Return the items that no worker took, and make the feed ready for another run."""
        with self._changed:
            self._is_stopped = False
            return self._queue.drain()

    # --- reading -------------------------------------------------------------------------------

    async def _take(self, most: int, deadline: float | None) -> list[AsyncItem]:
        while True:
            if not self._queue.has_ready:
                await self._settling.flush()  # The worker may wait for new entries from now on.
            with self._changed:
                items = await self._take_or_read(most, deadline)
            if items is not None:
                return items
            try:
                await self._read(deadline)
            finally:
                with self._changed:
                    self._is_reading = False
                    self._changed.notify_all()

    async def _take_or_read(self, most: int, deadline: float | None) -> list[AsyncItem] | None:
        """Return items, or none at the end; None if this worker has to read entries."""
        while not self._is_stopped:
            if items := self._queue.take(most):
                return items
            left_s = None if deadline is None else deadline - time.monotonic()
            if left_s is not None and left_s <= 0:
                return []
            if not self._is_reading and self._queue.room > 0:
                self._is_reading = True
                return None
            await self._changed.wait(left_s)
        return []

    async def _read(self, deadline: float | None) -> None:
        wait_ms = self._state.options.wait_ms
        if deadline is not None:
            wait_ms = min(wait_ms, max(0, int((deadline - time.monotonic()) * MS_PER_S)))
        try:
            for setting in self._state.settings_calls():
                await self._session.attempt(setting)
            call = self._state.read_call(self._queue.room, wait_ms)
            reads = self._state.taken(await self._session.attempt(call))
        except TailraceError as error:
            await self._recover(error)
            return
        self._attempts = self._forever.attempts(is_idempotent=True)
        for stream in dict.fromkeys(read.stream for read in reads):
            self._hooks.received(stream, sum(read.stream == stream for read in reads))
        for read in reads:
            await self._sort(read)

    async def _sort(self, read: Read) -> None:
        """Queue the entry as an item, unless it was deleted or delivered too often."""
        deliveries = read.entry.deliveries
        if read.entry.fields is None:
            await self._settling.acknowledge_deleted(read)
            return
        if (
            self._state.may_be_dead(deliveries)
            and await self._settling.verdict(read.stream, deliveries) == "bury"
        ):
            await self._settling.bury(read, deliveries, "")
            return
        item = AsyncItem(read, self._settling.settle_now)
        self._state.hold(item)
        try:
            with self._changed:
                self._queue.put(item)
        except Exception as error:  # noqa: BLE001 - an error of `order_by` concerns only its item
            await self._settling.failed([item], error)

    async def _recover(self, error: TailraceError) -> None:
        """Create the missing group, or wait before the next read. Raises `error` if neither can help."""
        if is_group_missing(error) and self._state.options.create_group:
            if await self._is_another_stream(error):
                lose(self._state, self._hooks, self._state.begin_anew(error))
            await self.create_groups()
            return
        delay_s = self._attempts.delay_after(error)
        self._state.answer_lost()
        _log.warning("read failed, next attempt in %.2f s: %s", delay_s, error)
        self._hooks.read_failed(error, delay_s)
        deadline = time.monotonic() + delay_s
        with self._changed:
            while not self._is_stopped and (left_s := deadline - time.monotonic()) > 0:
                await self._changed.wait(left_s)

    async def _is_another_stream(self, error: TailraceError) -> bool:
        """Return whether the stream of a missing group is not the one that the consumer has read, as far as
        its last entry tells."""
        look = self._state.look_call(error)
        if look is None:
            return True
        try:
            return not self._state.is_newest(error, await self._session.send(look))
        except TailraceError as refused:
            if refused.retryable:
                raise
            return True

    async def create_groups(self) -> None:
        """Create the group on each stream that lacks it."""
        for call in self._state.create_calls():
            try:
                await self._session.send(call)
            except TailraceError as error:
                if error.code != "BUSYGROUP":
                    raise
