"""A no-op server: it reads each body, stores nothing, and responds as to an import of one entry.

It shows the greatest rate that a client of `entries:import` can reach with any server. Run it with ``python
-m bench.swallow``; it prints its URL, and exits when its standard input ends.
"""

from __future__ import annotations

import asyncio
import re
import sys
from typing import Final, cast

import uvloop

ANSWER: Final = b'{"count":1,"first_id":"1-0","last_id":"1-0"}'
RESPONSE: Final = (
    b"HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
    % (len(ANSWER), ANSWER)
)
LENGTH: Final = re.compile(rb"(?i)\r\ncontent-length: *(\d+)\r\n")


class Swallowing(asyncio.Protocol):
    """One connection. It reads the length from each request head, and ignores the bodies."""

    def __init__(self) -> None:
        self._head = b""
        self._body_left = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport of a new connection."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Read a part of a head or of a body."""
        if self._body_left:
            self._swallow(data)
            return
        self._head += data
        head, end, rest = self._head.partition(b"\r\n\r\n")
        if end:
            self._head = b""
            length = LENGTH.search(head + end)
            assert length, "the body needs a Content-Length"
            self._body_left = int(length[1])
            self._swallow(rest)

    def _swallow(self, data: bytes) -> None:
        """Skip body bytes. Requests are not pipelined, so all bytes up to the end of a body belong to that
        body.
        """
        self._body_left -= len(data)
        if not self._body_left:
            self._transport.write(RESPONSE)


async def serve() -> None:
    """Serve until standard input ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Swallowing, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    uvloop.run(serve())
