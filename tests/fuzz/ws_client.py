"""One raw WebSocket of a fuzzed program: sends pieces, reads frames, ends its side or the connection.

It never decides whether a message is right (`ws_judge`).
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Final, Self

from tests.fuzz.http_client import HEALTH, Ended, HttpClient, reset, send_pieces
from tests.fuzz.http_programs import Piece
from tests.fuzz.ws_bytes import JSON, Frame, Opcode, frame, handshake, opcode_of, packed, read_frame, unpacked

BUFFER_BYTES: Final = 1 << 16
RECEIVE_BYTES: Final = 1 << 14
"""How much the system keeps for a client: little, so that the server has to wait for a lazy one."""

LAZY_ASKS: Final = 20
"""How many requests of another connection the server answers while a lazy client does not read."""


class WsClient:
    """One connection. `closed_with`: the code of the server's close frame."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, subprotocol: str) -> None:
        self._reader = reader
        self._writer = writer
        self._subprotocol = subprotocol
        self._changed = asyncio.Condition()
        self.has_ended = False
        self.pongs: list[bytes] = []
        self.closed_with: int | None = None

    @classmethod
    async def open(cls, port: int, token: str, subprotocol: str = JSON, early: bytes = b"") -> Self:
        """Return a new WebSocket to a local port, after the server's greeting. `early`: frames to send with
        the handshake."""
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
        sock.setblocking(False)  # noqa: FBT003 - the method takes no name
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
        reader, writer = await asyncio.open_connection(sock=sock, limit=BUFFER_BYTES)
        writer.write(handshake(token, subprotocol) + early)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101 "), head
        client = cls(reader, writer, subprotocol)
        hello = await client.message()
        assert hello["hello"]["subprotocol"] == subprotocol, hello
        return client

    async def send(
        self, pieces: Sequence[Piece], count_of: Callable[[], int], other: HttpClient, *, is_lazy: bool
    ) -> None:
        """Send the pieces, each after what it waits for. `count_of`: how many messages were answered."""

        async def has_answers(count: int) -> None:
            await self.until(lambda: count_of() >= count)

        with suppress(ConnectionError, Ended):
            await send_pieces(self._writer, pieces, has_answers, other, waits_for_room=not is_lazy)
            for _ in range(LAZY_ASKS if is_lazy else 0):
                await other.ask(HEALTH)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds of the messages so far. Raises `Ended` if the connection ends before."""
        async with self._changed:
            await self._changed.wait_for(lambda: holds() or self.has_ended)
        if not holds():
            raise Ended

    async def while_reading(self, work: Awaitable[None], reading: asyncio.Future[None]) -> None:
        """Wait for some work, while another task reads. Raises what that one raises."""
        working = asyncio.ensure_future(work)
        try:
            await asyncio.wait({working, reading}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                reading.result()
            await working
        finally:
            working.cancel()

    async def read(self, take: Callable[[Any], None]) -> None:
        """Read to the end, and pass each message to `take`."""
        try:
            while True:
                message = await self.message()
                async with self._changed:
                    take(message)
                    self._changed.notify_all()
        except Ended:
            pass
        finally:
            self.has_ended = True
            async with self._changed:
                self._changed.notify_all()

    async def message(self) -> Any:
        """Return the next message; remember pongs, and the close frame. Raises `Ended`."""
        try:
            while True:
                got = await read_frame(self._reader)
                assert self.closed_with is None, f"a frame after the close frame: {got}"
                if got.opcode == opcode_of(self._subprotocol):
                    return unpacked(got.payload, self._subprotocol)
                self._control(got)
        except asyncio.IncompleteReadError as end:
            if end.partial and self.closed_with is not None:
                raise AssertionError(f"bytes after the close frame: {end.partial!r}") from None
            raise Ended(end.partial) from None
        except ConnectionError:
            raise Ended from None

    def _control(self, got: Frame) -> None:
        if got.opcode == Opcode.PONG:
            self.pongs.append(got.payload)
        elif got.opcode == Opcode.PING:
            self._writer.write(frame(Opcode.PONG, got.payload))
        else:
            assert got.opcode == Opcode.CLOSE, got
            self.closed_with = int.from_bytes(got.payload[:2], "big")

    def say(self, content: object) -> None:
        """Send one message."""
        self._writer.write(frame(opcode_of(self._subprotocol), packed(content, self._subprotocol)))

    async def ask(self, content: object) -> Any:
        """Send one message, and return its reply. Pushes are dropped."""
        self.say(content)
        while "sub" in (reply := await self.message()):
            pass
        return reply

    def say_close(self) -> None:
        """Send a close frame."""
        self._writer.write(frame(Opcode.CLOSE, b"\x03\xe8"))

    def end_side(self) -> None:
        """End the client's side of the connection."""
        with suppress(OSError):
            self._writer.write_eof()

    def reset(self) -> None:
        """Reset the connection."""
        reset(self._writer)

    async def close(self) -> None:
        """Close the connection."""
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()
