"""WebSocket frames, made once for many receivers.

It owns the last frame that was made. It knows no connection.
"""

from __future__ import annotations

from typing import Final

from websockets.frames import Frame, Opcode


class Framer:
    """Makes frames, and keeps the last one: a push to many is the same object each time, and made once."""

    def __init__(self) -> None:
        self._payload = b""
        self._opcode: Opcode | None = None
        self._frame = b""

    def frame(self, payload: bytes, opcode: Opcode) -> bytes:
        """The frame of a whole message."""
        if payload is not self._payload or opcode is not self._opcode:
            self._frame = Frame(opcode, payload).serialize(mask=False)
            self._payload, self._opcode = payload, opcode
        return self._frame


frames: Final = Framer()
