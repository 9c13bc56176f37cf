"""Frees what is kept next to streams that another client deleted, or the engine expired or evicted.

The gateway deletes a stream together with its state; other clients do not know the state. Each gateway walks
over all keys of the engine, a step at a time. It never frees the state of a stream that exists: the engine
checks that in the same step.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from tailrace.app.background import in_background
from tailrace.app.remote.functions.library import Library, is_missing
from tailrace.app.remote.functions.names import RESERVED, stream_of
from tailrace.app.remote.functions.streams import sweep
from tailrace.app.remote.keys.registry import prune
from tailrace.app.remote.link.port import EngineError, Link, LinkDown
from tailrace.app.remote.words.engine import Engine
from tailrace.app.remote.words.plan import text, value, values

STEP_KEYS: Final = 1_000
"""Keys that the engine examines in one step: a fraction of a millisecond of its time."""

STEP_S: Final = 1.0
"""Time between two steps."""

REST_S: Final = 60.0
"""Time between two walks."""


@asynccontextmanager
async def sweeping(link: Link, engine: Engine) -> AsyncIterator[None]:
    """Walk over the engine again and again for the duration of the context."""
    if engine.library is None:  # then there are no states
        yield
        return
    async with in_background(_walks(link, engine.library)):
        yield


async def _walks(link: Link, library: Library) -> None:
    while True:
        await asyncio.sleep(REST_S)
        with suppress(EngineError, LinkDown):  # an engine that is away keeps its keys until the next walk
            await walk(link, library, STEP_S)
            await prune(link, library)


async def walk(link: Link, library: Library, pause_s: float) -> int:
    """Walk over all keys once, with a pause after each step; return how many states were freed.

    Raises `EngineError` and `LinkDown`.
    """
    freed = 0
    for master in link.masters():
        cursor = b"0"
        while True:
            cursor, states = await _step(link, master.address, cursor)
            for state in states:
                freed += await _freed(link, library, master.address, state)
            if cursor == b"0":
                break
            await asyncio.sleep(pause_s)
    return freed


async def _step(link: Link, address: str, cursor: bytes) -> tuple[bytes, list[bytes]]:
    words = [b"SCAN", cursor, b"MATCH", RESERVED + b"*", b"COUNT", b"%d" % STEP_KEYS, b"TYPE", b"hash"]
    following, found = values(await link.call_node(address, words, is_write=False))
    return text(following), [text(value(each)) for each in values(found)]


async def _freed(link: Link, library: Library, address: str, state: bytes) -> int:
    """Free one state if its stream is gone. The call is not redirected: while its slot moves, the state
    waits for the next walk, and no client for the state."""
    key = stream_of(state)
    if key is None:
        return 0
    call = sweep(key, state)
    try:
        return call.read(await link.call_node(address, library.words(call), is_write=True))
    except EngineError as error:
        if not is_missing(error):
            raise
    await library.load(link)
    return call.read(await link.call_node(address, library.words(call), is_write=True))
