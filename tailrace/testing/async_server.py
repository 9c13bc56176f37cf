"""A test server for tests with asyncio: a `TestServer`, with coroutines where that one blocks.

The server runs in a thread, so it serves the tasks of any event loop, whichever plugin of pytest runs it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from tailrace.testing.clock import TestClock
from tailrace.testing.server import TestServer, server

if TYPE_CHECKING:
    from tailrace_client import AsyncTailrace


class AsyncTestClock:
    """The clock of an `AsyncTestServer`."""

    def __init__(self, clock: TestClock) -> None:
        self._clock = clock

    def now_ms(self) -> int:
        """Return the time of the server in Unix milliseconds."""
        return self._clock.now_ms()

    async def advance(self, ms: int) -> None:
        """Move the clock forward by `ms` milliseconds, and return when the server has served what is due.

        Raises `ValueError` if `ms` is negative.
        """
        await asyncio.to_thread(self._clock.advance, ms)


class AsyncTestServer:
    """A running server. `url`: its address. `clock`: its clock."""

    def __init__(self, running: TestServer) -> None:
        self._running = running
        self.url = running.url
        self.clock = AsyncTestClock(running.clock)

    def client(self) -> AsyncTailrace:
        """Return a new client of this server; use it in an `async with` statement.

        Raises `ImportError` if the Python SDK is not installed.
        """
        return self._running.async_client()

    async def until_waiting(self, count: int = 1) -> None:
        """Return when at least `count` reads wait for entries: then move the clock or append an entry.

        Raises `TimeoutError` after 10 seconds.
        """
        await asyncio.to_thread(self._running.until_waiting, count)


@asynccontextmanager
async def async_server() -> AsyncIterator[AsyncTestServer]:
    """Run a server without data for the duration of the context."""
    running = server()
    try:
        yield AsyncTestServer(await asyncio.to_thread(running.__enter__))
    finally:
        await asyncio.to_thread(running.__exit__, None, None, None)
