"""What runs beside the requests: the once-a-second tick, from start to stop of the event loop's service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

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
