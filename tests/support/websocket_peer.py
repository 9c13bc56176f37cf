"""A WebSocket connection without a network, for tests of the real endpoint.

Owns the messages in both directions. It does not interpret them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from starlette.types import ASGIApp

from tailrace.api.websocket.route import SOCKET_EXTENSION, WEBSOCKET_PATH


class Peer:
    """An `api.websocket.endpoint.Socket`, and its client, which reads everything.

    `sent`: the messages that the server sent. `writes`: how many it wrote together each time. `codes`: how
    the server closed the connection. `on_receive` is called when the server takes a message.
    """

    is_congested = False
    is_closing = False
    can_push = True

    def __init__(self) -> None:
        self.on_relief: Callable[[], None] = lambda: None
        self.messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.codes: list[int] = []
        self.sent: asyncio.Queue[bytes] = asyncio.Queue()
        self.writes: list[int] = []
        self._held: list[bytes] = []
        self.on_receive: Callable[[], object] = lambda: None
        self.messages.put_nowait({"type": "websocket.connect"})

    def say(self, request: Any) -> None:
        self.say_frame(json.dumps(request))

    def say_frame(self, text: str) -> None:
        self.messages.put_nowait({"type": "websocket.receive", "text": text})

    def leave(self) -> None:
        self.messages.put_nowait({"type": "websocket.disconnect", "code": 1000})

    async def receive(self) -> dict[str, Any]:
        message = await self.messages.get()
        if message["type"] == "websocket.receive":
            self.on_receive()
        return message

    async def send(self, _message: Any) -> None:
        """Receive an ASGI message of the endpoint: the handshake is accepted."""

    def send_now(self, payload: bytes, *, is_text: bool) -> None:
        self.hold(payload, is_text=is_text)
        self.flush()

    def hold(self, payload: bytes, *, is_text: bool) -> None:
        assert is_text
        self._held.append(payload)

    def flush(self) -> None:
        self.writes.append(len(self._held))
        for payload in self._held:
            self.sent.put_nowait(payload)
        self._held.clear()

    def close_now(self, code: int, _reason: str) -> None:
        self.flush()
        self.codes.append(code)
        self.leave()

    async def served_by(self, endpoint: ASGIApp) -> None:
        """Let `endpoint` serve this connection to its end."""
        scope = {
            "type": "websocket",
            "path": WEBSOCKET_PATH,
            "query_string": b"",
            "headers": [],
            "subprotocols": [],
            "client": ("127.0.0.1", 1),
            "extensions": {SOCKET_EXTENSION: self},
        }
        await endpoint(scope, self.receive, self.send)
