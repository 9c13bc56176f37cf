"""Connections of a load: one request at a time on each, over HTTP/1.1 with keep-alive.

It owns the bytes of requests and how responses are read. The parser is that of `httptools`; a complete client
library would take more time per request than the server, and the load would measure the client.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final, NamedTuple, cast

import httptools
import httpx
import msgspec

from tailrace.app import __version__
from tailrace.app.cli.server import RefusedByServer, Server, Unreachable

_ERROR: Final = 400


class Target(NamedTuple):
    """The server that a load uses. `head`: the headers of all requests, each with its line end."""

    host: str
    port: int
    is_secure: bool
    base_path: str
    head: bytes

    @classmethod
    def of(cls, server: Server) -> Target:
        """Return the target of a client."""
        url = httpx.URL(server.url)
        is_secure = url.scheme == "https"
        lines = [f"Host: {url.netloc.decode()}", f"User-Agent: tailrace/{__version__}"]
        if server.token is not None:
            lines.append(f"Authorization: Bearer {server.token}")
        head = "".join(f"{line}\r\n" for line in lines).encode()
        port = url.port or (443 if is_secure else 80)
        return cls(url.host, port, is_secure, url.path.rstrip("/"), head)

    def request(self, method: str, path: str, body: object = None) -> bytes:
        """Return the bytes of a request. `body` is sent as JSON."""
        line = f"{method} {self.base_path}{path} HTTP/1.1\r\n".encode()
        if body is None:
            return line + self.head + b"\r\n"
        content = msgspec.json.encode(body)
        size = f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n".encode()
        return line + self.head + size + content


class Connection(asyncio.Protocol):
    """One connection. `send` sends a request and waits for its response."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._waiting: asyncio.Future[bytes] | None = None
        self._body: list[bytes] = []
        self._lost = "the connection was closed"
        self._settled = asyncio.Event()
        self._settled.set()

    async def send(self, request: bytes, *, changes: bool = True) -> bytes:
        """Return the body of the response. `changes`: the request can change the stream.

        Raises `RefusedByServer` or `Unreachable`.
        """
        assert self._waiting is None, "one request at a time"
        if self._transport is None or self._transport.is_closing():
            raise Unreachable(self._lost)
        self._waiting = asyncio.get_running_loop().create_future()
        if changes:
            self._settled.clear()
        self._transport.write(request)
        try:
            return await self._waiting
        finally:
            self._waiting = None

    async def settled(self) -> None:
        """Wait until the server has answered the last change, also if its sender was cancelled."""
        await self._settled.wait()

    def close(self) -> None:
        """Close the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    # --- called by asyncio -------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport to write to."""
        # The transports of uvloop do not derive from `asyncio.Transport`.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Parse a part of a response."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._end(Unreachable(f"the response is not HTTP: {error}"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Let the sender fail."""
        if exc is not None:
            self._lost = f"the connection was lost: {exc}"
        self._settled.set()
        self._end(Unreachable(self._lost))

    # --- called by the parser ----------------------------------------------------------------------

    def on_body(self, part: bytes) -> None:
        """Collect a part of the body."""
        self._body.append(part)

    def on_message_complete(self) -> None:
        """Give the response to the sender."""
        body, self._body = b"".join(self._body), []
        status = self._parser.get_status_code()
        # Each response needs a parser of its own: httptools keeps the state of the last one.
        self._parser = httptools.HttpResponseParser(self)
        self._settled.set()
        if status >= _ERROR:
            self._end(_refused(status, body))
        elif self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(body)

    def _end(self, error: Exception) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(error)


def _refused(status: int, body: bytes) -> RefusedByServer:
    try:
        return RefusedByServer(status, msgspec.json.decode(body, type=dict[str, object]))
    except msgspec.DecodeError:
        return RefusedByServer(status, {})


async def opened(target: Target, count: int) -> Sequence[Connection]:
    """Open `count` connections. Raises `Unreachable`."""
    loop = asyncio.get_running_loop()
    connections: list[Connection] = []
    try:
        for _ in range(count):
            _, connection = await loop.create_connection(
                Connection, target.host, target.port, ssl=target.is_secure or None
            )
            connections.append(connection)
    except OSError as error:
        for connection in connections:
            connection.close()
        raise Unreachable(f"cannot open connection {len(connections) + 1} of {count}: {error}") from None
    return connections
