"""The output of one WebSocket: the frames that wait for the client, and whether the client reads them.

It writes whole frames to the transport, limits the data that waits, and reports a client that does not read.
It never closes the connection itself, and never reads from it.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, TimerHandle, Transport
from collections.abc import Callable
from typing import Final

from websockets.frames import Frame, Opcode

from tailrace.api.websocket_limits import OUTPUT_BYTES_MAX, OUTPUT_PAUSE_BYTES, STALL_S

HELD_BYTES_MAX: Final = 64 * 1024
"""Held frames are written when they take this many bytes: a larger write saves no further system calls."""


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


class WebSocketOutput:
    """What the server sends to one client, after the handshake.

    `on_relief` is called when the client has read enough to get more. `on_refusal` is called with the reason
    if the client reads too little.
    """

    def __init__(
        self,
        transport: Transport,
        loop: AbstractEventLoop,
        on_relief: Callable[[], None],
        on_refusal: Callable[[str], None],
    ) -> None:
        transport.set_write_buffer_limits(high=OUTPUT_PAUSE_BYTES)
        self._transport = transport
        self._loop = loop
        self._on_relief = on_relief
        self._on_refusal = on_refusal
        self.is_full = False
        """Whether too much data waits for the client to send more."""
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._is_paused = False
        self._written_bytes = 0
        self._taken_bytes = 0
        self._stall_timer: TimerHandle | None = None

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
            self._write(frame)

    def flush(self) -> None:
        """Write the frames that are held."""
        if self._held:
            data = b"".join(self._held)
            self._held.clear()
            self._held_bytes = 0
            self._write(data)

    def pause(self) -> None:
        """Start to watch whether the client, which lags, reads any data."""
        self._is_paused = self.is_full = True
        self._taken_bytes = self._taken_now()
        self._stall_timer = self._loop.call_later(STALL_S, self._look_for_stall)

    def resume(self) -> None:
        """Stop watching: the client has caught up."""
        self._is_paused = False
        self._stop_stall_timer()
        self._relieve()

    def end(self) -> None:
        """Release the tasks that wait for the client: the connection is lost."""
        self._stop_stall_timer()
        self._relieve()

    def _write(self, data: bytes) -> None:
        """Write whole frames. Report the client if too much data waited before."""
        self._written_bytes += len(data)
        self._transport.write(data)
        waiting_bytes = self._transport.get_write_buffer_size()
        if waiting_bytes > OUTPUT_PAUSE_BYTES:
            self._fill_up(waiting_bytes - len(data))

    def _fill_up(self, bytes_before: int) -> None:
        if bytes_before > OUTPUT_BYTES_MAX:
            self._on_refusal("more data waits for this client than the server keeps")
        elif not self.is_full:
            self.is_full = True
            # The event loop writes only after this turn, and may then send everything.
            self._loop.call_soon(self._look_for_room)

    def _look_for_room(self) -> None:
        if not self._is_paused:
            self._relieve()

    def _relieve(self) -> None:
        self.is_full = False
        self._on_relief()

    def _look_for_stall(self) -> None:
        taken = self._taken_now()
        if taken == self._taken_bytes:
            self._on_refusal(f"nothing was read for {STALL_S} s")
            return
        self._taken_bytes = taken
        self._stall_timer = self._loop.call_later(STALL_S, self._look_for_stall)

    def _taken_now(self) -> int:
        return self._written_bytes - self._transport.get_write_buffer_size()

    def _stop_stall_timer(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None
