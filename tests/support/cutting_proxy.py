"""A TCP proxy that closes connections after a given number of bytes of the server's responses.

When it closes a connection, the server has executed the request, and the client does not know whether it has.
The proxy never parses the bytes that it forwards.
"""

from __future__ import annotations

import socket
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

CHUNK_BYTES: Final = 1 << 16


class CuttingProxy:
    """The proxy at `url`. `cuts`: how many connections it cut. `connections`: how many it accepted."""

    def __init__(self, server_port: int) -> None:
        self.cuts = 0
        self.connections = 0
        self._server_port = server_port
        self._budgets: deque[int] = deque()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def cut_after(self, *answer_bytes: int) -> None:
        """Cut one connection after so many response bytes, the next one after the next number; 0: before any
        byte.
        """
        with self._lock:
            self._budgets.extend(answer_bytes)

    def cut_no_more(self) -> None:
        """Cut no connection from now on."""
        with self._lock:
            self._budgets.clear()

    def serve(self) -> None:
        """Forward connections until `close`."""
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.connections += 1
                server = socket.create_connection(("127.0.0.1", self._server_port))
                self._sockets += [client, server]
                for pump in ((self._requests, client, server), (self._answers, server, client)):
                    threading.Thread(target=pump[0], args=pump[1:], daemon=True).start()

    def close(self) -> None:
        for each in (self._listener, *self._sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _requests(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(CHUNK_BYTES):
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)

    def _answers(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(CHUNK_BYTES):
                allowed, cuts = self._spend(len(data))
                client.sendall(data[:allowed])
                if cuts:
                    break
            for each in (client, server):
                each.shutdown(socket.SHUT_RDWR)

    def _spend(self, size: int) -> tuple[int, bool]:
        """Return how many of the next `size` bytes may pass, and whether the connection is cut after them."""
        with self._lock:
            if not self._budgets:
                return size, False
            if size < self._budgets[0]:
                self._budgets[0] -= size
                return size, False
            self.cuts += 1
            return self._budgets.popleft(), True


@contextmanager
def cutting_proxy(server_port: int) -> Iterator[CuttingProxy]:
    proxy = CuttingProxy(server_port)
    thread = threading.Thread(target=proxy.serve, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.close()
        thread.join(10)
