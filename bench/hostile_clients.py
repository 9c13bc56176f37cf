"""The hostile clients of `bench.hostile`, and the check whether the server has closed them.

Owns how each kind of client attacks; `bench.hostile` decides when they connect, and judges the result.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import select
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple

SILENT = 250
DRIPPING = 250
UNREAD = 100
WAIT_S = 30
RECEIVED_BYTES = 4_096


class Address(NamedTuple):
    """The address of the server."""

    host: str
    port: int


class Watch:
    """Detects without reading that the server has closed a connection. One poll object serves all
    connections.
    """

    def __init__(self) -> None:
        self._poll = select.poll()
        self._begin_s: dict[int, float] = {}
        self.cuts_s: dict[int, float | None] = {}

    def add(self, hostile: socket.socket) -> None:
        """Watch `hostile` from now on."""
        self._begin_s[hostile.fileno()] = time.monotonic()
        self.cuts_s[hostile.fileno()] = None
        self._poll.register(hostile, select.POLLRDHUP)

    def look(self) -> None:
        """Record the connections that the server has closed since the last call."""
        for number, _ in self._poll.poll(0):
            self._poll.unregister(number)
            self.cuts_s[number] = time.monotonic() - self._begin_s[number]

    @property
    def is_over(self) -> bool:
        """Whether the server closed all connections, or the waiting time for the last one is over."""
        last_s = max(self._begin_s.values(), default=0)
        return None not in self.cuts_s.values() or time.monotonic() > last_s + WAIT_S


Client = Callable[[socket.socket], Awaitable[None]]


async def silent(_hostile: socket.socket) -> None:
    """Send nothing."""


async def dripping(hostile: socket.socket) -> None:
    """Send an endless request head, one byte at a time."""
    head = b"POST /v1/streams/drip/entries HTTP/1.1\r\nhost: localhost\r\nx-long: "
    with suppress(OSError):
        for number in range(1 << 30):
            await asyncio.get_running_loop().sock_sendall(hostile, head[number : number + 1] or b"x")
            await asyncio.sleep(0.5)


async def unread(hostile: socket.socket) -> None:
    """Subscribe to a long stream over a WebSocket, and read nothing after the handshake."""
    loop = asyncio.get_running_loop()
    key = base64.b64encode(os.urandom(16)).decode()
    handshake = (
        "GET /v1/ws HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
        f"sec-websocket-version: 13\r\nsec-websocket-key: {key}\r\n\r\n"
    )
    await loop.sock_sendall(hostile, handshake.encode())
    await loop.sock_recv(hostile, RECEIVED_BYTES)
    streams = [{"key": "unread", "after": "0"}]
    wish = {"id": 1, "op": "subscribe", "streams": streams, "credit": 1_000_000_000}
    await loop.sock_sendall(hostile, _masked(json.dumps(wish).encode()))


def _masked(text: bytes) -> bytes:
    """Return one text frame of a client."""
    assert len(text) < 1 << 16
    mask = os.urandom(4)
    body = bytes(byte ^ mask[index % 4] for index, byte in enumerate(text))
    return b"\x81\xfe" + len(text).to_bytes(2, "big") + mask + body


KINDS: dict[str, tuple[Client, int]] = {
    "silent": (silent, SILENT),
    "dripping": (dripping, DRIPPING),
    "unread": (unread, UNREAD),
}


async def arrive(client: Client, address: Address, watch: Watch, late_s: float) -> socket.socket:
    """Connect after `late_s` seconds, run `client`, and return the open socket."""
    await asyncio.sleep(late_s)
    hostile = socket.socket()
    hostile.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED_BYTES)
    hostile.settimeout(0)
    await asyncio.get_running_loop().sock_connect(hostile, address)
    watch.add(hostile)
    await client(hostile)
    return hostile
