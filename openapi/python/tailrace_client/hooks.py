"""Hooks: what a consumer reports while it works, for logs, metrics and traces.

`ConsumerHooks` documents the protocol. `Hooking` calls the hooks of one consumer. A hook never changes what
the consumer does: an error of a hook is logged, and the consumer continues. The hooks of blocking and asyncio
consumers are the same, and their methods are not coroutines: they must return quickly."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from types import TracebackType
from typing import Final, Literal, Protocol, TypeAlias, TypeVar

from tailrace_client.consumer_options import ConsumerOptions
from tailrace_client.consumer_state import Work
from tailrace_client.fields import Fields

Outcome: TypeAlias = Literal["acknowledged", "nacked", "failed", "dead_letter", "returned"]

T = TypeVar("T")

_log: Final = logging.getLogger("tailrace_client")

_IDS_SHOWN: Final = 3
"""How many ids a line of the log names."""


class HandledItem(Work, Protocol):
    """The members of an item that hooks read."""

    @property
    def fields(self) -> Fields:
        """The fields of the entry."""
        ...

    @property
    def deliveries(self) -> int:
        """The number of earlier deliveries."""
        ...

    @property
    def idle_ms(self) -> int:
        """The time since the previous delivery."""
        ...


class ConsumerHooks:
    """The protocol of hooks. Derive from this class and override the methods that you need.

    One object may serve several consumers and is called from all threads of `run`. `consumer` has the names
    and options of the consumer: `consumer.group`, `consumer.consumer`.
    """

    def started(self, consumer: ConsumerOptions) -> None:
        """Called before the first read of a run or loop."""

    def stopped(self, consumer: ConsumerOptions) -> None:
        """Called at the end of a run or loop, after the last settlement."""

    def received(self, consumer: ConsumerOptions, stream: str, count: int) -> None:
        """Called after a read, with the number of entries that it returned from this stream."""

    def handling(
        self, consumer: ConsumerOptions, items: Sequence[HandledItem]
    ) -> AbstractContextManager[object]:
        """Return a context that surrounds one call of the handler. It sees the error that the handler raises.

        `items` has one item in `run`, and all items of the batch in `run_batches`. Loops over the consumer
        have no handler, so this is not called.
        """
        del consumer, items
        return nullcontext()

    def failed(self, consumer: ConsumerOptions, item: Work, error: BaseException) -> None:
        """Called for each item whose handler raised, and by `item.fail`. `settled` follows."""

    def settled(self, consumer: ConsumerOptions, items: Sequence[Work], outcome: Outcome) -> None:
        """Called after items were settled.

        `acknowledged`; `nacked`: returned to the group by `nack`; `failed`: they will be delivered again;
        `dead_letter`: moved to the dead letters; `returned`: no worker started them before the stop.
        """

    def lost(self, consumer: ConsumerOptions, items: Sequence[Work]) -> None:
        """Called when the consumer learns that items are lost: another consumer has claimed them, or they are
        no longer pending. `settled` does not follow. The thread that extends leases can call this."""

    def read_failed(self, consumer: ConsumerOptions, error: Exception, delay_s: float) -> None:
        """Called when a read failed; the next attempt follows after `delay_s`."""


class Hooking:
    """The hooks of one consumer. Its methods are those of `ConsumerHooks`, and raise no `Exception`."""

    def __init__(self, options: ConsumerOptions, hooks: Iterable[ConsumerHooks]) -> None:
        self._options = options
        self._hooks = tuple(hooks)

    def started(self) -> None:
        """Report the start."""
        self._each(lambda hook: hook.started(self._options))

    def stopped(self) -> None:
        """Report the end."""
        self._each(lambda hook: hook.stopped(self._options))

    def received(self, stream: str, count: int) -> None:
        """Report entries of a read."""
        if count:
            self._each(lambda hook: hook.received(self._options, stream, count))

    def failed(self, item: Work, error: BaseException) -> None:
        """Report an item whose handler raised."""
        self._each(lambda hook: hook.failed(self._options, item, error))

    def settled(self, items: Sequence[Work], outcome: Outcome) -> None:
        """Report settled items."""
        if items:
            self._each(lambda hook: hook.settled(self._options, items, outcome))

    def lost(self, items: Sequence[Work]) -> None:
        """Report lost items, and log them."""
        for stream in dict.fromkeys(item.stream for item in items):
            ids = [item.id for item in items if item.stream == stream]
            shown = ", ".join(ids[:_IDS_SHOWN]) + (", ..." if len(ids) > _IDS_SHOWN else "")
            _log.warning(
                "lost %d of the entries of %s, claimed by another consumer or no longer pending: %s",
                len(ids),
                stream,
                shown,
            )
        if items:
            self._each(lambda hook: hook.lost(self._options, items))

    def read_failed(self, error: Exception, delay_s: float) -> None:
        """Report a failed read."""
        self._each(lambda hook: hook.read_failed(self._options, error, delay_s))

    @contextmanager
    def handling(self, items: Sequence[HandledItem]) -> Iterator[None]:
        """Surround one call of the handler. Errors of the handler pass through unchanged."""
        with ExitStack() as stack:
            for hook in self._hooks:
                context = _safely(hook, lambda hook: hook.handling(self._options, items))
                if context is not None and _safely(context, _entered):
                    stack.push(_Leaving(context))
            yield

    def _each(self, call: Callable[[ConsumerHooks], None]) -> None:
        for hook in self._hooks:
            _safely(hook, call)


class _Leaving(AbstractContextManager[None]):
    """Leaves the context of a hook. Never suppresses the handler's error, nor replaces it."""

    def __init__(self, context: AbstractContextManager[object]) -> None:
        self._context = context

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._context.__exit__(kind, error, trace)
        except Exception as own:  # noqa: BLE001 - a hook never changes the result of a handler
            if own is not error:
                _log.exception("a hook failed: %r", self._context)


def _entered(context: AbstractContextManager[object]) -> bool:
    context.__enter__()
    return True


H = TypeVar("H")


def _safely(hook: H, call: Callable[[H], T]) -> T | None:
    try:
        return call(hook)
    except Exception:  # noqa: BLE001 - a hook never changes what the consumer does
        _log.exception("a hook failed: %r", hook)
        return None


# --- counters and logs --------------------------------------------------------------------------


_events: Final = logging.getLogger("tailrace_client.consumer")


class LoggingHooks(ConsumerHooks):
    """Logs each settled entry, and the start and the end of a consumer.

    A record has the attributes `stream`, `entry_id`, `group`, `consumer` and `outcome` for structured logs.
    Failures are logged by the consumer itself, with their traceback, also without this hook.
    """

    def __init__(self, logger: logging.Logger = _events, level: int = logging.INFO) -> None:
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
