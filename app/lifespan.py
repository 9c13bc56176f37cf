"""Background work from start to stop: storage, periodic tasks, and the export of spans.

It owns when this work starts and ends. It never defines the work itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from tailrace.app.settings import Settings
from tailrace.app.store.service import EngineStore
from tailrace.app.store.storage import Storage

if TYPE_CHECKING:
    from tailrace.app.observability.spans import Tracing
    from tailrace.app.remote.store import RemoteStore

_logger: Final = logging.getLogger("tailrace.storage")

TICK_S: Final = 1.0
"""Redis expires idempotency keys once a second (rule 61)."""


@asynccontextmanager
async def ticking(work: Callable[[], None], period_s: float = TICK_S) -> AsyncIterator[None]:
    """Call `work` every `period_s` seconds on the running loop while the context lasts.

    The next call is scheduled before the work runs. If the work fails, the loop's exception handler reports
    the error, and the next call runs as usual.
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
    """Record the effects of `store` in `storage` for the duration of the context; at its end, sync and close.

    `waits`: replies wait for the disk. After a failure of the disk, the store rejects writes and continues
    with the committed data. `storage` None: data is in memory only.
    """
    if storage is None:
        yield
        return

    def give_up(error: Exception) -> None:
        _logger.error("storage failed", exc_info=error, extra={"fields": {"error": str(error)}})
        store.fail(str(error))

    store.use_log(storage.start(waits=waits, on_failure=give_up), storage.committed)
    try:
        yield
    finally:
        await storage.close()


@asynccontextmanager
async def linked(store: RemoteStore, settings: Settings) -> AsyncIterator[None]:
    """Connect `store` with its engine for the duration of the context."""
    # Only a server with --store loads these.
    from tailrace.app.remote.inspecting import inspecting  # noqa: PLC0415
    from tailrace.app.remote.keys.sweeping import retiring, sweeping  # noqa: PLC0415
    from tailrace.app.remote.opening import opened  # noqa: PLC0415

    async with opened(settings) as (link, engine):
        store.use(link, engine)
        async with sweeping(link, engine), retiring(link, engine), inspecting(link, engine):
            yield


@asynccontextmanager
async def tracing_until_the_end(tracing: Tracing | None) -> AsyncIterator[None]:
    """Export the last spans when the context ends."""
    try:
        yield
    finally:
        if tracing is not None:
            await asyncio.to_thread(tracing.close)
