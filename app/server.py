"""Runs the server process: binds the address, runs the event loop, and shuts down in order.

uvicorn runs the event loop. This module adds a callback when the server is ready, clear errors for the
address and the certificate, a shutdown by signal that first rejects new work and then exits with status 0,
and a certificate that is read again when its files change or SIGHUP arrives, which ends nothing.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from tailrace.app.process_tuning import tune_garbage_collector, tune_thread_switches
from tailrace.app.reasons import reason
from tailrace.app.service_manager import ServiceManager
from tailrace.app.settings import Settings

_STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)

TICKS_PER_LOOK: Final = 10
"""uvicorn ticks ten times a second; the files of the certificate are checked once a second."""

_logger: Final = logging.getLogger("tailrace")


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
    manager = ServiceManager(os.environ)
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
    certificate = None if settings.tls_cert is None else Certificate(settings)
    if certificate is not None:
        config.ssl_context_factory = lambda _config, _default: certificate.context
    url = url_of(listener, settings)
    _Server(config, lambda: on_ready(url), on_stop, certificate, manager, f"ready on {url}").run([listener])


class Certificate:
    """The certificate of a server with TLS. `context` uses the files as they were last read.

    Raises `CannotStart` if the files cannot be used.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.context = self._read()
        self._last_seen: tuple[tuple[int, int, int], ...] = ()
        self._in_use = self._last_seen = self._stamp()

    def _read(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            self._load_into(context)
        except ssl.SSLError as error:
            raise self._refused(f"not a PEM certificate with its unencrypted key: {error}") from error
        except OSError as error:
            raise self._refused(reason(error)) from error
        return context

    def _load_into(self, context: ssl.SSLContext) -> None:
        assert self._settings.tls_cert is not None
        # Without the last argument OpenSSL would ask the terminal for the password of an encrypted key.
        context.load_cert_chain(self._settings.tls_cert, self._settings.tls_key, password=lambda: b"")

    def _refused(self, why: str) -> CannotStart:
        files = f"{self._settings.tls_cert} with {self._settings.tls_key}"
        return CannotStart(f"cannot use the certificate {files}: {why}")

    def _stamp(self) -> tuple[tuple[int, int, int], ...]:
        """Return what changes when a file is replaced or written. A file that is missing changes nothing."""
        assert self._settings.tls_cert is not None
        assert self._settings.tls_key is not None
        try:
            states = [path.stat() for path in (self._settings.tls_cert, self._settings.tls_key)]
        except OSError:
            return self._last_seen
        return tuple((state.st_ino, state.st_size, state.st_mtime_ns) for state in states)

    def look(self) -> None:
        """Read the files again if they have changed, and not since the last look: both are replaced."""
        stamp = self._stamp()
        if stamp == self._last_seen and stamp != self._in_use:
            self.reload()
        self._last_seen = stamp

    def reload(self) -> None:
        """Read the files again, for new connections. Files that cannot be used change nothing."""
        self._in_use = self._stamp()
        try:
            # Only files that are usable together: a failed load leaves a context without a key.
            self._read()
            self._load_into(self.context)
        except (CannotStart, OSError) as error:
            fields = {"reason": str(error)}
            _logger.warning("the new certificate is unusable; the old one stays", extra={"fields": fields})
        else:
            _logger.info("the certificate was reloaded")


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
        self,
        config: uvicorn.Config,
        on_ready: Callable[[], None],
        on_stop: Callable[[], None],
        certificate: Certificate | None,
        manager: ServiceManager,
        status: str,
    ) -> None:
        super().__init__(config)
        self._certificate = certificate
        self._manager = manager
        self._status = status
        self._on_ready = on_ready
        self._on_stop = on_stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        tune_garbage_collector()
        tune_thread_switches()
        self._on_ready()
        self._manager.ready(self._status)

    async def on_tick(self, counter: int) -> bool:
        self._manager.look(time.monotonic())
        if self._certificate is not None and counter % TICKS_PER_LOOK == 0:
            self._certificate.look()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._manager.stopping()
        self._on_stop()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals like uvicorn, but do not raise the signal again: a requested stop is a success."""
        previous = {number: signal.signal(number, self.handle_exit) for number in _STOP_SIGNALS}
        hangup = signal.SIGHUP
        previous[hangup] = signal.signal(hangup, lambda _number, _frame: self._reload_soon())
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

    def _reload_soon(self) -> None:
        # The handler of a signal can run in the middle of a handshake.
        asyncio.get_running_loop().call_soon_threadsafe(self._reload)

    def _reload(self) -> None:
        self._manager.reloading()
        if self._certificate is None:
            _logger.info("SIGHUP: without a certificate, there is nothing to reload")
        else:
            self._certificate.reload()
        self._manager.ready(self._status)
