"""The HTTP protocol on a transport in memory, in front of an application that echoes requests.

It owns the transport. It never opens a socket.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.server import ServerState

from tailrace.api.access.security import UNSECURED
from tailrace.api.server_limits import DEFAULT_LIMITS
from tailrace.app.main import create_hot_routes
from tailrace.app.metrics.sources import Sources
from tailrace.app.protocols.connections import Connections
from tailrace.app.protocols.http import HttpProtocol, http_protocol
from tailrace.app.store.service import EngineStore
from tailrace.app.token_buckets import TokenBuckets


class Transport(asyncio.Transport):
    """A transport in memory. It keeps the written bytes, and shows whether the protocol wants to read."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 2)})
        self.written: list[bytes] = []
        self.is_reading_now = True
        self.is_ended = False
        self.is_closed = False

    def write(self, data: Any) -> None:
        assert not self.is_ended, "nothing is written after the end"
        self.written.append(bytes(data))

    def is_closing(self) -> bool:
        return self.is_ended

    def close(self) -> None:
        self.is_ended = self.is_closed = True

    def abort(self) -> None:
        self.is_ended = True

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.is_ended = True

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def pause_reading(self) -> None:
        self.is_reading_now = False

    def resume_reading(self) -> None:
        self.is_reading_now = True


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Respond with the method, the path and the body. If the path ends in `early`, respond before the body
    arrives."""
    body = b""
    more = not scope["path"].endswith("early")
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    content = b"%b %b %b" % (scope["method"].encode(), scope["raw_path"], body)
    headers = [(b"content-length", b"%d" % len(content))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": content})


async def until(condition: Callable[[], bool]) -> None:
    """Let the loop run until `condition` holds."""
    while not condition():  # noqa: ASYNC110 - the protocol's state signals no event
        await asyncio.sleep(0)


def still() -> int:
    """Return the same time always, so that no turn of a connection ends early."""
    return 0


def connected(
    store: EngineStore, app: Any = echo, clock: Callable[[], int] = still
) -> tuple[HttpProtocol, Transport]:
    """Return a connection that has just been made. `clock`: for the budget of its turns, in nanoseconds."""
    sources = Sources(store, None, Connections(DEFAULT_LIMITS))
    hot = create_hot_routes(sources, TokenBuckets(DEFAULT_LIMITS), UNSECURED)
    protocol_class = http_protocol(sources.connections, hot)
    protocol_class.clock = staticmethod(clock)
    config = uvicorn.Config(app, interface="asgi3", http=protocol_class, lifespan="off", log_config=None)
    config.load()
    protocol, transport = protocol_class(config, ServerState(), {}), Transport()
    protocol.connection_made(transport)
    return protocol, transport
