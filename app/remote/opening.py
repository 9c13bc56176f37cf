"""Opens the engine of a store: the link, what the engine can do, and the function library.

It owns what is checked before the first command, and the reasons why an engine cannot be used. It never runs
a command of a client.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

from tailrace.app.remote.functions.detection import detect
from tailrace.app.remote.functions.library import Library
from tailrace.app.remote.inspecting import inspect
from tailrace.app.remote.keys.registry import Registry
from tailrace.app.remote.link.caller import Caller
from tailrace.app.remote.link.channel import Channel
from tailrace.app.remote.link.exchange import Way
from tailrace.app.remote.link.node import Node
from tailrace.app.remote.link.port import Armed, EngineError, Link, LinkDown, Resp, Words
from tailrace.app.remote.link.timing import Timing
from tailrace.app.remote.link.url import BadStoreUrl, parse_store_url
from tailrace.app.remote.readiness import without_node
from tailrace.app.remote.tracking.tracker import Tracker
from tailrace.app.remote.tracking.wakes import Wakes
from tailrace.app.remote.words.engine import Engine
from tailrace.app.settings import Settings


class EngineLink(Caller):
    """Implements `port.Link`. Make it with `open_link`."""

    async def open(self) -> None:
        """Find the nodes, connect to them, and listen to other gateways. Raises `LinkDown`."""
        await super().open()
        self._tracker = Tracker(self.router)
        waiters = self._tracker.waiters
        self._wakes = Wakes(self.router, self.url.database, waiters.wake, waiters.wake_all)
        self.on_channel = self._listen
        self._wakes.listen()

    def _listen(self, node: Node, way: Way, channel: Channel) -> None:
        if way is Way.TRACKING:
            self._tracker.listen(node, channel)

    def arm(self, key: bytes, wake: Callable[[], None]) -> Armed:
        """See `port.Link`."""
        return self._tracker.arm(key, wake)

    async def read_armed(
        self, commands: Sequence[Words], *, key: bytes, is_write: bool = False
    ) -> list[Resp | EngineError]:
        """See `port.Link`."""
        return await self._tracker.read(commands, key=key, is_write=is_write)

    def wake(self, key: bytes) -> None:
        """See `port.Link`."""
        self._tracker.waiters.wake(key)
        self._wakes.tell(key)

    async def close(self) -> None:
        """See `port.Link`."""
        self._wakes.close()
        self._tracker.close()
        await super().close()


async def open_link(url: str, *, min_replicas: int = 0, timing: Timing | None = None) -> EngineLink:
    """Return a link to the engine at `url`. Raises `BadStoreUrl`, and `LinkDown` if it cannot be reached."""
    link = EngineLink(parse_store_url(url), timing or Timing(), min_replicas)
    await link.open()
    return link


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
