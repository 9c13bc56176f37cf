"""A consumer of a group, for blocking programs: loops, batches, and handlers in threads.

`feed` reads the entries and `settling` settles them; this module owns the workers. One more thread extends
leases.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from tailrace_client.client import Tailrace
from tailrace_client.consumer_base import ConsumerBase
from tailrace_client.consumer_options import at_least, refuse_coroutines
from tailrace_client.consumer_state import ConsumerState
from tailrace_client.feed import MS_PER_S, Feed
from tailrace_client.hooks import ConsumerHooks, Hooking
from tailrace_client.items import Batch, Item
from tailrace_client.leases import extending
from tailrace_client.settling import Settling
from tailrace_client.stop_signals import StopSignals

Handler = Callable[[Item], object]
BatchHandler = Callable[[Batch], object]
Work = Callable[[Sequence[Item]], None]


class Consumer(ConsumerBase[Tailrace]):
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

    def _begin(self, client: Tailrace, hooks: Iterable[ConsumerHooks]) -> None:
        self._session = client.session
        self._hooks = Hooking(self.options, hooks)
        self._state: ConsumerState[Item] = ConsumerState(self.options)
        self._settling = Settling(self._session, self._state, self._hooks)
        self._feed = Feed(self._session, self._state, self._settling, self._hooks)
        self._signals = StopSignals(self._feed.stop)
        self._handler: Handler | None = None
        self._in_use = threading.Lock()

    # --- loops ---------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Item]:
        """Yield items as they arrive, until `stop`.

        An item that is not settled when the next item is requested is released and delivered again.
        """
        for batch in self.batches(1):
            yield batch[0]

    def batches(self, size: int = 100, *, fill_ms: int = 0) -> Iterator[Batch]:
        """Yield batches of 1 to `size` items as they arrive, until `stop`. Settle each with `batch.ack()`, or
        item by item.

        After its first item, a batch waits up to `fill_ms` for more items. Items that are not settled when
        the next batch is requested are released and delivered again.
        """
        at_least("size", size, 1)
        at_least("fill_ms", fill_ms, 0)
        return self._batches(size, fill_ms / MS_PER_S)

    def _batches(self, size: int, fill_s: float) -> Iterator[Batch]:
        with self._running():
            while items := self._feed.take(size, fill_s):
                yield Batch(items)
                for item in items:
                    self._state.let_go(item)
                self._feed.done(items)

    # --- handlers ------------------------------------------------------------------------------

    def handler(self, function: Handler) -> Handler:
        """Register `function` as the handler of `run`. Use it as a decorator."""
        self._handler = function
        return function

    def run(self, handler: Handler | None = None, *, concurrency: int = 1) -> None:
        """Call the handler with each item, in `concurrency` threads, until `stop`.

        An item is acknowledged when its handler returns, unless the handler settled it. If the handler
        raises, the error is logged and the item is delivered again, or becomes a dead letter if this was its
        last delivery. Acknowledgments of fast handlers are sent together.

        An exception that is not an `Exception`, such as `SystemExit`, ends the run: the other handlers
        finish, and the item stays pending.
        """
        handle = handler or self._handler
        if handle is None:
            raise ValueError("run needs a handler; pass one, or decorate a function with `consumer.handler`")
        refuse_coroutines(handle)
        self._run(lambda items: self._settling.handled(items, lambda: handle(items[0])), concurrency, 1, 0)

    def run_batches(
        self, handler: BatchHandler, size: int = 100, *, fill_ms: int = 0, concurrency: int = 1
    ) -> None:
        """Call the handler with each batch of 1 to `size` items, in `concurrency` threads, until `stop`.

        All items are acknowledged when the handler returns, unless the handler settled them. If it raises,
        all items that it did not settle have failed, as in `run`. For errors of single entries, call
        `item.fail(error)` and return.
        """
        at_least("size", size, 1)
        at_least("fill_ms", fill_ms, 0)
        refuse_coroutines(handler)
        handled, fill_s = self._settling.handled, fill_ms / MS_PER_S
        self._run(lambda items: handled(items, lambda: handler(Batch(items))), concurrency, size, fill_s)

    def stop(self) -> None:
        """End the loop when the current items are processed; items that no worker started are returned to the
        group. Any thread can call this, also more than once."""
        self._feed.stop()

    def stop_on_signals(self, *numbers: signal.Signals) -> None:
        """Call `stop` on SIGTERM and SIGINT, or on the given signals, until the end of the next run or loop.

        A second SIGINT raises `KeyboardInterrupt`. Only the main thread can call this.
        """
        self._signals.install(numbers)

    # --- workers -------------------------------------------------------------------------------

    def _run(self, work: Work, concurrency: int, size: int, fill_s: float) -> None:
        at_least("concurrency", concurrency, 1)
        with self._running():
            if concurrency == 1:
                self._work(work, size, fill_s)
                return
            with ThreadPoolExecutor(concurrency, thread_name_prefix=self.options.consumer) as workers:
                try:
                    runs = [workers.submit(self._work, work, size, fill_s) for _ in range(concurrency)]
                    for ended in runs:
                        ended.result()
                except BaseException:
                    self.stop()  # Otherwise Ctrl-C would wait for the workers without end.
                    raise

    def _work(self, work: Work, size: int, fill_s: float) -> None:
        try:
            while items := self._feed.take(size, fill_s):
                work(items)
                self._feed.done(items)
        except BaseException:
            self.stop()  # The other threads stop too: an error ends the whole run.
            raise

    # --- start and end -------------------------------------------------------------------------

    @contextmanager
    def _running(self) -> Iterator[None]:
        if not self._in_use.acquire(blocking=False):
            raise RuntimeError(f"{self!r} is running already; use one consumer object for each loop or run")
        try:
            with extending(self._session, self._state, self._hooks):
                self._hooks.started()
                self._settling.learn_policies()
                yield
        finally:
            try:
                self._end()
            finally:
                self._signals.restore()
                self._in_use.release()

    def create_groups(self) -> None:
        """Create the group on each stream that lacks it."""
        self._feed.create_groups()

    def _end(self) -> None:
        """Acknowledge the finished items and return those that no worker started."""
        try:
            try:
                self._settling.flush()
            finally:
                rest = self._feed.end()
            if self.options.claim_min_idle_ms is not None:
                self._settling.give_back(
                    [item for item in rest if self._state.holds(item)]
                )  # Only consumers that claim receive them.
        finally:
            self._state.held.clear()
            self._state.begin_again()
            self._hooks.stopped()
