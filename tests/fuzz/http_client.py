"""One raw HTTP connection of a fuzzed program: sends pieces, reads answers, ends its side or the connection.

It reads one answer after another, and never decides whether an answer is right (`http_judge`).
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final, NamedTuple, Self

from tests.fuzz.http_bytes import HttpRequest
from tests.fuzz.http_programs import Ending, Piece

CONTINUE: Final = 100
BUFFER_BYTES: Final = 1 << 24
HEALTH: Final = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"
_NO_LINGERING: Final = struct.pack("ii", 1, 0)


class Answer(NamedTuple):
    """One answer, with the names of headers in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


class Ended(Exception):
    """The server has ended the connection before the next answer. `rest`: the bytes after the last one."""

    def __init__(self, rest: bytes = b"") -> None:
        super().__init__(rest)
        self.rest = rest


class HttpClient:
    """One connection. `answers`: all answers so far."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.answers: list[Answer] = []
        self._answered = asyncio.Condition()

    @classmethod
    async def open(cls, port: int) -> Self:
        """Return a new connection to a local port."""
        return cls(*await asyncio.open_connection("127.0.0.1", port, limit=BUFFER_BYTES))

    def write(self, raw: bytes) -> None:
        """Send bytes, without waiting."""
        self._writer.write(raw)

    async def ask(self, raw: bytes, *, is_head: bool = False) -> Answer:
        """Send one request, and return its answer."""
        self._writer.write(raw)
        return await self.answer(is_head=is_head)

    async def send(self, pieces: Sequence[Piece], ending: Ending, other: HttpClient) -> None:
        """Send the pieces, each after what it waits for. Then end this side, or reset the connection, if that
        is the ending. `other`: another connection to the server, which it serves in the same loop."""
        with suppress(ConnectionError):
            await send_pieces(self._writer, pieces, self._has_answers, other)
            if ending is Ending.HALF_CLOSED:
                self.end()
            elif ending is Ending.RESET:
                self.reset()

    async def _has_answers(self, count: int) -> None:
        async with self._answered:
            await self._answered.wait_for(lambda: len(self.answers) >= count)

    async def read(self, requests: Sequence[HttpRequest]) -> None:
        """Read the answers to all requests. Raises `Ended`."""
        for request in requests:
            answer = await self.answer(is_head=request.is_head)
            async with self._answered:
                self.answers.append(answer)
                self._answered.notify_all()

    async def answer(self, *, is_head: bool = False) -> Answer:
        """Read the next answer. Raises `Ended`."""
        try:
            while True:
                status, headers = await self._head()
                if status != CONTINUE:
                    break
            size = 0 if is_head else int(headers.get("content-length", "0"))
            return Answer(status, headers, await self._reader.readexactly(size))
        except asyncio.IncompleteReadError as end:
            raise Ended(end.partial) from None
        except ConnectionError:
            raise Ended from None

    async def _head(self) -> tuple[int, dict[str, str]]:
        head = await self._reader.readuntil(b"\r\n\r\n")
        first, *lines = head[:-4].decode("latin-1").split("\r\n")
        version, status, *_ = first.split(" ")
        assert version == "HTTP/1.1", head
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        return int(status), headers

    async def rest(self) -> bytes:
        """Return all bytes until the server ends the connection."""
        try:
            return await self._reader.read()
        except ConnectionError:
            return b""

    def end(self) -> None:
        """End this side, and read on."""
        self._writer.write_eof()

    def reset(self) -> None:
        """End the connection at once."""
        reset(self._writer)

    async def close(self) -> None:
        """Close the connection."""
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()


async def send_pieces(
    writer: asyncio.StreamWriter,
    pieces: Sequence[Piece],
    has_answers: Callable[[int], Awaitable[None]],
    other: HttpClient,
    *,
    waits_for_room: bool = True,
) -> None:
    """Send pieces, each after what it waits for. `has_answers`: waits for so many answers. `other`: another
    connection to the server, which it serves in the same loop. `waits_for_room`: the client reads meanwhile.
    Raises `ConnectionError`."""
    for piece in pieces:
        await has_answers(piece.answers_before)
        if piece.is_apart:
            await other.ask(HEALTH)  # the server has read this connection before it answers
        writer.write(piece.data)
        if waits_for_room:
            await writer.drain()
        await asyncio.sleep(0)  # other connections send in between


def reset(writer: asyncio.StreamWriter) -> None:
    """Reset a connection."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGERING)
    writer.transport.abort()
