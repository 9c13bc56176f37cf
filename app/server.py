"""The process that serves: binds the address, runs the event loop, ends it in good order.

uvicorn does the work; here stands what it leaves to its caller: one line when ready, a plain word when
the port is taken, and a stop by signal that first refuses new work and then counts as success.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from app.collector import settle_collector
from app.settings import Settings
from app.websocket_protocol import WebSocketProtocol

KEEP_ALIVE_S: Final = 75
"""How long an idle connection is kept: beyond the 60 s after which common proxies close theirs, since a
server that closes first loses the request that is on its way."""

BACKLOG: Final = 2048
"""Connections the system may queue for us; more than Linux's default of 4096 would not be granted."""

_STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class CannotStart(Exception):
    """Something outside stands in the way of serving; the text says what and why."""


def serve(
    app: ASGIApp,
    settings: Settings,
    *,
    http: type[asyncio.Protocol],
    on_ready: Callable[[str], None],
    on_stop: Callable[[], None],
) -> None:
    """Serve `app` with the protocol class `http` until SIGINT or SIGTERM, then return.

    `on_ready` gets the address as a URL once connections are taken. `on_stop` is called before the
    running requests are waited for, up to the settings' grace time. Raises `CannotStart`.
    """
    listener = bind(settings.host, settings.port)
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http=http,
        ws=WebSocketProtocol,
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=settings.shutdown_grace_s,
    )
    _Server(config, lambda: on_ready(url_of(listener)), on_stop).run([listener])


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens on `host` and `port`; raises `CannotStart`."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except OSError as error:
        raise CannotStart(f"cannot listen on {host} port {port}: {reason(error)}") from error


def url_of(listener: socket.socket) -> str:
    """The address that `listener` really has, as a URL."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def reason(error: OSError) -> str:
    """What the system says went wrong, to stand at the end of a sentence."""
    # Python's own text repeats the address in its way; the system's does not. A failed look-up has none.
    return str(error) if error.errno is None or error.errno < 0 else os.strerror(error.errno).lower()


class _Server(uvicorn.Server):
    """uvicorn's server with a word when it is ready, and one before it stops."""

    def __init__(
        self, config: uvicorn.Config, on_ready: Callable[[], None], on_stop: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._on_ready = on_ready
        self._on_stop = on_stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        settle_collector()
        self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_stop()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Like uvicorn's, without raising the signal anew at the end: a stop asked for is no failure."""
        previous = {number: signal.signal(number, self.handle_exit) for number in _STOP_SIGNALS}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)
