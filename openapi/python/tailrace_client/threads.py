"""What blocking programs do in a way of their own: waiting, working at the same time, losing an item.

`tasks` has the same names for asyncio programs, and documents them.
"""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice
from typing import Final, Protocol, TypeVar

from tailrace_client.consumer_options import WrongHandlerError

T = TypeVar("T")
sleep = time.sleep

Changes = threading.Condition

_FIRST_WAIT: Final = threading.Lock()
"""Guards the creation of an event, because few programs wait for the loss of an item."""


class Opens(Protocol):
    """What `opened` opens."""

    def __enter__(self) -> object: ...


OpensT = TypeVar("OpensT", bound=Opens)


def opened(following: OpensT) -> OpensT:
    """Open a tail and return it."""
    following.__enter__()
    return following


def flat(blocks: Iterable[Iterable[T]], most: int | None) -> Iterator[T]:
    """Return the items of all blocks, at most `most`. No Python code runs for each item."""
    items = chain.from_iterable(blocks)
    return items if most is None else islice(items, most)


class Losable:
    """An item that can be lost. `is_lost`: whether it is."""

    __slots__ = ("_lost", "is_lost")

    def __init__(self) -> None:
        self.is_lost = False
        self._lost: threading.Event | None = None

    def lose(self) -> None:
        """Mark the entry as lost."""
        with _FIRST_WAIT:
            self.is_lost = True
            if self._lost is not None:
                self._lost.set()

    def wait_lost(self, timeout_s: float | None = None) -> bool:
        """Wait until the entry is lost, at most `timeout_s`, and return `is_lost`. Any thread can wait."""
        with _FIRST_WAIT:
            lost = self._lost = self._lost or threading.Event()
            if self.is_lost:
                lost.set()
        return lost.wait(timeout_s)


# --- the threads of a consumer ---------------------------------------------------------------------------


def together(work: Callable[[], None], concurrency: int, name: str, stop: Callable[[], None]) -> None:
    """Run `work` in so many threads until all have ended; a single one is this thread. Raises the first
    error. `stop`: ends the work."""
    if concurrency == 1:
        work()
        return
    with ThreadPoolExecutor(concurrency, thread_name_prefix=name) as workers:
        try:
            for ended in [workers.submit(work) for _ in range(concurrency)]:
                ended.result()
        except BaseException:
            stop()  # Otherwise Ctrl-C would wait for the workers without end.
            raise


@contextmanager
def every(pause_s: float | None, work: Callable[[], None]) -> Iterator[None]:
    """Call `work` in a thread after each pause while the context is open; never without a pause."""
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(pause_s):
            work()

    if pause_s is not None:
        threading.Thread(target=repeat, daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def check_handler(handler: Callable[..., object]) -> None:
    """Raise `WrongHandlerError` if the handler is an async function."""
    if inspect.iscoroutinefunction(handler):
        raise WrongHandlerError(
            f"{handler!r} is an async function, which a Consumer cannot call; use AsyncConsumer"
        )


def call(handle: Callable[[], object]) -> None:
    """Call the handler of items."""
    handle()
