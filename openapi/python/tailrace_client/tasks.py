"""What asyncio programs do in a way of their own: waiting, working at the same time, losing an item.

`threads` has the same names for blocking programs. The package `asynchronous` uses this module, and its twin
`blocking` uses `threads`; everything else in the two packages is the same.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

from tailrace_client.consumer_options import WrongHandlerError

T = TypeVar("T")
sleep = asyncio.sleep


def opened(following: T) -> T:
    """Return a tail. A function that is not awaited cannot open it; `async with` or its first entry does."""
    return following


async def flat(blocks: AsyncIterator[Iterable[T]], most: int | None) -> AsyncIterator[T]:
    """Yield the items of all blocks, at most `most`."""
    if most is None:
        async for block in blocks:
            for item in block:
                yield item
        return
    left = most
    async for block in blocks:
        for item in block:
            if left <= 0:
                return
            left -= 1
            yield item


# --- what tasks share ------------------------------------------------------------------------------------


class Changes:
    """A condition: tasks wait for a change of what they share. `with` locks nothing, because a task is
    interrupted only where it awaits."""

    def __init__(self) -> None:
        self._next = asyncio.Event()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass

    def notify_all(self) -> None:
        """Wake all tasks that wait."""
        self._next.set()
        self._next = asyncio.Event()

    async def wait(self, within_s: float | None) -> None:
        """Wait for the next `notify_all`, at most `within_s`."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._next.wait(), within_s)


class Losable:
    """An item that can be lost. `is_lost`: whether it is."""

    __slots__ = ("_lost", "is_lost")

    def __init__(self) -> None:
        self.is_lost = False
        self._lost: asyncio.Event | None = None

    def lose(self) -> None:
        """Mark the entry as lost."""
        self.is_lost = True
        if self._lost is not None:
            self._lost.set()

    async def wait_lost(self, timeout_s: float | None = None) -> bool:
        """Wait until the entry is lost, at most `timeout_s`, and return `is_lost`. Any task can wait."""
        lost = self._lost = self._lost or asyncio.Event()
        if not self.is_lost:
            with suppress(TimeoutError):
                await asyncio.wait_for(lost.wait(), timeout_s)
        return self.is_lost


# --- the tasks of a consumer -----------------------------------------------------------------------------


async def together(
    work: Callable[[], Awaitable[None]],
    concurrency: int,
    _name: str,
    _stop: Callable[[], None],
) -> None:
    """Run `work` in so many tasks until all have ended. Raises the first error. If this task is cancelled,
    all are: tasks need no `_stop`, and no name."""
    works = [work() for _ in range(concurrency)]
    for ended in await asyncio.gather(*works, return_exceptions=True):
        if isinstance(ended, BaseException):
            raise ended


@asynccontextmanager
async def every(pause_s: float | None, work: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """Call `work` in a task after each pause while the context is open; never without a pause."""

    async def repeat(pause_s: float) -> None:
        while True:
            await asyncio.sleep(pause_s)
            await work()

    task = None if pause_s is None else asyncio.create_task(repeat(pause_s))
    try:
        yield
    finally:
        if task is not None:
            task.cancel()


def check_handler(_handler: Callable[..., object]) -> None:
    """Accept the handler: what it returns shows whether it is asynchronous."""


async def call(handle: Callable[[], Awaitable[object]]) -> None:
    """Call the handler of items. Raises `WrongHandlerError` if it is not an async function."""
    awaitable = handle()
    if not inspect.isawaitable(awaitable):
        raise WrongHandlerError(
            f"the handler returned {awaitable!r}; an AsyncConsumer needs an async function, "
            "which can call a blocking one with asyncio.to_thread"
        )
    await awaitable
