"""A transport for httpx over plain sockets, with a pool of connections.

httpx's own transport reads and writes HTTP in Python, event by event. In a bulk append of a thousand entries,
that was the largest part of the time on the client. The operations written by hand call `answer`, which also
avoids httpx's request objects; the generated operations use httpx's own interface. Both see httpx's
responses, timeouts and errors. The errors distinguish a lost response from a request that was not sent.

Rules that must hold:

* A connection carries one request at a time. It returns to the pool only if its response was read to the end
  and no bytes follow. Otherwise it is closed.
* A connection that the server closed while it was idle in the pool is not used, because a request must not
  fail for that reason. (If the server closes it at the very moment of its use, the response is lost like any
  other.)
* An error before the first byte of the request is sent is a `ConnectError`. After that the request may have
  arrived. A response that ends early is an error and never a short response.
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple
from urllib.request import getproxies, proxy_bypass

import httpx

from tailrace_client.answers import Head, Incoming, WholeAnswer, parts_of, read_head
from tailrace_client.outgoing import Outgoing, head_of
from tailrace_client.sockets import RECEIVING, is_readable, send

Timeouts = Mapping[str, float | None]


class Origin(NamedTuple):
    """The server that a connection leads to."""

    scheme: str
    host: str
    port: int


class Connection(NamedTuple):
    """An open connection. `incoming`: the bytes that it receives."""

    origin: Origin
    socket: socket.socket
    incoming: Incoming


class PooledTransport(httpx.BaseTransport):
    """A pool of at most `connections_max` connections over all origins. Further requests wait until one is
    free."""

    def __init__(self, connections_max: int, verify: ssl.SSLContext | bool) -> None:  # noqa: FBT001
        self._context = httpx.create_ssl_context(verify)
        self._free = threading.BoundedSemaphore(connections_max)
        self._idle: deque[Connection] = deque()

    def answer(self, request: Outgoing, timeouts: Timeouts) -> WholeAnswer | httpx.Response:
        """Send a request and return its response, read to the end."""
        head, body = self._sent(request, timeouts)
        content = body.read()
        if head.is_coded:
            return httpx.Response(head.status, headers=head.headers, content=content)
        return WholeAnswer(head.status, head.headers, content)

    def opened(self, request: Outgoing, timeouts: Timeouts) -> httpx.Response:
        """Send a request and return its response, whose body is read on demand."""
        head, body = self._sent(request, timeouts)
        return httpx.Response(head.status, headers=head.headers, stream=body)

    def _sent(self, request: Outgoing, timeouts: Timeouts) -> tuple[Head, _Body]:
        return self._exchange(request.method, request.url, request.head, request.parts, timeouts)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request of httpx and return its response, whose body is read on demand."""
        assert isinstance(request.stream, httpx.SyncByteStream)
        url, lines = request.url, [b"%b: %b" % header for header in request.headers.raw]
        timeouts: Timeouts = request.extensions.get("timeout", {})
        head, body = self._exchange(
            request.method, url, head_of(request.method, url, lines), request.stream, timeouts
        )
        return httpx.Response(head.status, headers=head.headers, stream=body)

    def _exchange(
        self, method: str, url: httpx.URL, head: bytes, parts: Iterable[bytes], timeouts: Timeouts
    ) -> tuple[Head, _Body]:
        """Send a request. Return the head of its response, and the body, which returns the connection to the
        pool."""
        if not self._free.acquire(timeout=timeouts.get("pool")):
            raise httpx.PoolTimeout("all connections are in use")
        connection: Connection | None = None
        try:
            origin = _origin_of(url)
            connection = self._take(origin) or self._connected(origin, timeouts)
            connection.socket.settimeout(timeouts.get("write"))
            send(connection.socket, head, parts)
            connection.socket.settimeout(timeouts.get("read"))
            with RECEIVING:
                answer = read_head(connection.incoming, method)
        except BaseException:
            self.drop(connection)
            raise
        return answer, _Body(self, connection, answer)

    def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            self._idle.pop().socket.close()

    def give_back(self, connection: Connection) -> None:
        """Return a connection to the pool after its response was read to the end."""
        self._idle.append(connection)
        self._free.release()

    def drop(self, connection: Connection | None) -> None:
        """Close a connection whose response was not read to the end. `connection` is None if no connection
        was made."""
        if connection is not None:
            connection.socket.close()
        self._free.release()

    def _take(self, origin: Origin) -> Connection | None:
        """Return the connection that was used last and is still usable; None if there is none. Threads can
        call this at the same time."""
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return None
            if connection.origin == origin and not is_readable(connection.socket):
                return connection
            connection.socket.close()

    def _connected(self, origin: Origin, timeouts: Timeouts) -> Connection:
        try:
            made = socket.create_connection((origin.host, origin.port), timeouts.get("connect"))
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if origin.scheme == "https":  # A failure closes the socket.
                made = self._context.wrap_socket(made, server_hostname=origin.host)
        except TimeoutError as error:
            raise httpx.ConnectTimeout(f"{origin.host}:{origin.port}: {error}") from error
        except OSError as error:
            raise httpx.ConnectError(f"{origin.host}:{origin.port}: {error}") from error
        return Connection(origin, made, Incoming(made.recv))


