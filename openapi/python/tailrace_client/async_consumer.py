"""A consumer of a group, for asyncio programs: `Consumer` with tasks instead of threads."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager

from tailrace_client.async_client import AsyncTailrace
from tailrace_client.async_feed import AsyncFeed
from tailrace_client.async_settling import AsyncSettling
from tailrace_client.consumer_base import ConsumerBase
from tailrace_client.consumer_options import at_least
from tailrace_client.consumer_state import ConsumerState
from tailrace_client.feed import MS_PER_S
from tailrace_client.hooks import ConsumerHooks, Hooking
from tailrace_client.items import AsyncBatch, AsyncItem
from tailrace_client.leases import extending_async
from tailrace_client.stop_signals import AsyncStopSignals

Handler = Callable[[AsyncItem], Awaitable[object]]
BatchHandler = Callable[[AsyncBatch], Awaitable[object]]
Work = Callable[[Sequence[AsyncItem]], Awaitable[None]]


class AsyncConsumer(ConsumerBase[AsyncTailrace]):
    """One consumer of a group, with the parameters and the behavior of `Consumer`.

    Use it in one event loop.
    """

    def _begin(self, client: AsyncTailrace, hooks: Iterable[ConsumerHooks]) -> None:
        self._session = client.session
        self._hooks = Hooking(self.options, hooks)
        self._state: ConsumerState[AsyncItem] = ConsumerState(self.options)
        self._settling = AsyncSettling(self._session, self._state, self._hooks)
        self._feed = AsyncFeed(self._session, self._state, self._settling, self._hooks)
        self._signals = AsyncStopSignals(self._feed.stop)
        self._handler: Handler | None = None
        self._is_running = False

    # --- loops ---------------------------------------------------------------------------------

    async def __aiter__(self) -> AsyncIterator[AsyncItem]:
        """Yield items as they arrive, like `Consumer.__iter__`.

        If a loop breaks off, the remaining items are returned to the group when the iterator is closed
        (`contextlib.aclosing` closes it at once).
        """
        async with aclosing(self.batches(1)) as batches:
            async for batch in batches:
                yield batch[0]

    def batches(self, size: int = 100, *, fill_ms: int = 0) -> AsyncGenerator[AsyncBatch, None]:
        """Yield batches of items as they arrive, like `Consumer.batches`."""
        at_least("size", size, 1)
        at_least("fill_ms", fill_ms, 0)
        return self._batches(size, fill_ms / MS_PER_S)

    async def _batches(self, size: int, fill_s: float) -> AsyncGenerator[AsyncBatch, None]:
        async with self._running():
            while items := await self._feed.take(size, fill_s):
                yield AsyncBatch(items)
                for item in items:
                    self._state.let_go(item)
                self._feed.done(items)

    # --- handlers ------------------------------------------------------------------------------

    def handler(self, function: Handler) -> Handler:
        """Register the handler of `run`, like `Consumer.handler`."""
        self._handler = function
        return function

    async def run(self, handler: Handler | None = None, *, concurrency: int = 1) -> None:
        """Call a coroutine function with each item in `concurrency` tasks, like `Consumer.run`.

        If the task of `run` is cancelled, the handlers are cancelled, and their items stay pending.
        """
        handle = handler or self._handler
        if handle is None:
            raise ValueError("run needs a handler; pass one, or decorate a function with `consumer.handler`")
        handled = self._settling.handled
        await self._run(lambda items: handled(items, lambda: handle(items[0])), concurrency, 1, 0)

    async def run_batches(
        self, handler: BatchHandler, size: int = 100, *, fill_ms: int = 0, concurrency: int = 1
    ) -> None:
        """Call a coroutine function with each batch in `concurrency` tasks, like `Consumer.run_batches`."""
        at_least("size", size, 1)
        at_least("fill_ms", fill_ms, 0)
        handled, fill_s = self._settling.handled, fill_ms / MS_PER_S
        await self._run(
            lambda items: handled(items, lambda: handler(AsyncBatch(items))), concurrency, size, fill_s
        )

    def stop(self) -> None:
        """End the loop, like `Consumer.stop`. Call it in the same event loop."""
        self._feed.stop()

    def stop_on_signals(self, *numbers: signal.Signals) -> None:
        """Stop on signals, like `Consumer.stop_on_signals`. The event loop must be running."""
        self._signals.install(numbers)

    # --- workers -------------------------------------------------------------------------------

    async def _run(self, work: Work, concurrency: int, size: int, fill_s: float) -> None:
        at_least("concurrency", concurrency, 1)
        async with self._running():
            workers = [self._work(work, size, fill_s) for _ in range(concurrency)]
            for ended in await asyncio.gather(*workers, return_exceptions=True):
                if isinstance(ended, BaseException):
                    raise ended

    async def _work(self, work: Work, size: int, fill_s: float) -> None:
        try:
            while items := await self._feed.take(size, fill_s):
                await work(items)
                self._feed.done(items)
        except BaseException:
            self.stop()  # The other tasks stop too: an error ends the whole run.
            raise

    # --- start and end -------------------------------------------------------------------------

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        if self._is_running:
            raise RuntimeError(f"{self!r} is running already; use one consumer object for each loop or run")
        self._is_running = True
        try:
            async with extending_async(self._session, self._state, self._hooks):
                self._hooks.started()
                await self._settling.learn_policies()
                yield
        finally:
            try:
                await self._end()
            finally:
                self._signals.restore()
                self._is_running = False

    async def create_groups(self) -> None:
        """Create the group on each stream that lacks it."""
        await self._feed.create_groups()

    async def _end(self) -> None:
        """Acknowledge the finished items and return those that no worker started."""
        try:
            try:
                await self._settling.flush()
            finally:
                rest = self._feed.end()
            if self.options.claim_min_idle_ms is not None:
                await self._settling.give_back(
                    [item for item in rest if self._state.holds(item)]
                )  # Only consumers that claim receive them.
        finally:
            self._state.held.clear()
            self._state.begin_again()
            self._hooks.stopped()
