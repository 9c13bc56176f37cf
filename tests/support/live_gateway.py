"""A gateway on a real port, in a thread of this process: a `LiveServer` whose store is in front of an
engine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tailrace.app.remote.opening import opened
from tailrace.app.remote.store import RemoteStore
from tailrace.app.settings import Settings
from tests.support.live_server import LiveServer


class LiveGateway(LiveServer):
    """The gateway in front of the engine at `url`."""

    def __init__(self, url: str) -> None:
        self._remote = RemoteStore()
        super().__init__(store=self._remote)
        self._settings = Settings(store=url)
        self._linked = threading.Event()

    def start(self) -> None:
        super().start()
        assert self._linked.wait(10)

    async def work(self) -> None:
        async with opened(self._settings) as (link, engine):
            self._remote.use(link, engine)
            self._linked.set()
            await super().work()


@contextmanager
def live_gateway(url: str) -> Iterator[LiveGateway]:
    gateway = LiveGateway(url)
    gateway.start()
    try:
        yield gateway
    finally:
        gateway.stop()
