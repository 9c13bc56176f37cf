"""What runs beside the requests, from start to stop: the log to disk, and the once-a-second tick."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from tailrace.app.store.service import EngineStore
from tailrace.app.store.storage import Storage

if TYPE_CHECKING:
    from tailrace.app.observability.spans import Tracing

TICK_S: Final = 1.0
"""Redis expires idempotency keys once a second (rule 61); nobody can see a finer step."""


@asynccontextmanager
async def ticking(work: Callable[[], None], period_s: float = TICK_S) -> AsyncIterator[None]:
    """Call `work` every `period_s` seconds on the running loop while the context lasts.

    The next call is arranged before the work is done, so that a failure is reported by the loop's
    exception handler and ends one tick, not all of them.
    """
    loop = asyncio.get_running_loop()
    upcoming: asyncio.TimerHandle

    def arrange() -> None:
        nonlocal upcoming
        upcoming = loop.call_later(period_s, tick)

    def tick() -> None:
        arrange()
        work()

    arrange()
    try:
        yield
    finally:
        upcoming.cancel()


@asynccontextmanager
async def keeping(store: EngineStore, storage: Storage | None, *, waits: bool) -> AsyncIterator[None]:
    """Have `storage` keep what happens in `store` while the context lasts; at its end all is on disk.

    `waits`: replies wait for the disk. Where the disk fails, the store takes no writes from then on,
    and goes on with what was committed.
    """
    if storage is None:
        yield
        return

    def give_up(error: Exception) -> None:
        store.fail(str(error))

    store.use_log(storage.start(waits=waits, on_failure=give_up), storage.committed)
    try:
        yield
    finally:
        await storage.close()


@asynccontextmanager
async def tracing_until_the_end(tracing: Tracing | None) -> AsyncIterator[None]:
    """Send the last spans when the context ends."""
    try:
        yield
    finally:
        if tracing is not None:
            await asyncio.to_thread(tracing.close)