class ProxiedTransport(httpx.HTTPTransport):
    """httpx's own transport, for requests through a proxy."""

    def answer(self, request: Outgoing, timeouts: Timeouts) -> httpx.Response:
        """Send a request, like `PooledTransport.answer`."""
        answer = self.opened(request, timeouts)
        answer.read()
        return answer

    def opened(self, request: Outgoing, timeouts: Timeouts) -> httpx.Response:
        """Send a request, like `PooledTransport.opened`."""
        sent = httpx.Request(
            request.method,
            request.url,
            headers=request.headers,
            content=request.parts or None,
            extensions={"timeout": timeouts},
        )
        return self.handle_request(sent)


class _Body(httpx.SyncByteStream):
    """The body of a response. Reading it to the end returns the connection to the pool."""

    def __init__(self, transport: PooledTransport, connection: Connection, head: Head) -> None:
        self._transport = transport
        self._connection: Connection | None = connection
        self._head = head
        self._is_whole = False

    def __iter__(self) -> Iterator[bytes]:
        if self._connection is None:
            return
        parts = parts_of(self._connection.incoming, self._head.length)
        while part := self._next(parts):
            yield part
        self._is_whole = True

    @staticmethod
    def _next(parts: Iterator[bytes]) -> bytes:
        with RECEIVING:
            return next(parts, b"")

    def read(self) -> bytes:
        """Return the whole body and release the connection."""
        assert self._connection is not None, "the body can be read only once"
        try:
            with RECEIVING:
                content = b"".join(parts_of(self._connection.incoming, self._head.length))
            self._is_whole = True
        finally:
            self.close()
        return content

    def close(self) -> None:
        """Return the connection to the pool or close it, by the first rule above. A second call does
        nothing."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if self._is_whole and self._head.is_kept and connection.incoming.is_empty:
            self._transport.give_back(connection)
        else:
            self._transport.drop(connection)


def _origin_of(url: httpx.URL) -> Origin:
    return Origin(url.scheme, url.host, url.port or (443 if url.scheme == "https" else 80))


def transport_to(
    url: str,
    connections_max: int,
    verify: ssl.SSLContext | bool,  # noqa: FBT001
    *,
    uses_proxies: bool = True,
) -> PooledTransport | ProxiedTransport:
    """Return the transport for requests to `url`: httpx's own if the environment names a proxy for it, and
    `uses_proxies`."""
    parts = httpx.URL(url)
    proxy = getproxies().get(parts.scheme) if uses_proxies else None
    if proxy is None or proxy_bypass(parts.host):
        return PooledTransport(connections_max, verify)
    return ProxiedTransport(verify=verify, proxy=proxy, limits=httpx.Limits(max_connections=connections_max))
