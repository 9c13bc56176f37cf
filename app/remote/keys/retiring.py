"""Removes what the retention of streams lets go, also without appends: gateways walk over these streams.

The engine applies the rules of one stream in one step, so several gateways do no harm. The pace is bounded: a
gateway asks for at most `STREAMS_PER_S` streams each second, whatever their number.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from tailrace.app.background import in_background
from tailrace.app.remote.functions.library import Library
from tailrace.app.remote.functions.retention import retire
from tailrace.app.remote.link.port import EngineError, Link, LinkDown
from tailrace.app.remote.words.engine import Engine

STREAMS_PER_S: Final = 200
"""How many streams a gateway asks for each second."""

EVERY_S: Final = 1.0
"""The least time between the beginnings of two walks."""


@asynccontextmanager
async def retiring(link: Link, engine: Engine) -> AsyncIterator[None]:
    """Walk over the streams with a retention for the duration of the context."""
    if engine.library is None:  # then no stream has a retention
        yield
        return
    async with in_background(_walks(link, engine, engine.library)):
        yield


async def _walks(link: Link, engine: Engine, library: Library) -> None:
    while True:
        await asyncio.sleep(EVERY_S)
        for key in list(engine.configured.retained):
            await retire_one(link, library, key)
            await asyncio.sleep(1 / STREAMS_PER_S)


async def retire_one(link: Link, library: Library, key: bytes) -> int:
    """Apply the rules of one stream exactly; return how many entries went. An engine that is away or refuses
    keeps them until the next walk."""
    removed = 0
    with suppress(EngineError, LinkDown):
        count, is_more = await library.run(link, retire(key, exact=True))
        while count or is_more:
            removed += count
            count, is_more = await library.run(link, retire(key, exact=True))
    return removed
