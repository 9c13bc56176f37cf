"""uvicorn's WebSocket protocol, with a faster way to send frames, and deadlines for slow clients.

This module owns the connection. It sends frames without an ASGI event each, which halves the cost of a push.
It closes connections of clients that do not read, or that send a message too slowly. The ASGI scope has the
protocol as `SOCKET_EXTENSION`. It never decides how much data may wait: `WebSocketOutput` does.
"""

from __future__ import annotations

from asyncio import Transport
from asyncio.transports import BaseTransport
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any, ClassVar, Final, cast

from uvicorn._types import ASGIReceiveEvent, ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request
from websockets.protocol import State

from tailrace.api.websocket.route import SOCKET_EXTENSION
from tailrace.api.websocket_limits import CLOSE_GRACE_S, FRAME_BYTES_MAX, CloseCode
from tailrace.app.protocols.connections import SMALL_BODY_BYTES, Connections, HeldMemory
from tailrace.app.protocols.deadlines import BODY_WINDOW_S
from tailrace.app.protocols.ending import cut
from tailrace.app.protocols.turn_budget import PIECE_BYTES, TurnBudget
from tailrace.app.protocols.websocket_output import WebSocketOutput

CUT_AFTER_S: Final = 2
"""How long closing may wait for a client to read the remaining data."""


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


