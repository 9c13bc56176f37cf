"""A server on a real port, in a thread of this process, with the service's own store.

Owns its thread and its event loop. It serves tests that need a real connection: frames, closes, backpressure.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import uvicorn
import uvloop
from starlette.routing import Route

from tailrace.api.access.security import UNSECURED
from tailrace.api.application import create_api
from tailrace.api.server_limits import DEFAULT_LIMITS
from tailrace.api.websocket.route import WEBSOCKET_PATH
from tailrace.app.main import create_hot_routes
from tailrace.app.metrics.sources import Sources
from tailrace.app.process_tuning import BACKLOG
from tailrace.app.protocols.connections import Connections
from tailrace.app.protocols.http import http_protocol
from tailrace.app.protocols.websocket import websocket_protocol
from tailrace.app.server import bind
from tailrace.app.store.service import EngineStore
from tailrace.app.token_buckets import TokenBuckets
from tailrace.core.commands import Command
from tailrace.core.engine import Engine

VERSION = "1.2.3"


class LiveServer:
    """The server. `url`: its address without a slash at the end. `store`: its store, to be used through `run`
    only; by default one with its own engine.

    `pages`: files that it serves besides the API.
    """

    def __init__(self, pages: Sequence[Route] = (), store: Any = None) -> None:
        self.store = store or EngineStore(Engine())
        self._listener = bind("127.0.0.1", 0, BACKLOG)
        app = create_api(self.store, version=VERSION)
        app.router.routes.extend(pages)
        connections = Connections(DEFAULT_LIMITS)
        sources = Sources(self.store, None, connections)
        hot = create_hot_routes(sources, TokenBuckets(DEFAULT_LIMITS), UNSECURED)
        config = uvicorn.Config(
            app,
            loop="uvloop",
            http=http_protocol(connections, hot),
            ws=websocket_protocol(connections),
            lifespan="off",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=5,
        )
        self._server = uvicorn.Server(config)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def port(self) -> int:
        port: int = self._listener.getsockname()[1]
        return port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def websocket_url(self) -> str:
        return f"ws://127.0.0.1:{self.port}{WEBSOCKET_PATH}"

    def run(self, command: Command) -> Any:
        """Execute a command in the server's event loop, without a connection."""
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(self.store.execute(command), self._loop).result(10)

    def drain(self) -> None:
        """Make the store refuse new requests, as when the server shuts down."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self.store.drain)

    def start(self) -> None:
        self._thread.start()
        assert self._started.wait(10)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(15)
        assert not self._thread.is_alive()

    def _serve(self) -> None:
        with asyncio.Runner(loop_factory=self._new_loop) as runner:
            runner.run(self.work())

    async def work(self) -> None:
        """Serve until the server is stopped."""
        await self._server.serve([self._listener])

    def _new_loop(self) -> asyncio.AbstractEventLoop:
        self._loop = uvloop.new_event_loop()
        # The loop runs its first callback after the server has begun to start; the port is bound already.
        self._loop.call_soon(self._started.set)
        return self._loop


@contextmanager
def live_server(pages: Sequence[Route] = ()) -> Iterator[LiveServer]:
    server = LiveServer(pages)
    server.start()
    try:
        yield server
    finally:
        server.stop()
