"""A consumer of a group, for asyncio programs: loops, batches, and handlers in tasks.

`feed` reads the entries and `settling` settles them; this module owns the workers. One more task extends
leases.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager

from tailrace_client.asynchronous.client import AsyncTailrace
from tailrace_client.asynchronous.feed import AsyncFeed
from tailrace_client.asynchronous.items import AsyncBatch, AsyncItem
from tailrace_client.asynchronous.settling import AsyncSettling
from tailrace_client.consumer_options import (
    CLAIM_MIN_IDLE_MS,
    ConsumerOptions,
    OnFailure,
    OrderBy,
    at_least,
    claim_time,
    keys_of,
)
from tailrace_client.consumer_state import ConsumerState
from tailrace_client.errors import TailraceError
from tailrace_client.group_settings import GroupSettings
from tailrace_client.hooks import ConsumerHooks, Hooking
from tailrace_client.leases import kept_after, leases_of, lose, lost_of
from tailrace_client.session import MS_PER_S
from tailrace_client.stop_signals import AsyncStopSignals
from tailrace_client.tasks import check_handler, every, together

Handler = Callable[[AsyncItem], Awaitable[object]]
BatchHandler = Callable[[AsyncBatch], Awaitable[object]]
Work = Callable[[Sequence[AsyncItem]], Awaitable[None]]


class AsyncConsumer:
    """One consumer of a group, over one stream or several.

    Iterate over it and settle each item (`item.ack()`, `item.nack()`), or pass a handler to `run`. An item
    that is not settled, because the program failed or was killed, is delivered again after
    `claim_min_idle_ms`, to the first consumer of the group that reads. Two consumers that run at the same
    time need two names. If the server restarts, the consumer waits for it.

    `claim_min_idle_ms`: also take over entries that have been pending for any consumer for this long. While
    an item is being processed, its lease is extended, so this time may be shorter than the processing, unless
    `extend_leases` is False. It is the time until another consumer takes over the work of a consumer that was
    killed. Also the default, a minute, overrides the group's own `claim_min_idle_ms`, smaller or greater:
    give the same value to keep to it. None: take over only entries that are idle for the group's
    `claim_min_idle_ms`, none without that setting; extend no lease, and begin with the entries that are still
    pending for this name. A failed entry then waits for the next start, and an entry that was returned for a
    consumer that claims.

    `max_deliveries`: an entry that was delivered this many times without an acknowledgment is moved to
    `dead_letter_stream` (by default `<stream>:dead`) with the last error. None: an entry is tried without
    limit. If the group has a `max_deliveries` of its own, the server applies that one instead.

    `on_failure`: `wait`, a failed entry stays pending and is delivered again after `claim_min_idle_ms`;
    `nack`, it is returned to the group and delivered again to a consumer that claims: after `retry_delay_ms`,
    without it after the backoff of the group, or at once.

    `order_by`: the name of a field, or a function of the fields. Entries with the same value are processed
    one after another in the order of arrival, also with `concurrency`; others at the same time.

    `batch`: the most entries that wait for a worker. `wait_ms`: how long one read waits, which is also how
    long `stop` can take. `create_group`: create missing streams and groups, also if they disappear later; the
    group begins after `after`. `hooks`: objects that observe the consumer; see `ConsumerHooks`.

    `settings`: settings of the group, which the consumer sets when it starts and when it creates the group;
    this needs the scope `admin`. `min_count`: a read waits until so many entries are available, or until
    `linger_ms` after the first one, or until the end of `wait_ms`.
    """

    def __init__(  # noqa: PLR0913 - all parameters but four have a default
        self,
        client: AsyncTailrace,
        streams: str | Iterable[str],
        group: str,
        consumer: str,
        *,
        claim_min_idle_ms: int | None = CLAIM_MIN_IDLE_MS,
        max_deliveries: int | None = None,
        dead_letter_stream: str | None = None,
        on_failure: OnFailure = "wait",
        order_by: OrderBy | None = None,
        extend_leases: bool = True,
        batch: int = 100,
        wait_ms: int = 1_000,
        create_group: bool = True,
        after: str = "0-0",
        settings: GroupSettings | None = None,
        min_count: int | None = None,
        linger_ms: int | None = None,
        retry_delay_ms: int | None = None,
        hooks: Iterable[ConsumerHooks] = (),
    ) -> None:
        self.options = ConsumerOptions(
            streams=keys_of(streams),
            group=group,
            consumer=consumer,
            claim_min_idle_ms=claim_time(claim_min_idle_ms, settings),
            max_deliveries=max_deliveries,
            dead_letter_stream=dead_letter_stream,
            on_failure=on_failure,
            order_by=order_by,
            extend_leases=extend_leases,
            batch=batch,
            wait_ms=wait_ms,
            create_group=create_group,
            after=after,
            settings=settings,
            min_count=min_count,
            linger_ms=linger_ms,
            retry_delay_ms=retry_delay_ms,
        )
        self._session = client.session
        self._hooks = Hooking(self.options, hooks)
        self._state: ConsumerState[AsyncItem] = ConsumerState(self.options)
        self._settling = AsyncSettling(self._session, self._state, self._hooks)
        self._feed = AsyncFeed(self._session, self._state, self._settling, self._hooks)
        self._signals = AsyncStopSignals(self._feed.stop)
        self._handler: Handler | None = None
        self._in_use = threading.Lock()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.options.consumer!r} of {self.options.group!r}>"

    # --- loops ---------------------------------------------------------------------------------

    async def __aiter__(self) -> AsyncIterator[AsyncItem]:
        """Yield items as they arrive, until `stop`.

        An item that is not settled when the next item is requested is released and delivered again. If a loop
        breaks off, the remaining items are returned to the group when the iterator is closed
        (`contextlib.aclosing` closes it at once).
        """
        async with aclosing(self.batches(1)) as batches:
            async for batch in batches:
                yield batch[0]

    def batches(self, size: int = 100, *, fill_ms: int = 0) -> AsyncGenerator[AsyncBatch]:
        """Yield batches of 1 to `size` items as they arrive, until `stop`. Settle each with `batch.ack()`, or
        item by item.

        After its first item, a batch waits up to `fill_ms` for more items. Items that are not settled when
        the next batch is requested are released and delivered again.
        """
        at_least("size", size, 1)
        at_least("fill_ms", fill_ms, 0)
        return self._batches(size, fill_ms / MS_PER_S)

    async def _batches(self, size: int, fill_s: float) -> AsyncGenerator[AsyncBatch]:
        async with self._running():
            while items := await self._feed.take(size, fill_s):
                yield AsyncBatch(items)
                for item in items:
                    self._state.let_go(item)
                self._feed.done(items)

    # --- handlers ------------------------------------------------------------------------------

    def handler(self, function: Handler) -> Handler:
        """Register `function` as the handler of `run`. Use it as a decorator."""
        self._handler = function
        return function

    async def run(self, handler: Handler | None = None, *, concurrency: int = 1) -> None:
        """Call the handler with each item, in `concurrency` tasks, until `stop`.

        An item is acknowledged when its handler returns, unless the handler settled it. If the handler
        raises, the error is logged and the item is delivered again, or becomes a dead letter if this was its
        last delivery. Acknowledgments of fast handlers are sent together.

        If the task of `run` is cancelled, the handlers are cancelled, and their items stay pending.

        An exception that is not an `Exception`, such as `SystemExit`, ends the run: the other handlers
        finish, and the item stays pending.
        """
        handle = handler or self._handler
        if handle is None:
            raise ValueError("run needs a handler; pass one, or decorate a function with `consumer.handler`")
        check_handler(handle)
        handled = self._settling.handled
        await self._run(lambda items: handled(items, lambda: handle(items[0])), concurrency, 1, 0)

    async def run_batches(
        self, handler: BatchHandler, size: int = 100, *, fill_ms: int = 0, concurrency: int = 1
    ) -> None:
        """Call the handler with each batch of 1 to `size` items, in `concurrency` tasks, until `stop`.

        All items are acknowledged when the handler returns, unless the handler settled them. If it raises,
        all items that it did not settle have failed, as in `run`. For errors of single entries, call
        `item.fail(error)` and return.
        """
        at_least("size", size, 1)
        at_least("fill_ms", fill_ms, 0)
        check_handler(handler)
        handled, fill_s = self._settling.handled, fill_ms / MS_PER_S
        await self._run(
            lambda items: handled(items, lambda: handler(AsyncBatch(items))), concurrency, size, fill_s
        )

    def stop(self) -> None:
        """End the loop when the current items are processed; items that no worker started are returned to the
        group. Call it in the same event loop, also more than once."""
        self._feed.stop()

    def stop_on_signals(self, *numbers: signal.Signals) -> None:
        """Call `stop` on SIGTERM and SIGINT, or on the given signals, until the end of the next run or loop.

        A second SIGINT raises `KeyboardInterrupt`. The event loop must be running.
        """
        self._signals.install(numbers)

    # --- workers -------------------------------------------------------------------------------

    async def _run(self, work: Work, concurrency: int, size: int, fill_s: float) -> None:
        at_least("concurrency", concurrency, 1)
        async with self._running():
            name = self.options.consumer
            await together(lambda: self._work(work, size, fill_s), concurrency, name, self.stop)

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
        if not self._in_use.acquire(blocking=False):
            raise RuntimeError(f"{self!r} is running already; use one consumer object for each loop or run")
        try:
            async with every(self.options.beat_s, self._extend_leases):
                self._hooks.started()
                await self._settling.learn_policies()
                yield
        finally:
            try:
                await self._end()
            finally:
                self._signals.restore()
                self._in_use.release()

    async def _extend_leases(self) -> None:
        for lease in leases_of(self._state):
            try:
                kept = await self._session.attempt(lease.call)
            except TailraceError as error:
                kept = kept_after(error, lease)
            lost = lost_of(self._state, lease, set(kept))
            lose(self._state, self._hooks, lost)

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
