"""uvicorn's WebSocket protocol until it is open: the response to the handshake, and frames that come earlier.

This module owns the order of the two. It knows no limits and no deadlines.
"""

from __future__ import annotations

from typing import Any

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol


class OpeningProtocol(WebSocketsSansIOProtocol):
    """One connection. Frames that the client sends too early wait for the response to the handshake: before
    it, the library can answer no frame."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._early = b""

    @property
    def is_opening(self) -> bool:
        """Whether the client waits for the response to its handshake."""
        return self.handshake_initiated and not self.handshake_complete

    async def send(self, message: ASGISendEvent) -> None:
        """Send an ASGI event. A handshake answered with a response counts as complete; uvicorn would report
        an error of the application."""
        await super().send(message)
        if message["type"] == "websocket.accept":
            self._take_early()
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True

    def data_received(self, data: bytes) -> None:
        """Parse the handshake or frames. Stop reading while frames wait for the response."""
        if self.is_opening:
            self._early += data
            self.transport.pause_reading()
        else:
            self.parse(data)

    def parse(self, data: bytes) -> None:
        """Parse data that does not have to wait."""
        super().data_received(data)

    def _take_early(self) -> None:
        early, self._early = self._early, b""
        if early and not self.transport.is_closing():
            self.transport.resume_reading()
            self.data_received(early)
