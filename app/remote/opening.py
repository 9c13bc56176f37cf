"""Opens the engine of a store: the link, what the engine can do, and the function library.

It owns what is checked before the first command, and the reasons why an engine cannot be used. It never runs
a command of a client.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

from tailrace.app.remote.engine_link import open_link
from tailrace.app.remote.functions.detection import detect
from tailrace.app.remote.functions.library import Library
from tailrace.app.remote.inspecting import inspect
from tailrace.app.remote.keys.registry import Registry
from tailrace.app.remote.link.port import EngineError, Link, LinkDown
from tailrace.app.remote.link.timing import Timing
from tailrace.app.remote.link.url import BadStoreUrl
from tailrace.app.remote.readiness import without_node
from tailrace.app.remote.words.engine import Engine
from tailrace.app.settings import Settings

REPLICAS_WITHIN_S: Final = 10.0
"""How long a start waits for the replicas that an engine with `min-replicas-to-write` needs for a write."""

REPLICAS_EVERY_S: Final = 0.1
"""How often it asks."""


class CannotUseEngine(Exception):
    """The engine cannot be used; the text says why, without credentials, and what to do."""


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[tuple[Link, Engine]]:
    """Connect to the engine of `settings.store` for the duration of the context. Raises `CannotUseEngine`."""
    link = await _link(settings)
    try:
        engine = await _engine(link)
        await inspect(link, engine)
        _require_no_eviction(engine, settings)
        registry = await _registry(link, engine)
        try:
            yield link, engine
        finally:
            await registry.close()
    finally:
        await link.close()


def _require_no_eviction(engine: Engine, settings: Settings) -> None:
    evicting = engine.inspection.evicting()
    if evicting and not settings.accept_eviction:
        raise CannotUseEngine(
            f"--store: {'; '.join(evicting)}. Set maxmemory-policy to noeviction, or pass --accept-eviction"
        )


async def _registry(link: Link, engine: Engine) -> Registry:
    """Follow which streams have settings."""
    registry = Registry(link, engine.configured)
    try:
        if engine.library is not None:
            await registry.open()
    except LinkDown as error:
        raise CannotUseEngine(f"cannot use the engine of --store: {error.reason}") from None
    return registry


async def check(settings: Settings) -> None:
    """Connect to the engine once. Raises `CannotUseEngine`."""
    async with opened(settings):
        pass


async def _link(settings: Settings) -> Link:
    assert settings.store is not None, "a server with its own storage has no engine"
    timing = replace(Timing(), confirm_s=settings.min_replicas_timeout_ms / 1000)
    try:
        return await open_link(settings.store, min_replicas=settings.min_replicas, timing=timing)
    except BadStoreUrl as error:
        raise CannotUseEngine(f"--store: {error}") from None
    except LinkDown as error:
        raise CannotUseEngine(f"cannot use the engine of --store: {error.reason}") from None
    except EngineError as error:
        raise CannotUseEngine(f"the engine of --store refused the connection: {error}") from None


async def _engine(link: Link) -> Engine:
    reason = without_node(link)
    if reason is not None:
        raise CannotUseEngine(f"cannot use the engine of --store: {reason}")
    try:
        capabilities = await detect(link)
        library = None if capabilities.how is None else Library(capabilities.how)
        if library is not None:
            await _load(link, library)
    except LinkDown as error:
        raise CannotUseEngine(f"cannot use the engine of --store: {error.reason}") from None
    except EngineError as error:
        raise CannotUseEngine(f"the engine of --store refused a command at the start: {error}") from None
    return Engine(capabilities, library, link.is_cluster)


async def _load(link: Link, library: Library) -> None:
    """Load the library. Masters that have just started are given time to be joined by their replicas."""
    loop = asyncio.get_running_loop()
    until = loop.time() + REPLICAS_WITHIN_S
    while True:
        try:
            await library.load(link)
        except EngineError as error:
            if error.code != b"NOREPLICAS" or loop.time() >= until:
                raise
            await asyncio.sleep(REPLICAS_EVERY_S)
        else:
            return
