"""One connection to a node: writes payloads, and passes each reply to the exchange that waits for it.

Replies come in the order of the payloads. Only bytes that are not RESP end the connection; a reply that
cannot be decoded as text does not. It never reconnects, and never decides whether to send a command again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Final, Protocol, cast

import hiredis

from tailrace.app.remote.link.port import EngineError

_NOT_YET: Final = object()
"""What the reader returns instead of a reply that is incomplete; False would be a reply of RESP3."""

Push = Callable[[list[Any]], None]


class Answered(Protocol):
    """What a connection tells about one payload: see `Exchange`."""

    wants: int

    def done(self, reply: Any, /) -> None:
        """Take the reply, or the list of them."""
        ...

    def lost(self, reason: str, /) -> None:
        """The connection was lost before the reply."""
        ...


def _engine_error(text: str) -> EngineError:
    return EngineError(text.encode("utf-8", "surrogatepass"))


class Connection(asyncio.Protocol):
    """An open connection. `on_lost` gets the reason, once, after the exchanges in flight have been told.

    `why_lost`: empty while it is open. `heard_at`: when the last byte arrived, or when the first payload was
    written while none was in flight. `on_writable` is called when the socket takes more after it was full.
    """

    def __init__(self, name: str, on_lost: Callable[[str], None], on_push: Push) -> None:
        self._name = name
        self._on_lost = on_lost
        self._on_push = on_push
        self._loop = asyncio.get_running_loop()
        self._reader = hiredis.Reader(replyError=_engine_error, notEnoughData=_NOT_YET)
        self._in_flight: deque[Answered] = deque()
        self._parts: list[Any] = []
        self._transport: asyncio.Transport | None = None
        self._why_dropped = ""
        self.why_lost = ""
        self.on_writable: Callable[[], None] = lambda: None
        self.is_full = False
        self.heard_at = self._loop.time()

    @property
    def in_flight(self) -> int:
        """How many exchanges wait for replies."""
        return len(self._in_flight)

    def write(self, payload: bytes, exchanges: Iterable[Answered]) -> None:
        """Send the payload of these exchanges."""
        assert self._transport is not None
        if not self._in_flight:
            self.heard_at = self._loop.time()
        self._in_flight.extend(exchanges)
        self._transport.write(payload)

    def drop(self, reason: str) -> None:
        """Close the connection at once; the exchanges in flight are lost."""
        if self._transport is not None:
            self._why_dropped = self._why_dropped or reason
            self._transport.abort()

    # --- asyncio.Protocol ------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Pass on all replies that are complete."""
        self.heard_at = self._loop.time()
        reader, in_flight = self._reader, self._in_flight
        try:
            reader.feed(data)
            while (reply := reader.gets()) is not _NOT_YET:
                if type(reply) is hiredis.PushNotification:
                    self._on_push(reply)
                elif not in_flight:
                    self.drop(f"{self._name} sent an unexpected reply: {reply!r:.200}")
                    return
                elif (exchange := in_flight[0]).wants == 1:
                    in_flight.popleft()
                    exchange.done(reply)
                else:
                    self._collect(exchange, reply)
        except hiredis.ProtocolError as error:
            self.drop(f"{self._name} sent bytes that are no RESP: {error}")

    def _collect(self, exchange: Answered, reply: Any) -> None:
        self._parts.append(reply)
        if len(self._parts) == exchange.wants:
            self._in_flight.popleft()
            parts, self._parts = self._parts, []
            exchange.done(parts)

    def pause_writing(self) -> None:
        """The socket is full: the peer reads too slowly, or hangs."""
        self.is_full = True

    def resume_writing(self) -> None:
        """The socket takes more."""
        self.is_full = False
        self.on_writable()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell all exchanges in flight, then the owner."""
        reason = self._why_dropped or f"{self._name} closed the connection" + (f": {exc}" if exc else "")
        self.why_lost = reason
        in_flight, self._in_flight = self._in_flight, deque()
        for exchange in in_flight:
            exchange.lost(reason)
        self._on_lost(reason)
