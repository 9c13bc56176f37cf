"""A test server: the production application on a free port of 127.0.0.1, in a thread of this process.

It owns the thread and its event loop.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING, Final

import uvicorn

from tailrace.app.process_tuning import BACKLOG
from tailrace.app.server import bind
from tailrace.testing.parts import Parts

if TYPE_CHECKING:
    from tailrace_client import AsyncTailrace, Tailrace

_HOST: Final = "127.0.0.1"

_PATIENCE_S: Final = 10.0
"""How long a start, a move of the clock or a stop may take: far more than they need on a busy machine."""

_LOOK_S: Final = 0.002
"""How often `until_waiting` looks."""


class _Uvicorn(uvicorn.Server):
    """uvicorn's server, which says when it is ready and ends waiting reads before it stops."""

    def __init__(self, config: uvicorn.Config, on_stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_stop = on_stop
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        self.ready.set()

    async def main_loop(self) -> None:
        """Wait for `stop`. uvicorn's own loop notices a stop after a tenth of a second, in every test."""
        await self.on_tick(0)
        await self._stopping.wait()

    def stop(self) -> None:
        """End the main loop, from another thread."""
        self._loop.call_soon_threadsafe(self._stopping.set)

    def run_there(self, work: Callable[[], None]) -> None:
        """Run `work` on the event loop from another thread, and wait for its end."""

        async def run() -> None:
            work()

        asyncio.run_coroutine_threadsafe(run(), self._loop).result(_PATIENCE_S)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_stop()
        await super().shutdown(sockets)


class TestServer:
    """A running server. `url`: its address. `clock`: its clock."""

    __test__ = False
    """pytest does not collect this class."""

    def __init__(self, directory: Path) -> None:
        parts = Parts(directory)
        self.clock, self._store = parts.clock, parts.store
        self._listener = bind(_HOST, 0, BACKLOG)
        self.url = f"http://{_HOST}:{self._listener.getsockname()[1]}"
        self._uvicorn = _Uvicorn(self._config(parts), self._store.drain)
        self._thread = threading.Thread(target=self._serve, name="tailrace.testing", daemon=True)

    def client(self) -> Tailrace:
        """Return a new client of this server; use it in a `with` statement.

        Raises `ImportError` if the Python SDK is not installed.
        """
        made: Tailrace = _sdk().Tailrace(self.url)
        return made

    def async_client(self) -> AsyncTailrace:
        """Return a new client of this server for asyncio; use it in an `async with` statement.

        Raises `ImportError` if the Python SDK is not installed.
        """
        made: AsyncTailrace = _sdk().AsyncTailrace(self.url)
        return made

    def until_waiting(self, count: int = 1) -> None:
        """Return when at least `count` reads wait for entries: then move the clock or append an entry.

        Raises `TimeoutError` after 10 seconds.
        """
        deadline_s = time.monotonic() + _PATIENCE_S
        while (waiting := self._store.waiting_count) < count:
            if time.monotonic() > deadline_s:
                raise TimeoutError(f"{waiting} reads wait for entries after {_PATIENCE_S:.0f} s, not {count}")
            time.sleep(_LOOK_S)

    def start(self) -> None:
        """Start the thread, and return when the server accepts connections."""
        self._thread.start()
        if not self._uvicorn.ready.wait(_PATIENCE_S):
            raise RuntimeError(f"the test server on {self.url} did not start within {_PATIENCE_S:.0f} s")
        self.clock.connect(self._run, self._store.serve_due)

    def stop(self) -> None:
        """Stop the server. Waiting reads end with an error."""
        self._uvicorn.stop()
        self._thread.join(_PATIENCE_S)
        if self._thread.is_alive():
            raise RuntimeError(f"the test server on {self.url} did not stop within {_PATIENCE_S:.0f} s")

    def _config(self, parts: Parts) -> uvicorn.Config:
        return uvicorn.Config(
            parts.app,
            loop="uvloop",
            http=parts.http,
            ws=parts.ws,
            lifespan="on",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )

    def _serve(self) -> None:
        self._uvicorn.run([self._listener])

    def _run(self, work: Callable[[], None]) -> None:
        """Run `work` on the event loop of the server, and wait for its end."""
        if not self._thread.is_alive():
            raise RuntimeError(f"the test server on {self.url} has stopped, so its clock cannot move")
        self._uvicorn.run_there(work)


def _sdk() -> ModuleType:
    """Return the Python SDK. The server does not depend on it."""
    try:
        return import_module("tailrace_client")
    except ImportError as error:
        raise ImportError("a client needs the Python SDK; install it: pip install tailrace-client") from error


@contextmanager
def server() -> Iterator[TestServer]:
    """Run a server without data for the duration of the context."""
    with TemporaryDirectory(prefix="tailrace-testing-") as directory:
        running = TestServer(Path(directory))
        running.start()
        try:
            yield running
        finally:
            running.stop()
