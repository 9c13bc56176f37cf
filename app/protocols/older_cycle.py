"""uvicorn's ASGI cycle for clients of HTTP/1.0. It owns how a body of unknown length ends."""

from __future__ import annotations

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle


class OlderCycle(RequestResponseCycle):
    """A cycle for a client of HTTP/1.0, which knows no chunks: the end of the connection ends a body of
    unknown length."""

    _is_of_known_length = True

    async def send(self, message: ASGISendEvent) -> None:
        """Send a message of the application. uvicorn would send a body of unknown length in chunks."""
        if message["type"] == "http.response.start":
            self._is_of_known_length = any(name == b"content-length" for name, _ in message["headers"])
            self.chunked_encoding = None if self._is_of_known_length else False
        elif message["type"] == "http.response.body" and not self._is_of_known_length:
            self.expected_content_length = len(message.get("body", b""))
        await super().send(message)
