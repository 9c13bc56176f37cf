"""The three ways to end a connection: close, linger, cut.

This module owns the end of the transport. It never decides that a connection ends.

After a refusal a connection *lingers*: the server ends its side, and discards the data that the client still
sends. Closing a connection with unread input would reset it, and the client might never read the answer.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import suppress
from typing import Final

from tailrace.app.protocols.state import Answering, ConnectionState, Event

_NO_LINGERING: Final = struct.pack("ii", 1, 0)


class Ending:
    """The end of one connection."""

    __slots__ = ("_state", "_transport")

    def __init__(self, state: ConnectionState, transport: asyncio.Transport) -> None:
        self._state = state
        self._transport = transport

    def close(self) -> None:
        """End the connection after the data that is already written."""
        if self._leave():
            self._transport.close()

    def linger(self) -> None:
        """End the server's side after the data that is already written, and discard what the client sends.

        With TLS, which cannot end one side alone, this closes the connection.
        """
        if not self._leave():
            return
        if self._transport.can_write_eof():
            self._transport.resume_reading()
            self._transport.write_eof()
        else:
            self._transport.close()

    def cut(self) -> None:
        """End the connection now, and drop unsent data."""
        if self._leave():
            cut(self._transport)

    def _leave(self) -> bool:
        """Take the step. Return False if the connection has already ended."""
        if self._state.answering is Answering.CLOSED:
            return False
        self._state.happened(Event.LEFT)
        return True


def cut(transport: asyncio.Transport) -> None:
    """End a connection now, and drop unsent data.

    `abort` alone ends the connection in this process only: the operating system would keep megabytes of
    written data for a client that reads nothing. With a linger time of 0, the system resets the connection.
    """
    connection = transport.get_extra_info("socket")
    if connection is not None:
        with suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGERING)
    transport.abort()
