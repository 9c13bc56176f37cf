"""Gateways' stores in this process, in front of an engine that a test shares with others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from typing import Final

from tailrace.app.remote.opening import opened
from tailrace.app.remote.store import RemoteStore
from tailrace.app.settings import Settings
from tests.support.waiting_readers import until

_NUMBERS: Final = count()


def new_key() -> bytes:
    """Return a key that no other test uses; keys that begin with it are in its slot."""
    return b"{shared:%d}" % next(_NUMBERS)


@asynccontextmanager
async def gateways(url: str, number: int = 1) -> AsyncIterator[list[RemoteStore]]:
    """Open so many stores in front of the engine at `url`."""
    async with AsyncExitStack() as stack:
        stores = []
        for _ in range(number):
            link, engine = await stack.enter_async_context(opened(Settings(store=url)))
            store = RemoteStore()
            store.use(link, engine)
            stores.append(store)
        yield stores


def on_one(url: str, scenario: Callable[[RemoteStore], Awaitable[None]]) -> None:
    """Run a scenario at one store."""

    async def run() -> None:
        async with gateways(url) as [store]:
            await scenario(store)

    asyncio.run(run())


async def told(store: RemoteStore, *keys: bytes) -> None:
    """Wait until the gateway knows that these streams may have settings."""
    await reached(lambda: store.engine.configured.keys >= set(keys))


async def reached(holds: Callable[[], bool]) -> None:
    """Wait until `holds`, while the loop runs on."""
    await asyncio.to_thread(until, holds)
