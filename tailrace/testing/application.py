"""A test server without a port: the production application for httpx's `ASGITransport`.

It owns the lifespan of the application. Requests run on the event loop of the test.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import uvicorn
from uvicorn.lifespan.on import LifespanOn

from tailrace.testing.clock import TestClock
from tailrace.testing.parts import Parts


class TestApplication:
    """A running application. `asgi`: the ASGI callable. `clock`: its clock, for the thread of the test."""

    __test__ = False
    """pytest does not collect this class."""

    def __init__(self, parts: Parts) -> None:
        self.asgi = parts.app
        self.clock: TestClock = parts.clock

    def client(self) -> httpx.AsyncClient:
        """Return a new client that calls the application directly; use it in an `async with` statement."""
        return httpx.AsyncClient(transport=httpx.ASGITransport(self.asgi), base_url="http://127.0.0.1")


@asynccontextmanager
async def application() -> AsyncIterator[TestApplication]:
    """Run an application without data, with its lifespan, for the duration of the context."""
    with TemporaryDirectory(prefix="tailrace-testing-") as directory:
        parts = Parts(Path(directory))
        lifespan = LifespanOn(uvicorn.Config(parts.app, lifespan="on", log_config=None))
        await lifespan.startup()
        if lifespan.should_exit:
            raise RuntimeError("the application did not start; the log has the error")
        parts.clock.connect(lambda move: move(), parts.store.serve_due)
        try:
            yield TestApplication(parts)
        finally:
            parts.store.drain()
            await lifespan.shutdown()
