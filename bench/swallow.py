"""A no-op server: it reads each body, and responds as to an import of one entry.

It keeps only what a client must get back: the staged chunks of the Spark sink, until they are read. It shows
the greatest rate that a client of `entries:import` can reach with any server. Run it with ``python -m
bench.swallow``; it prints its URL, and exits when its standard input ends.
"""

from __future__ import annotations

import asyncio
import re
import sys
from itertools import count
from typing import ClassVar, Final, cast

import uvloop

IMPORTED: Final = b'{"count":1,"first_id":"1-0","last_id":"1-0"}'
NO_ENTRIES: Final = b'{"entries":[],"next":null}'
HEAD: Final = b"HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
LENGTH: Final = re.compile(rb"(?i)\r\ncontent-length: *(\d+)\r\n")


class Swallowing(asyncio.Protocol):
    """One connection. It reads the length from each request head. `staged`: the bodies of single entries by
    their ids; all connections share it."""

    staged: ClassVar[dict[bytes, bytes]] = {}

    def __init__(self) -> None:
        self._head = b""
        self._line = b""
        self._body: list[bytes] = []
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
            self._head, self._line, self._body = b"", head.partition(b"\r\n")[0], []
            length = LENGTH.search(head + end)
            self._body_left = int(length[1]) if length else 0
            self._swallow(rest)

    def _swallow(self, data: bytes) -> None:
        """Skip body bytes, or keep those of a single entry. Requests are not pipelined, so all bytes up to
        the end of a body belong to that body."""
        if b"/entries HTTP" in self._line:
            self._body.append(data)
        self._body_left -= len(data)
        if not self._body_left:
            status, answer = self._answer()
            self._transport.write(HEAD % (status, len(answer)) + answer)

    def _answer(self) -> tuple[bytes, bytes]:
        method, path, _ = self._line.split(b" ")
        if method == b"HEAD":
            return b"404 Not Found", b""
        if method == b"GET":
            found = self.staged.pop(path.rpartition(b"/")[2], None)
            return b"200 OK", NO_ENTRIES if found is None else found
        if not path.endswith(b"/entries"):
            return b"201 Created", IMPORTED
        entry_id = b"%d-0" % next(NUMBERS)
        if b":staged:" in path.replace(b"%3A", b":") and b"commit" not in path:
            self.staged[entry_id] = b'{"id":"%b",' % entry_id + b"".join(self._body)[1:]
        return b"201 Created", b'{"id":"%b"}' % entry_id


NUMBERS: Final = count(1)


async def serve() -> None:
    """Serve until standard input ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Swallowing, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    uvloop.run(serve())
