"""A channel: sends commands to one node over one connection at a time, and reconnects if it is lost.

It owns the unwritten commands, the connection, and the probes that find a silent connection. Commands that
were never written are passed back as such, so they can be sent elsewhere. It never sends anything twice. Its
own payloads (the PING that probes a node, and marks in the order of replies) have no caller.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

from tailrace.app.remote.link.connection import Connection, Push
from tailrace.app.remote.link.exchange import Exchange, packed
from tailrace.app.remote.link.port import LinkDown
from tailrace.app.remote.link.timing import (
    UNSENT_BYTES_MAX,
    UNSENT_COMMANDS_MAX,
    WRITE_BYTES,
    Timing,
)

PING: Final = packed([b"PING"])


class Probe:
    """Takes the reply to a PING."""

    wants = 1

    def done(self, _reply: Any) -> None:
        """Any reply shows that the node answers."""

    def lost(self, _reason: str) -> None:
        """Do nothing: the owner of the connection handles the loss."""


class Marker(Exchange):
    """A place in the order of a channel: calls back when all before it were answered."""

    __slots__ = ("_call",)

    def __init__(self, call: Callable[[], None], loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(PING, slot=None, is_write=False, retry=lambda *_: None, future=loop.create_future())
        self._call = call

    def done(self, reply: Any) -> None:  # noqa: ARG002 - see `Exchange`
        """Everything before was answered."""
        self._call()

    def lost(self, reason: str) -> None:  # noqa: ARG002 - see `Exchange`
        """Call back after all earlier exchanges have failed."""
        self._call()

    def unsent(self, reason: str) -> None:  # noqa: ARG002 - see `Exchange`
        """All before were passed back."""
        self._call()


Open: TypeAlias = Callable[[Callable[[str], None], Push], Awaitable[Connection]]
"""Makes a connection; the arguments are called when it is lost, and for each push."""


class Channel:
    """The way to one node. `why_down`: why the last connection failed; empty while one is open or untried.

    `on_up` and `on_down` are called when a connection is ready and when it is lost.
    """

    def __init__(self, name: str, open_: Open, timing: Timing) -> None:
        self.name = name
        self.timing = timing
        self.why_down = ""
        self.on_push: Push = lambda _push: None
        self.on_up: Callable[[], None] = lambda: None
        self.on_down: Callable[[str], None] = lambda _reason: None
        self._open = open_
        self._loop = asyncio.get_running_loop()
        self._unsent: deque[Exchange] = deque()
        self._unsent_bytes = 0
        self._connection: Connection | None = None
        self._opening: asyncio.Task[None] | None = None
        self._flush_is_due = False
        self._room: deque[tuple[asyncio.Future[None], int]] = deque()
        self._promised_bytes = 0
        self._watch: asyncio.TimerHandle | None = None
        self._closed = False

    # --- sending ---------------------------------------------------------------------------------

    @property
    def is_up(self) -> bool:
        """Whether a connection is open."""
        return self._connection is not None

    @property
    def is_busy(self) -> bool:
        """Whether something was not yet answered."""
        return bool(self._unsent) or (self._connection is not None and self._connection.in_flight > 0)

    @property
    def has_room(self) -> bool:
        """Whether `send` may be called without waiting for `room` first."""
        return not self._room and not self._promised_bytes and self._left_bytes() > 0

    def _left_bytes(self) -> int:
        if len(self._unsent) >= UNSENT_COMMANDS_MAX:
            return 0
        return UNSENT_BYTES_MAX - self._unsent_bytes - self._promised_bytes

    async def room(self, size: int) -> None:
        """Return when there is room for an exchange of this size, in the order of the calls. Send it at
        once."""
        waiter = self._loop.create_future()
        self._room.append((waiter, size))
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self._promised_bytes -= size
                self._make_room()
            raise
        self._promised_bytes -= size

    def send(self, exchange: Exchange) -> None:
        """Write the exchange soon, after those that were sent before."""
        self._unsent.append(exchange)
        self._unsent_bytes += exchange.size
        if self._connection is None:
            self.connect()
        elif not self._flush_is_due:
            self._flush_is_due = True
            self._loop.call_soon(self._flush)

    def when_idle(self, call: Callable[[], None]) -> None:
        """Call back when everything that was sent until now has been answered, or passed back."""
        self.send(Marker(call, self._loop))

    def _flush(self) -> None:
        self._flush_is_due = False
        connection = self._connection
        while connection is not None and self._unsent and self._may_write(connection):
            self._write_some(connection)
        self._make_room()

    def _may_write(self, connection: Connection) -> bool:
        # An exchange that is written while those of a lost connection fail would never fail itself.
        return not connection.is_full and not connection.why_lost

    def _write_some(self, connection: Connection) -> None:
        payload, exchanges = self._next_payload()
        if exchanges:
            connection.write(payload, exchanges)

    def _next_payload(self) -> tuple[bytes, list[Exchange]]:
        """Take as many exchanges as fit into one write. Those whose caller has gone are left out."""
        parts: list[bytes] = []
        exchanges: list[Exchange] = []
        size = 0
        while self._unsent and size < WRITE_BYTES:
            exchange = self._unsent.popleft()
            self._unsent_bytes -= exchange.size
            if exchange.future.cancelled():
                continue
            part = exchange.payload()
            size += len(part)
            parts.append(part)
            exchanges.append(exchange)
        return b"".join(parts), exchanges

    def _make_room(self) -> None:
        while self._room and self._left_bytes() > 0:
            waiter, size = self._room.popleft()
            if not waiter.done():
                self._promised_bytes += size
                waiter.set_result(None)

    # --- the connection --------------------------------------------------------------------------

    def connect(self) -> None:
        """Open a connection if there is none."""
        if self._connection is None and self._opening is None and not self._closed:
            self._opening = self._loop.create_task(self._connect())

    def _pushed(self, push: list[Any]) -> None:
        self.on_push(push)

    async def tried(self) -> None:
        """Return when a connection is open, or the first try to open one has failed."""
        self.connect()
        if self._opening is not None:
            await asyncio.wait([self._opening])

    async def _connect(self) -> None:
        try:
            connection = await self._open(self._lost, self._pushed)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next command must try again
            self._opening = None
            text = str(error) or "no answer"
            self._went_down(error.reason if isinstance(error, LinkDown) else f"{self.name}: {text}")
            return
        self._opening = None
        if self._closed:
            connection.drop("the link is closed")
            return
        if connection.why_lost:  # right after its handshake
            self._went_down(connection.why_lost)
            return
        self._connection = connection
        self.why_down = ""
        connection.on_writable = self._flush
        self._watch = self._loop.call_later(self.timing.answer_s / 4, self._look)
        self.on_up()
        self._flush()

    def _lost(self, reason: str) -> None:
        """The connection is gone; the exchanges that were written to it have been told."""
        if self._connection is None:
            return  # it was lost before its handshake was over: `_connect` tells
        self._connection = None
        self._went_down(reason)

    def _went_down(self, reason: str) -> None:
        self.why_down = reason
        if self._watch is not None:
            self._watch.cancel()
        unsent, self._unsent, self._unsent_bytes = self._unsent, deque(), 0
        self.on_down(reason)
        for exchange in unsent:
            exchange.unsent(reason)
        self._make_room()

    def _look(self) -> None:
        """Drop the connection if a reply is overdue; probe it if it is idle."""
        connection = self._connection
        if connection is None:
            return
        silent_s = self._loop.time() - connection.heard_at
        if connection.in_flight and silent_s > self.timing.answer_s:
            connection.drop(f"{self.name} has not answered for {silent_s:.1f} s")
            return
        if not connection.in_flight and silent_s > self.timing.ping_every_s:
            connection.write(PING, [Probe()])
        self._watch = self._loop.call_later(self.timing.answer_s / 4, self._look)

    def drop(self, reason: str) -> None:
        """Close the connection at once, as if it had been lost."""
        if self._connection is not None:
            self._connection.drop(reason)

    def close(self) -> None:
        """Close for good: what waits fails."""
        self._closed = True
        if self._opening is not None:
            self._opening.cancel()
            self._opening = None
        if self._connection is not None:
            self._connection.drop("the link is closed")
        elif self._unsent:
            self._went_down("the link is closed")
