"""Links for tests: opened with short times, and closed in the end.

Owns nothing else. `WARY` notices nodes that hang; `PATIENT` never wakes a reader without a reason.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from tailrace.app.remote.link.timing import Timing
from tailrace.app.remote.opening import EngineLink, open_link

NEVER_S: Final = 3600.0
QUICK: Final = Timing(answer_s=10.0, retry_for_s=30.0)
WARY: Final = Timing(answer_s=1.0, ping_every_s=0.2, retry_for_s=30.0)
PATIENT: Final = Timing(answer_s=NEVER_S, retry_for_s=30.0, reread_least_s=NEVER_S, reread_most_s=NEVER_S)
WITHIN_S: Final = 30.0


@asynccontextmanager
async def linked(url: str, timing: Timing = QUICK, min_replicas: int = 0) -> AsyncIterator[EngineLink]:
    """Yield a link to the engine at `url`."""
    link = await open_link(url, timing=timing, min_replicas=min_replicas)
    try:
        yield link
    finally:
        await link.close()


def run(main: Callable[[], Awaitable[None]]) -> None:
    """Run one test on a loop of its own."""

    async def bounded() -> None:
        async with asyncio.timeout(4 * WITHIN_S):
            await main()

    asyncio.run(bounded())


async def settle(holds: Callable[[], bool], what: str) -> None:
    """Return when `holds` returns True; fail with `what` if it does not in time."""
    try:
        async with asyncio.timeout(WITHIN_S):
            while not holds():  # noqa: ASYNC110 - what it waits for has no event
                await asyncio.sleep(0.001)
    except TimeoutError:
        raise AssertionError(f"not within {WITHIN_S} s: {what}") from None
