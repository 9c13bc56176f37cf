"""The output of one WebSocket: the frames that wait for the client.

It writes whole frames, several of them together if they are held. `app.protocols.output` limits what waits.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, Transport
from collections.abc import Callable
from struct import pack
from typing import Final

from websockets.frames import Opcode

from tailrace.api.websocket_limits import OUTPUT_BYTES_MAX, STALL_S
from tailrace.app.protocols.output import PushOutput

HELD_BYTES_MAX: Final = 64 * 1024
"""Held frames are written when they take this many bytes: a larger write saves no further system calls."""

_LENGTH_16_BITS: Final = 126
_LENGTH_64_BITS: Final = 127
"""Instead of a length: it follows with so many bits."""


class Framer:
    """Encodes frames and keeps the last one, so a push to many receivers is encoded once."""

    def __init__(self) -> None:
        self._payload = b""
        self._opcode: Opcode | None = None
        self._frame = b""

    def frame(self, payload: bytes, opcode: Opcode) -> bytes:
        """Return the frame of a whole message."""
        if payload is not self._payload or opcode is not self._opcode:
            self._frame = _head(opcode, len(payload)) + payload
            self._payload, self._opcode = payload, opcode
        return self._frame


frames: Final = Framer()


def _head(opcode: Opcode, size_bytes: int) -> bytes:
    """Return the head of the frame of a whole message, without a mask (RFC 6455, 5.2)."""
    first = 0x80 | opcode
    if size_bytes < _LENGTH_16_BITS:
        return bytes((first, size_bytes))
    if size_bytes < 1 << 16:
        return pack("!BBH", first, _LENGTH_16_BITS, size_bytes)
    return pack("!BBQ", first, _LENGTH_64_BITS, size_bytes)


class WebSocketOutput(PushOutput):
    """What the server sends to the client of a WebSocket, after the handshake: whole frames."""

    def __init__(
        self,
        transport: Transport,
        loop: AbstractEventLoop,
        on_relief: Callable[[], None],
        on_refusal: Callable[[str], None],
    ) -> None:
        super().__init__(transport, loop, on_relief, on_refusal, STALL_S, OUTPUT_BYTES_MAX)
        self._held: list[bytes] = []
        self._held_bytes = 0

    def hold(self, payload: bytes, *, is_text: bool) -> None:
        """Encode one frame, to be written with the next ones: by `send`, by `flush`, or when many bytes are
        held."""
        frame = frames.frame(payload, Opcode.TEXT if is_text else Opcode.BINARY)
        self._held.append(frame)
        self._held_bytes += len(frame)
        if self._held_bytes > HELD_BYTES_MAX:
            self.flush()

    def send(self, payload: bytes, *, is_text: bool) -> None:
        """Write one frame, after those that are held."""
        frame = frames.frame(payload, Opcode.TEXT if is_text else Opcode.BINARY)
        if self._held:
            self._held.append(frame)
            self.flush()
        else:
            self.write(frame)

    def flush(self) -> None:
        """Write the frames that are held."""
        if self._held:
            data = b"".join(self._held)
            self._held.clear()
            self._held_bytes = 0
            self.write(data)