class WebSocketProtocol(OpeningProtocol):
    """One connection. Once open, it is an `api.websocket.endpoint.Socket`. `registry` already counts it,
    because it was an HTTP connection before."""

    registry: ClassVar[Connections]
    clock: ClassVar[staticmethod[[], int]] = staticmethod(perf_counter_ns)
    _output: WebSocketOutput

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # Compression would cost more time than sending, and memory, for each of a thousand receivers.
        self.conn.available_extensions = []
        self.conn.max_message_size = FRAME_BYTES_MAX
        self.on_relief: Callable[[], None] = lambda: None
        self._message_bytes = 0
        """The bytes received since the last complete message."""
        self._memory = HeldMemory(self.registry)
        self._budget = TurnBudget(self.clock)
        self._unread = b""
        """What is left for the next turns of the event loop."""
        self._last_mark = 0
        self._still_s = 0.0

    # --- for the endpoint ----------------------------------------------------------------------

    @property
    def is_congested(self) -> bool:
        """Whether too much data waits for the client to send more. `on_relief` is called when that ends."""
        return self._output.is_full

    @property
    def can_push(self) -> bool:
        """Whether the connection is neither congested nor closing."""
        return not (self._output.is_full or self.close_sent or self.transport.is_closing())

    @property
    def is_closing(self) -> bool:
        """Whether the connection is closing. The endpoint learns it after the messages that came before."""
        return self.close_sent or self.transport.is_closing()

    def send_now(self, payload: bytes, *, is_text: bool) -> None:
        """Write one frame, or nothing if the connection is closing. Close it if too much data waits."""
        # As `is_closing`: a push to ten thousand connections saves as many calls.
        if not self.close_sent and not self.transport.is_closing():
            self._output.send(payload, is_text=is_text)

    def hold(self, payload: bytes, *, is_text: bool) -> None:
        """As `send_now`, but write the frame with the next ones, by `flush` at the latest."""
        if not self.is_closing:
            self._output.hold(payload, is_text=is_text)

    def flush(self) -> None:
        """Write all frames that are held, or nothing if the connection is closing."""
        if not self.is_closing:
            self._output.flush()

    def close_now(self, code: int, reason: str) -> None:
        """Send a close frame after the waiting data, and cut the connection if it is not read soon."""
        self.flush()
        if self.is_closing:
            return
        # If the client's close frame arrived in the same read, the library has its reply ready to send.
        if self.conn.state is State.OPEN:
            self.conn.send_close(code, reason)
        self._close_with(self._cut)

    def _relieved(self) -> None:
        self.on_relief()

    def _not_reading(self, reason: str) -> None:
        self.close_now(CloseCode.NOT_READING, reason)

    # --- for the transport ---------------------------------------------------------------------

    def connection_made(self, transport: BaseTransport) -> None:
        """Limit the data that the transport buffers before it pauses writing."""
        writing = cast("Transport", transport)
        self._output = WebSocketOutput(writing, self.loop, self._relieved, self._not_reading)
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Release the tasks that wait for the client."""
        self.registry.leave(self)
        self._memory.release()
        super().connection_lost(exc)
        self._output.end()

    def data_received(self, data: bytes) -> None:
        """Parse what arrives, piece by piece, as long as the budget of the turn lasts."""
        if self._unread:
            self._unread += data
            return
        self._budget.begin()
        for start in range(0, len(data), PIECE_BYTES):
            # What waits for the response to the handshake costs nothing, and has one place only.
            if self._budget.is_spent and not self.is_opening:
                self._unread = data[start:]
                self.transport.pause_reading()
                self.loop.call_soon(self._continue_unread)
                return
            super().data_received(data[start : start + PIECE_BYTES])

    def _continue_unread(self) -> None:
        unread, self._unread = self._unread, b""
        if self.transport.is_closing():
            return
        if not self.read_paused:
            self.transport.resume_reading()
        self.data_received(unread)

    async def receive(self) -> ASGIReceiveEvent:
        """Return the next event for the application. uvicorn then reads on, but not while data is unread."""
        event = await super().receive()
        if self._unread:
            self.transport.pause_reading()
        return event

    def parse(self, data: bytes) -> None:
        """Parse the data, unless unfinished messages take too much memory."""
        self._message_bytes += len(data)
        super().parse(data)
        is_large = self._message_bytes > SMALL_BODY_BYTES and not self.close_sent
        if is_large and not self._memory.hold(self._message_bytes - self._memory.held_bytes):
            told = f"the server already holds {self.registry.limits.bodies_mb} MiB of messages and bodies"
            self.close_now(CloseCode.TOO_MUCH_HELD, told)

    def send_receive_event_to_app(self) -> None:
        """Pass a complete message to the application."""
        self._message_bytes = 0
        self._memory.release()
        if self.curr_msg_data_type == "text" and not self._is_text_utf8():
            self.frames = []
            self.close_now(CloseCode.INVALID_PAYLOAD, "a text message must be UTF-8")
            return
        super().send_receive_event_to_app()

    def _is_text_utf8(self) -> bool:
        """Return whether the text message is valid. For an invalid one uvicorn would log a traceback."""
        if len(self.frames) > 1:
            self.frames = [b"".join(self.frames)]
        try:
            self.frames[0].decode()
        except UnicodeDecodeError:
            return False
        return True

    def check_deadlines(self, passed_s: float) -> None:
        """End a handshake or a message that made no progress for too long. Called about once a second.

        A separate timer checks whether the client reads; it starts as soon as data waits for the client.
        """
        mark, limit_s = self._mark_and_limit()
        if not limit_s or mark != self._last_mark:
            self._last_mark = mark
            self._still_s = 0.0
            return
        self._still_s += passed_s
        if self._still_s < limit_s:
            return
        if self.transport.is_closing():
            self._cut()
        elif not self.handshake_complete:
            self.registry.cuts["header_timeout"] += 1
            cut(self.transport)
        else:
            self.registry.cuts["message_timeout"] += 1
            told = f"nearly nothing of a message came within {limit_s} s"
            self.close_now(CloseCode.TOO_SLOW, told)

    def _mark_and_limit(self) -> tuple[int, int]:
        """Return a mark that changes when the connection makes progress, and for how many seconds it may stay
        the same; 0: forever."""
        if self.transport.is_closing():
            return -1, CUT_AFTER_S
        if not self.handshake_complete:
            return -2, self.registry.limits.header_timeout_s
        bytes_per_s_min = self.registry.limits.body_bytes_per_s_min
        is_unfinished = bool(self.frames or self.conn.reader.buffer)
        if not is_unfinished or self.read_paused or self.close_sent or not bytes_per_s_min:
            return 0, 0
        return self._message_bytes // (bytes_per_s_min * BODY_WINDOW_S), BODY_WINDOW_S

    def _cut(self) -> None:
        self.registry.cuts["not_reading"] += 1
        cut(self.transport)

    def pause_writing(self) -> None:
        """Start to watch whether the client, which lags, reads any data."""
        super().pause_writing()
        self._output.pause()

    def resume_writing(self) -> None:
        """Stop watching: the client has caught up."""
        super().resume_writing()
        self._output.resume()

    def handle_connect(self, event: Request) -> None:
        """Begin the ASGI cycle, after adding this protocol to its scope."""
        super().handle_connect(event)
        if self.handshake_initiated and not self.handshake_complete:
            extensions = cast("dict[str, Any]", self.scope["extensions"])
            extensions[SOCKET_EXTENSION] = self

    def handle_parser_exception(self) -> None:
        """Send the error, and discard further input: closing with unread input would reset the connection,
        and the client would not receive the error."""
        if self.close_sent:
            return
        self._close_with(self.transport.close)

    def _close_with(self, end: Callable[[], None]) -> None:
        """Send the close frame that `conn` has ready, tell the application, and `end` after the grace."""
        assert self.conn.close_sent is not None
        close = self.conn.close_sent
        self.stop_keepalive()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": close.code, "reason": close.reason})
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        self.close_timer = self.loop.call_later(CLOSE_GRACE_S, end)


def websocket_protocol(registry: Connections) -> type[WebSocketProtocol]:
    """Return the class of one server, for `ws=` of `uvicorn.Config`. `registry` counts its connections."""
    return type("ServersWebSocketProtocol", (WebSocketProtocol,), {"registry": registry})
