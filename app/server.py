"""Runs the server process: binds the address, runs the event loop, and shuts down in order.

uvicorn runs the event loop. This module adds a callback when the server is ready, clear errors for the
address and the certificate, and a shutdown by signal that first rejects new work and then exits with status
0.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from tailrace.app.gc_tuning import tune_garbage_collector
from tailrace.app.reasons import reason
from tailrace.app.settings import Settings
from tailrace.app.thread_tuning import tune_thread_switches

_STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class CannotStart(Exception):
    """The server cannot start. The text contains the reason, and what to do."""


def serve(
    app: ASGIApp,
    settings: Settings,
    *,
    http: type[asyncio.Protocol],
    ws: type[asyncio.Protocol],
    on_ready: Callable[[str], None],
    on_stop: Callable[[], None],
    backlog: int,
) -> None:
    """Serve `app` with the protocol classes `http` and `ws` until SIGINT or SIGTERM, then return.

    `on_ready` gets the address as a URL when the server accepts connections. `on_stop` is called before the
    server waits for running requests, for at most `shutdown_grace_s`. `backlog`: how many connections the
    system queues. Raises `CannotStart`.
    """
    listener = bind(settings.host, settings.port, backlog)
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http=http,
        ws=ws,
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=backlog,
        timeout_graceful_shutdown=settings.shutdown_grace_s,
    )
    _use_tls(config, settings)
    _Server(config, lambda: on_ready(url_of(listener, settings)), on_stop).run([listener])


def _use_tls(config: uvicorn.Config, settings: Settings) -> None:
    """Enable TLS in `config` if a certificate is set. Raises `CannotStart` if it cannot be used."""
    if settings.tls_cert is None:
        return
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        # Without the last argument OpenSSL would ask the terminal for the password of an encrypted key.
        context.load_cert_chain(settings.tls_cert, settings.tls_key, password=lambda: b"")
    except ssl.SSLError as error:
        raise _no_certificate(settings, f"not a PEM certificate with its unencrypted key: {error}") from error
    except OSError as error:
        raise _no_certificate(settings, reason(error)) from error
    config.ssl_context_factory = lambda _config, _default: context


def _no_certificate(settings: Settings, why: str) -> CannotStart:
    return CannotStart(f"cannot use the certificate {settings.tls_cert} with {settings.tls_key}: {why}")


def bind(host: str, port: int, backlog: int) -> socket.socket:
    """Return a socket that listens on `host` and `port` with a queue of `backlog`. Raises `CannotStart`."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=backlog)
    except OSError as error:
        raise CannotStart(f"cannot listen on {host} port {port}: {reason(error)}") from error


def url_of(listener: socket.socket, settings: Settings) -> str:
    """Return the address of `listener` as a URL; it has the real port if the setting is 0."""
    scheme = "http" if settings.tls_cert is None else "https"
    host, port = listener.getsockname()[:2]
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


class _Server(uvicorn.Server):
    """uvicorn's server with callbacks when it is ready and before it stops."""

    def __init__(
        self, config: uvicorn.Config, on_ready: Callable[[], None], on_stop: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._on_ready = on_ready
        self._on_stop = on_stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        tune_garbage_collector()
        tune_thread_switches()
        self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_stop()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals like uvicorn, but do not raise the signal again: a requested stop is a success."""
        previous = {number: signal.signal(number, self.handle_exit) for number in _STOP_SIGNALS}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)
