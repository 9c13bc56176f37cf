"""Runs work without an end in the background, for the duration of a context.

It owns the start and the end of the task. It never defines the work itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any


@asynccontextmanager
async def in_background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run `work` as a task. At the end of the context, cancel it and wait until it has ended.

    If the work failed before, its error is raised at the end of the context.
    """
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
