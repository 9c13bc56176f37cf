"""The loop of a worker for asyncio programs: `Consumer` with tasks instead of threads.

`consumer_state` decides what to request and keeps the items that are not settled. Workers share one lock: a
worker that finds no waiting item reads the next entries for all workers. One more task extends leases.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from math import inf
from typing import Final

from tailrace_client.async_client import AsyncTailrace
from tailrace_client.async_settling import AsyncSettling
from tailrace_client.consumer_state import ConsumerState, Options, Read, is_group_missing, keys_of
from tailrace_client.errors import TailraceError
from tailrace_client.items import AsyncItem

_log: Final = logging.getLogger("tailrace_client")


Handler = Callable[[AsyncItem], Awaitable[object]]


class AsyncConsumer:
    """One consumer of a group, like `Consumer`. Use it in one event loop."""

    def __init__(  # noqa: PLR0913 - all parameters but four have a default
        self,
        client: AsyncTailrace,
        streams: str | Iterable[str],
        group: str,
        consumer: str,
        *,
        claim_min_idle_ms: int | None = None,
        max_deliveries: int | None = None,
        dead_letter_stream: str | None = None,
        batch: int = 100,
        wait_ms: int = 1_000,
        create_group: bool = True,
        after: str = "0-0",
    ) -> None:
        self.options = Options(
            keys_of(streams),
            group,
            consumer,
            claim_min_idle_ms=claim_min_idle_ms,
            max_deliveries=max_deliveries,
            dead_letter_stream=dead_letter_stream,
            batch=batch,
            wait_ms=wait_ms,
            create_group=create_group,
            after=after,
        )
        self._session = client.session
        self._state: ConsumerState[AsyncItem] = ConsumerState(self.options)
        self._waiting: deque[AsyncItem] = deque()
        self._settling = AsyncSettling(self._session, self._state)
        self._handler: Handler | None = None
        self._reading = asyncio.Lock()
        self._stopped = asyncio.Event()
        self._forever = replace(self._session.settings.retry, deadline_s=inf)
        self._attempts = self._forever.attempts(is_idempotent=True)

    # --- two ways to consume -------------------------------------------------------------------

    async def __aiter__(self) -> AsyncIterator[AsyncItem]:
        """Yield items, like `Consumer.__iter__`.

        If a loop breaks off, the remaining items are returned to the group when the iterator is closed
        (`contextlib.aclosing` closes it at once).
        """
        async with self._running():
            while (item := await self._next()) is not None:
                yield item
                self._state.let_go(item)

    def handler(self, function: Handler) -> Handler:
        """Register the handler, like `Consumer.handler`."""
        self._handler = function
        return function

    async def run(self, handler: Handler | None = None, *, concurrency: int = 1) -> None:
        """Call a coroutine function with each item in `concurrency` tasks, like `Consumer.run`."""
        handle = handler or self._handler
        if handle is None:
            raise ValueError("run needs a handler; pass one, or decorate a function with `consumer.handler`")
        async with self._running():
            workers = [self._work(handle) for _ in range(concurrency)]
            for ended in await asyncio.gather(*workers, return_exceptions=True):
                if isinstance(ended, BaseException):
                    raise ended

    def stop(self) -> None:
        """End the loop, like `Consumer.stop`. Call it in the same event loop."""
        self._stopped.set()

    def stop_on_signals(self, *numbers: signal.Signals) -> None:
        """Stop on signals, like `Consumer.stop_on_signals`. The event loop must be running."""
        for number in numbers or (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self.stop)

    # --- the loop ------------------------------------------------------------------------------

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        beats = asyncio.create_task(self._extend_leases())
        try:
            yield
        finally:
            beats.cancel()
            await self._end()

    async def _work(self, handler: Handler) -> None:
        try:
            while (item := await self._next()) is not None:
                await self._handle(handler, item)
        except BaseException:
            self.stop()  # The other tasks stop too: an error ends the whole run.
            raise

    async def _handle(self, handler: Handler, item: AsyncItem) -> None:
        try:
            await handler(item)
        except Exception as error:  # noqa: BLE001 - any error of a handler concerns only its item
            _log.exception("%r failed", item)
            await self._settling.failed(item, error)
        else:
            if self._state.holds(item):
                await self._settling.acknowledge_soon(item)

    async def _next(self) -> AsyncItem | None:
        """Return the next item; None once the consumer is stopped."""
        if not self._waiting:
            await self._settling.flush()  # The read may now wait for new entries.
        async with self._reading:
            while not self._stopped.is_set():
                if self._waiting:
                    return self._waiting.popleft()
                await self._read()
        return None

    async def _read(self) -> None:
        try:
            reads = self._state.taken(await self._session.attempt(self._state.read_call()))
        except TailraceError as error:
            await self._recover(error)
            return
        self._attempts = self._forever.attempts(is_idempotent=True)
        for read in reads:
            await self._sort(read)

    async def _sort(self, read: Read) -> None:
        """Queue the entry as an item, unless it was deleted or delivered too often."""
        if read.entry.fields is None:
            await self._settling.send_all(
                self._state.ack_calls([read])
            )  # It was deleted while it was pending.
        elif self._state.is_dead(read.entry.deliveries):
            await self._settling.bury(read, read.entry.deliveries, "")
        else:
            item = AsyncItem(read, self._settling.settle_now)
            self._state.hold(item)
            self._waiting.append(item)

    async def _recover(self, error: TailraceError) -> None:
        """Create the missing group, or wait before the next read. Raises `error` if neither can help."""
        if is_group_missing(error) and self.options.create_group:
            await self.create_groups()
            return
        delay_s = self._attempts.delay_after(error)
        self._state.answer_lost()
        _log.warning("read failed, next attempt in %.2f s: %s", delay_s, error)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopped.wait(), delay_s)

    async def create_groups(self) -> None:
        """Create the group on each stream that lacks it."""
        for call in self._state.create_calls():
            try:
                await self._session.send(call)
            except TailraceError as error:
                if error.code != "BUSYGROUP":
                    raise

    # --- the end, and leases -------------------------------------------------------------------

    async def _end(self) -> None:
        """Acknowledge the finished items and return those that no worker started."""
        await self._settling.flush()
        await self._settling.send_all(self._state.nack_calls(self._waiting, "silent"))
        self._waiting.clear()
        self._state.held.clear()
        self._stopped.clear()

    async def _extend_leases(self) -> None:
        while self.options.beat_s is not None:
            await asyncio.sleep(self.options.beat_s)
            try:
                for key, call in self._state.held_calls():
                    extension = self._state.extend_call(key, await self._session.attempt(call))
                    if extension is not None:
                        await self._session.attempt(extension)
            except TailraceError as error:
                _log.warning("leases were not extended: %s", error)
