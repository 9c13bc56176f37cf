"""The ways to end a connection, each with its step of the connection's state.

It owns the end of the transport. It never decides that a connection ends.

A connection that is refused *lingers*: the server ends its side, and throws away what the client still sends.
To close at once with unread input would reset the connection, and the client might never read the answer.
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
        """End after what is written."""
        if self._leave():
            self._transport.close()

    def linger(self) -> None:
        """End the server's side after what is written, and let the client finish sending: what it sends is
        read and thrown away. TLS cannot end one side alone."""
        if not self._leave():
            return
        if self._transport.can_write_eof():
            self._transport.resume_reading()
            self._transport.write_eof()
        else:
            self._transport.close()

    def cut(self) -> None:
        """End now, and drop what is unsent."""
        if self._leave():
            cut(self._transport)

    def _leave(self) -> bool:
        """Take the step; False if the connection has gone, which an application learns later."""
        if self._state.answering is Answering.CLOSED:
            return False
        self._state.happened(Event.LEFT)
        return True


def cut(transport: asyncio.Transport) -> None:
    """End a connection now, and throw away what was not taken.

    An abort alone ends the connection in this process only: the system would keep megabytes of written data
    and offer them to a client that reads nothing. With no time to linger, the system resets the connection.
    """
    connection = transport.get_extra_info("socket")
    if connection is not None:
        with suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGERING)
    transport.abort()
