"""WebSocket frames, encoded once for many receivers.

This module owns the last encoded frame. It knows no connection.
"""

from __future__ import annotations

from typing import Final

from websockets.frames import Frame, Opcode


class Framer:
    """Encodes frames and keeps the last one, so a push to many receivers is encoded once."""

    def __init__(self) -> None:
        self._payload = b""
        self._opcode: Opcode | None = None
        self._frame = b""

    def frame(self, payload: bytes, opcode: Opcode) -> bytes:
        """Return the frame of a whole message."""
        if payload is not self._payload or opcode is not self._opcode:
            self._frame = Frame(opcode, payload).serialize(mask=False)
            self._payload, self._opcode = payload, opcode
        return self._frame


frames: Final = Framer()
