"""The loop of a worker for blocking programs: claim and read, handle, acknowledge, and repeat.

`consumer_state` decides what to request and keeps the items that are not settled; this module owns the
threads. Workers share one lock: a worker that finds no waiting item reads the next entries for all workers.
One more thread extends leases.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from types import FrameType
from typing import Final

from tailrace_client.client import Tailrace
from tailrace_client.consumer_state import ConsumerState, Options, Read, is_group_missing, keys_of
from tailrace_client.errors import TailraceError
from tailrace_client.items import Item
from tailrace_client.settling import Settling

_log: Final = logging.getLogger("tailrace_client")


Handler = Callable[[Item], object]


class Consumer:
    """One consumer of a group, over one stream or several.

    Iterate over it and settle each item (`item.ack()`, `item.nack()`), or pass a handler to `run`. An item
    that is not settled, because the program failed or was killed, is delivered again after
    `claim_min_idle_ms`, to the first consumer of the group that reads. Two consumers that run at the same
    time need two names. If the server restarts, the consumer waits for it.

    `claim_min_idle_ms`: also take over entries that have been pending for any consumer for this long. While
    an item is being processed, its lease is extended, so this time may be shorter than the processing. It is
    the time until another consumer takes over the work of a consumer that was killed. None: take over
    nothing, and begin with the entries that are still pending for this name; a failed entry waits for the
    next start.

    `max_deliveries`: an entry that was delivered this many times without an acknowledgment is moved to
    `dead_letter_stream` (by default `<stream>:dead`) with the last error. None: an entry is tried without
    limit.

    `batch`: the most entries to read ahead. `wait_ms`: how long one read waits, which is also how long `stop`
    can take. `create_group`: create missing streams and groups, also if they disappear later; the group
    begins after `after`.
    """

    def __init__(  # noqa: PLR0913 - all parameters but four have a default
        self,
        client: Tailrace,
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
        self._state: ConsumerState[Item] = ConsumerState(self.options)
        self._waiting: deque[Item] = deque()
        self._settling = Settling(self._session, self._state)
        self._handler: Handler | None = None
        self._reading = threading.Lock()
        self._stopped = threading.Event()
        self._forever = replace(self._session.settings.retry, deadline_s=inf)
        self._attempts = self._forever.attempts(is_idempotent=True)

    # --- two ways to consume -------------------------------------------------------------------

    def __iter__(self) -> Iterator[Item]:
        """Yield items as they arrive, until `stop`.

        An item that is not settled when the next item is requested is released and delivered again.
        """
        with self._running():
            while (item := self._next()) is not None:
                yield item
                self._state.let_go(item)

    def handler(self, function: Handler) -> Handler:
        """Register `function` as the handler of `run`. Use it as a decorator."""
        self._handler = function
        return function

    def run(self, handler: Handler | None = None, *, concurrency: int = 1) -> None:
        """Call the handler with each item, in `concurrency` threads, until `stop`.

        An item is acknowledged when its handler returns, unless the handler settled it. If the handler
        raises, the error is logged and the item is delivered again, or becomes a dead letter if this was its
        last delivery. Acknowledgments of fast handlers are sent together.
        """
        handle = handler or self._handler
        if handle is None:
            raise ValueError("run needs a handler; pass one, or decorate a function with `consumer.handler`")
        with self._running():
            if concurrency == 1:
                self._work(handle)
                return
            with ThreadPoolExecutor(concurrency, thread_name_prefix=self.options.consumer) as workers:
                for ended in [workers.submit(self._work, handle) for _ in range(concurrency)]:
                    ended.result()

    def stop(self) -> None:
        """End the loop when the current items are processed; items that no worker started are returned to the
        group. Any thread can call this."""
        self._stopped.set()

    def stop_on_signals(self, *numbers: signal.Signals) -> None:
        """Call `stop` on SIGTERM and SIGINT, or on the given signals. Only the main thread can call this."""

        def stop(_number: int, _frame: FrameType | None) -> None:
            # The interrupted code may hold the lock of the event.
            threading.Thread(target=self.stop).start()

        for number in numbers or (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop)

    # --- the loop ------------------------------------------------------------------------------

    @contextmanager
    def _running(self) -> Iterator[None]:
        ended = threading.Event()
        beats = threading.Thread(target=self._extend_leases, args=(ended,), daemon=True)
        if self.options.beat_s is not None:
            beats.start()
        try:
            yield
        finally:
            ended.set()
            self._end()

    def _work(self, handler: Handler) -> None:
        try:
            while (item := self._next()) is not None:
                self._handle(handler, item)
        except BaseException:
            self.stop()  # The other threads stop too: an error ends the whole run.
            raise

    def _handle(self, handler: Handler, item: Item) -> None:
        try:
            handler(item)
        except Exception as error:  # noqa: BLE001 - any error of a handler concerns only its item
            _log.exception("%r failed", item)
            self._settling.failed(item, error)
        else:
            if self._state.holds(item):
                self._settling.acknowledge_soon(item)

    def _next(self) -> Item | None:
        """Return the next item; None once the consumer is stopped."""
        if not self._waiting:
            self._settling.flush()  # The read may wait for new entries from now on.
        with self._reading:
            while not self._stopped.is_set():
                if self._waiting:
                    return self._waiting.popleft()
                self._read()
        return None

    def _read(self) -> None:
        try:
            reads = self._state.taken(self._session.attempt(self._state.read_call()))
        except TailraceError as error:
            self._recover(error)
            return
        self._attempts = self._forever.attempts(is_idempotent=True)
        for read in reads:
            self._sort(read)

    def _sort(self, read: Read) -> None:
        """Queue the entry as an item, unless it was deleted or delivered too often."""
        if read.entry.fields is None:
            self._settling.send_all(self._state.ack_calls([read]))  # It was deleted while it was pending.
        elif self._state.is_dead(read.entry.deliveries):
            self._settling.bury(read, read.entry.deliveries, "")
        else:
            item = Item(read, self._settling.settle_now)
            self._state.hold(item)
            self._waiting.append(item)

    def _recover(self, error: TailraceError) -> None:
        """Create the missing group, or wait before the next read. Raises `error` if neither can help."""
        if is_group_missing(error) and self.options.create_group:
            self.create_groups()
            return
        delay_s = self._attempts.delay_after(error)
        self._state.answer_lost()
        _log.warning("read failed, next attempt in %.2f s: %s", delay_s, error)
        self._stopped.wait(delay_s)

    def create_groups(self) -> None:
        """Create the group on each stream that lacks it."""
        for call in self._state.create_calls():
            try:
                self._session.send(call)
            except TailraceError as error:
                if error.code != "BUSYGROUP":
                    raise

    # --- the end, and leases -------------------------------------------------------------------

    def _end(self) -> None:
        """Acknowledge the finished items and return those that no worker started."""
        self._settling.flush()
        self._settling.send_all(self._state.nack_calls(self._waiting, "silent"))
        self._waiting.clear()
        self._state.held.clear()
        self._stopped.clear()

    def _extend_leases(self, ended: threading.Event) -> None:
        while not ended.wait(self.options.beat_s):
            try:
                for key, call in self._state.held_calls():
                    extension = self._state.extend_call(key, self._session.attempt(call))
                    if extension is not None:
                        self._session.attempt(extension)
            except TailraceError as error:
                _log.warning("leases were not extended: %s", error)
