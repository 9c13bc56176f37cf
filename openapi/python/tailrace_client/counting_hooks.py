"""Hooks that count what consumers do and log it, without any package besides the standard library."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Final

from tailrace_client.consumer_options import ConsumerOptions
from tailrace_client.consumer_state import Work
from tailrace_client.hooks import ConsumerHooks, HandledItem, Outcome

_log: Final = logging.getLogger("tailrace_client.consumer")


class LoggingHooks(ConsumerHooks):
    """Logs each settled entry, and the start and the end of a consumer.

    A record has the attributes `stream`, `entry_id`, `group`, `consumer` and `outcome` for structured logs.
    Failures are logged by the consumer itself, with their traceback, also without this hook.
    """

    def __init__(self, logger: logging.Logger = _log, level: int = logging.INFO) -> None:
        self._logger = logger
        self._level = level

    def started(self, consumer: ConsumerOptions) -> None:
        """Log the start."""
        self._say("consumer %s of group %s started: %s", consumer, consumer.streams)

    def stopped(self, consumer: ConsumerOptions) -> None:
        """Log the end."""
        self._say("consumer %s of group %s stopped: %s", consumer, consumer.streams)

    def settled(self, consumer: ConsumerOptions, items: Sequence[Work], outcome: Outcome) -> None:
        """Log each entry with its outcome."""
        if not self._logger.isEnabledFor(self._level):
            return
        names = {"group": consumer.group, "consumer": consumer.consumer, "outcome": outcome}
        for item in items:
            extra = {**names, "stream": item.stream, "entry_id": item.id}
            self._logger.log(self._level, "%s %s %s", outcome, item.stream, item.id, extra=extra)

    def _say(self, text: str, consumer: ConsumerOptions, streams: Sequence[str]) -> None:
        extra = {"group": consumer.group, "consumer": consumer.consumer}
        shown = ", ".join(streams)
        self._logger.log(self._level, text, consumer.consumer, consumer.group, shown, extra=extra)


class CountingHooks(ConsumerHooks):
    """Counts entries and handler time, for any system of metrics. Threads can read the counts at any time.

    `received_count`: entries that reads returned. `outcomes`: the number of settled entries by outcome.
    `handled`: calls of the handler. `handling_s`: the time in handlers in total. `in_hand`: entries that
    handlers have now. `read_failures`: reads that failed. `lost_count`: entries that were lost to another
    consumer.
    """

    def __init__(self) -> None:
        self.received_count = 0
        self.outcomes: Counter[Outcome] = Counter()
        self.handled = 0
        self.handling_s = 0.0
        self.in_hand = 0
        self.read_failures = 0
        self.lost_count = 0
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} received={self.received_count} {dict(self.outcomes)}>"

    def received(self, consumer: ConsumerOptions, stream: str, count: int) -> None:
        """Count received entries."""
        del consumer, stream
        with self._lock:
            self.received_count += count

    def settled(self, consumer: ConsumerOptions, items: Sequence[Work], outcome: Outcome) -> None:
        """Count settled entries."""
        del consumer
        with self._lock:
            self.outcomes[outcome] += len(items)

    def lost(self, consumer: ConsumerOptions, items: Sequence[Work]) -> None:
        """Count lost entries."""
        del consumer
        with self._lock:
            self.lost_count += len(items)

    def read_failed(self, consumer: ConsumerOptions, error: Exception, delay_s: float) -> None:
        """Count failed reads."""
        del consumer, error, delay_s
        with self._lock:
            self.read_failures += 1

    def handling(
        self, consumer: ConsumerOptions, items: Sequence[HandledItem]
    ) -> AbstractContextManager[object]:
        """Measure one call of the handler."""
        del consumer
        return self._measured(len(items))

    @contextmanager
    def _measured(self, count: int) -> Iterator[None]:
        began = time.perf_counter()
        with self._lock:
            self.in_hand += count
        try:
            yield
        finally:
            with self._lock:
                self.in_hand -= count
                self.handled += 1
                self.handling_s += time.perf_counter() - began
