"""One HTTP connection in asyncio that sends one request after another, with as little work as possible.

The benches use it where a client library would take more processor time than the server. It never retries.
"""

from __future__ import annotations

import asyncio
import re
from typing import Final, Self
from urllib.parse import urlsplit

_LENGTH: Final = re.compile(rb"content-length: ([0-9]+)", re.IGNORECASE)
_SUCCESSES: Final = (b"HTTP/1.1 200", b"HTTP/1.1 201")


class Connection:
    """Requests and their responses, which must be successes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def opened(cls, url: str) -> Self:
        """Connect to the server at `url`."""
        parts = urlsplit(url)
        return cls(*await asyncio.open_connection(parts.hostname, parts.port))

    async def ask(self, method: str, path: str, body: bytes = b"") -> bytes:
        """Return the body of the response."""
        self._send(method, path, body)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(answer)
        assert length, answer
        content = await self._reader.readexactly(int(length[1]))
        assert answer.startswith(_SUCCESSES), (answer, content)
        return content

    async def events(self, path: str) -> asyncio.StreamReader:
        """Return the body of a response that never ends, to read as it arrives."""
        self._send("GET", path, b"")
        answer = await self._reader.readuntil(b"\r\n\r\n")
        assert answer.startswith(_SUCCESSES), answer
        return self._reader

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()

    def _send(self, method: str, path: str, body: bytes) -> None:
        head = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body)}\r\n"
        self._writer.write(f"{head}content-type: application/json\r\n\r\n".encode() + body)
