"""The loop of a worker, for programs that block: claim and read, handle, acknowledge, over and over.

What is asked and held stands in `consumer_state`; here are the threads. Workers take turns at one lock: who
finds nothing to hand out reads the next entries for all. One more thread extends leases.
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

    Iterate over it and settle each item (`item.ack()`, `item.nack()`), or give `run` a handler. What is
    settled in neither way, because the program failed or died, comes back after `claim_min_idle_ms`, to
    whichever consumer of the group asks first. Two consumers that run at a time need two names. A server that
    restarts is waited for.

    `claim_min_idle_ms`: also take over what has been pending for anyone so long. While an item is worked on,
    its lease is extended, so this may be shorter than the work; it is how long a dead consumer's work lies.
    None: take over nothing, and begin with what this name still has pending; what fails waits for the next
    start.

    `max_deliveries`: an entry that was delivered so often, and is still not acknowledged, goes to
    `dead_letter_stream` (`<stream>:dead` unless said) with the last error. None: it is tried for ever.

    `batch`: the most entries read ahead. `wait_ms`: how long one read waits, and so how long `stop` may take.
    `create_group`: make streams and group where they are missing, also where they vanish later; the group
    begins after `after`.
    """

    def __init__(  # noqa: PLR0913 - all but four have a default
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
        """Items as they come, until `stop`.

        An item that is not settled when the next one is asked for is no longer taken care of: it comes back.
        """
        with self._running():
            while (item := self._next()) is not None:
                yield item
                self._state.let_go(item)

    def handler(self, function: Handler) -> Handler:
        """Make `function` what `run` calls; for use as a decorator."""
        self._handler = function
        return function

    def run(self, handler: Handler | None = None, *, concurrency: int = 1) -> None:
        """Call the handler with each item, in `concurrency` threads, until `stop`.

        An item is acknowledged when its handler returns, unless it settled the item itself. Where it raises,
        that is logged, and the item comes back, or becomes a dead letter if that was its last delivery.
        Acknowledgments of fast handlers go together.
        """
        handle = handler or self._handler
        if handle is None:
            raise ValueError("run needs a handler: give it one, or decorate one with `consumer.handler`")
        with self._running():
            if concurrency == 1:
                self._work(handle)
                return
            with ThreadPoolExecutor(concurrency, thread_name_prefix=self.options.consumer) as workers:
                for ended in [workers.submit(self._work, handle) for _ in range(concurrency)]:
                    ended.result()

    def stop(self) -> None:
        """End the loop when the work in hand is done; what was not begun is given back. Any thread may call
        it."""
        self._stopped.set()

    def stop_on_signals(self, *numbers: signal.Signals) -> None:
        """Have SIGTERM and SIGINT, or those given, call `stop`. Only the main thread may do this."""

        def stop(_number: int, _frame: FrameType | None) -> None:
            # An event's lock may be held by the very code that the signal interrupted.
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
            self.stop()  # the other threads too: the error ends the whole run
            raise

    def _handle(self, handler: Handler, item: Item) -> None:
        try:
            handler(item)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this item's
            _log.exception("%r failed", item)
            self._settling.failed(item, error)
        else:
            if self._state.holds(item):
                self._settling.acknowledge_soon(item)

    def _next(self) -> Item | None:
        """The next item to work on; None once it is to stop."""
        if not self._waiting:
            self._settling.flush()  # it may wait now
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
        """To be worked on, unless it is past that."""
        if read.entry.fields is None:
            self._settling.send_all(self._state.ack_calls([read]))  # deleted while it was pending
        elif self._state.is_dead(read.entry.deliveries):
            self._settling.bury(read, read.entry.deliveries, "")
        else:
            item = Item(read, self._settling.settle_now)
            self._state.hold(item)
            self._waiting.append(item)

    def _recover(self, error: TailraceError) -> None:
        """Do what can be done so that the next read succeeds. Raises `error` where that is nothing."""
        if is_group_missing(error) and self.options.create_group:
            self.create_groups()
            return
        delay_s = self._attempts.delay_after(error)
        self._state.answer_lost()
        _log.warning("reading again in %.2f s: %s", delay_s, error)
        self._stopped.wait(delay_s)

    def create_groups(self) -> None:
        """Make the group on each stream that does not have it."""
        for call in self._state.create_calls():
            try:
                self._session.send(call)
            except TailraceError as error:
                if error.code != "BUSYGROUP":
                    raise

    # --- the end, and leases -------------------------------------------------------------------

    def _end(self) -> None:
        """Acknowledge what is done, give back what was not begun."""
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
