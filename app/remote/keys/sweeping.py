"""The walks of a gateway over the streams of the engine, at a bounded pace: several gateways do no harm.

One removes what the retention of streams lets go, also without appends: the engine applies the rules of one
stream in one step, at most `STREAMS_PER_S` streams each second, whatever their number. The other frees what
is kept next to streams that another client deleted, or the engine expired or evicted: the gateway deletes a
stream together with its state, and other clients do not know the state. It never frees the state of a stream
that exists: the engine checks that in the same step.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from tailrace.app.background import in_background
from tailrace.app.remote.functions.library import Library, is_missing
from tailrace.app.remote.functions.names import RESERVED, stream_of
from tailrace.app.remote.functions.streams import retire, sweep
from tailrace.app.remote.keys.registry import prune
from tailrace.app.remote.link.port import EngineError, Link, LinkDown
from tailrace.app.remote.words.engine import Engine
from tailrace.app.remote.words.plan import text, value, values

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
    async with in_background(_retire_again(link, engine, engine.library)):
        yield


async def _retire_again(link: Link, engine: Engine, library: Library) -> None:
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
    async with in_background(_sweep_again(link, engine.library)):
        yield


async def _sweep_again(link: Link, library: Library) -> None:
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
