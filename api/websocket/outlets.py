"""The ways out of a WebSocket session: what the session needs of its connection, and the connection of its
socket.

It owns these two interfaces and implements neither.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Outlet(Protocol):
    """What a session needs of its connection."""

    @property
    def is_congested(self) -> bool:
        """Whether much sent data still waits; `WebSocketSession.drained` is called afterwards."""
        ...

    def send(self, frame: bytes) -> None:
        """Send one frame, or queue it; after the connection has gone, do nothing."""
        ...

    def restarting(self) -> None:
        """The store has stopped serving: close the connection with 1012."""
        ...


class Socket(Protocol):
    """A connection with direct access to its output, in addition to ASGI. `app` implements it for uvicorn.

    The server calls `on_relief` when the connection is no longer congested, and when it is lost.
    """

    on_relief: Callable[[], None]

    @property
    def is_congested(self) -> bool:
        """True if so much output waits for the client that no more should be sent."""
        ...

    def send_now(self, payload: bytes, *, is_text: bool) -> None:
        """Write one frame without waiting. If the connection is closing, do nothing."""
        ...

    def close_now(self, code: int, reason: str) -> None:
        """Close the connection after the output that is already written. `code`: see `CloseCode`."""
        ...
