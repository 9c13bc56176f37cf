"""The output of a connection to a client that is sent more than it asks for: WebSockets and tails.

It writes to the transport, limits the data that waits, and reports a client that does not read. It never
closes the connection itself, and never reads from it.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, TimerHandle, Transport
from collections.abc import Callable

from tailrace.api.websocket_limits import OUTPUT_BYTES_MAX, OUTPUT_PAUSE_BYTES


class PushOutput:
    """What the server sends to one client.

    `on_relief` is called when the client has read enough to get more. `on_refusal` is called with the reason
    if the client reads too little: nothing for `stall_s`, or so little that more than `bytes_max` waits.
    """

    def __init__(
        self,
        transport: Transport,
        loop: AbstractEventLoop,
        on_relief: Callable[[], None],
        on_refusal: Callable[[str], None],
        stall_s: float,
        bytes_max: int = OUTPUT_BYTES_MAX,
    ) -> None:
        transport.set_write_buffer_limits(high=OUTPUT_PAUSE_BYTES)
        self.on_relief = on_relief
        self.is_full = False
        """Whether too much data waits for the client to send more."""
        self._transport = transport
        self._loop = loop
        self._on_refusal = on_refusal
        self._stall_s = stall_s
        self._bytes_max = bytes_max
        self._is_paused = False
        self._written_bytes = 0
        self._taken_bytes = 0
        self._stall_timer: TimerHandle | None = None

    def pause(self) -> None:
        """Start to watch whether the client, which lags, reads any data."""
        self._is_paused = self.is_full = True
        self._taken_bytes = self._taken_now()
        self._stall_timer = self._loop.call_later(self._stall_s, self._look_for_stall)

    def resume(self) -> None:
        """Stop watching: the client has caught up."""
        if self._is_paused:
            self._is_paused = False
            self._stop_stall_timer()
            self._relieve()

    def end(self) -> None:
        """Release the tasks that wait for the client: the connection is lost."""
        self._stop_stall_timer()
        self._relieve()

    def write(self, data: bytes) -> None:
        """Write data. Report the client if too much data waited before."""
        self._written_bytes += len(data)
        self._transport.write(data)
        waiting_bytes = self._transport.get_write_buffer_size()
        if waiting_bytes > OUTPUT_PAUSE_BYTES:
            self._fill_up(waiting_bytes - len(data))

    def _fill_up(self, bytes_before: int) -> None:
        if bytes_before > self._bytes_max:
            self._on_refusal("more data waits for this client than the server keeps")
        elif not self.is_full:
            self.is_full = True
            # The event loop writes only after this turn, and may then send everything.
            self._loop.call_soon(self._look_for_room)

    def _look_for_room(self) -> None:
        if not self._is_paused:
            self._relieve()

    def _relieve(self) -> None:
        self.is_full = False
        self.on_relief()

    def _look_for_stall(self) -> None:
        taken = self._taken_now()
        if taken == self._taken_bytes:
            self._on_refusal(f"nothing was read for {self._stall_s:g} s")
            return
        self._taken_bytes = taken
        self._stall_timer = self._loop.call_later(self._stall_s, self._look_for_stall)

    def _taken_now(self) -> int:
        return self._written_bytes - self._transport.get_write_buffer_size()

    def _stop_stall_timer(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None


class EventOutput(PushOutput):
    """The body of a response without a length, after its head: an `api.follow.tails.Output`. With
    `is_chunked`, each write is a chunk."""

    def __init__(
        self,
        transport: Transport,
        loop: AbstractEventLoop,
        on_refusal: Callable[[str], None],
        stall_s: float,
        *,
        is_chunked: bool,
    ) -> None:
        super().__init__(transport, loop, _nothing, on_refusal, stall_s)
        self._is_chunked = is_chunked

    @property
    def can_push(self) -> bool:
        """Whether the connection is neither congested nor closing."""
        return not (self.is_full or self._transport.is_closing())

    def send(self, event: bytes) -> None:
        """Write one event, or nothing if the connection is closing."""
        if not self._transport.is_closing():
            self.write(b"%x\r\n%b\r\n" % (len(event), event) if self._is_chunked else event)


def _nothing() -> None:
    """Send nothing more."""
