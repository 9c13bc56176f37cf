"""The output interfaces of a WebSocket: `Outlet`, which a session uses, and `Socket`, which a connection
uses.

This module implements neither of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Outlet(Protocol):
    """The output of a session: its connection."""

    @property
    def can_push(self) -> bool:
        """Whether a push may be sent now: the connection is not closing, and little sent data waits for the
        client. When that much no longer waits, the connection calls `WebSocketSession.drained`."""
        ...

    @property
    def is_closing(self) -> bool:
        """True if frames are no longer sent. The session may still have requests from before."""
        ...

    def send(self, frame: bytes) -> None:
        """Send or queue one frame. If the connection is closed, do nothing."""
        ...

    def restarting(self) -> None:
        """Close the connection with 1012, because the store has closed."""
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

    @property
    def can_push(self) -> bool:
        """True if it is neither congested nor closing: asked before each push, so in one call."""
        ...

    @property
    def is_closing(self) -> bool:
        """True if the connection is closing: `send_now` does nothing."""
        ...

    def send_now(self, payload: bytes, *, is_text: bool) -> None:
        """Write one frame without waiting, after those that are held. If the connection is closing, do
        nothing."""
        ...

    def hold(self, payload: bytes, *, is_text: bool) -> None:
        """As `send_now`, but the frame may be written later, together with others. Call `flush` before the
        next wait."""
        ...

    def flush(self) -> None:
        """Write the frames that are held. If the connection is closing, do nothing."""
        ...

    def close_now(self, code: int, reason: str) -> None:
        """Close the connection after the output that is already written or held. `code`: see `CloseCode`."""
        ...
