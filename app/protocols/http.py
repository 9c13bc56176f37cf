"""HTTP/1.1 on one connection: executes the steps that `state` allows.

Hot requests go to the store (`hot_run`), all others to the application. This module owns the choice.
"""

from __future__ import annotations

import asyncio
from time import perf_counter_ns
from typing import Any, ClassVar

from uvicorn.config import Config
from uvicorn.server import ServerState

from tailrace.api.problems.table import HttpCode
from tailrace.app.protocols.answers import Answers
from tailrace.app.protocols.asgi import AsgiAdapter, AsgiRequest
from tailrace.app.protocols.connections import SMALL_BODY_BYTES, Connections, HeldMemory
from tailrace.app.protocols.deadlines import Deadlines, Progress
from tailrace.app.protocols.ending import Ending
from tailrace.app.protocols.handshakes import hand_over
from tailrace.app.protocols.heads import RequestHead
from tailrace.app.protocols.hot_request import HotRequest
from tailrace.app.protocols.hot_routes import HotRoutes
from tailrace.app.protocols.hot_run import HotRun
from tailrace.app.protocols.refusals import ProtocolRefusal, Refusals
from tailrace.app.protocols.request_reader import RequestReader
from tailrace.app.protocols.state import (
    ANSWERED,
    BODY,
    CLOSED,
    DISCARDING,
    FREE,
    HOT,
    IDLE,
    ConnectionState,
    Event,
)
from tailrace.app.protocols.turn_budget import PIECE_BYTES, TurnBudget


class HttpProtocol(asyncio.Protocol):
    """One connection. `http_protocol` makes a subclass for each server, and sets these attributes."""

    registry: ClassVar[Connections]
    hot: ClassVar[HotRoutes]
    clock: ClassVar[staticmethod[[], int]] = staticmethod(perf_counter_ns)

    def __init__(
        self, config: Config, server_state: ServerState, app_state: dict[str, Any], _loop: object = None
    ) -> None:
        self.state = ConnectionState()
        self.server_state = server_state
        self._asgi = AsgiAdapter(config, server_state, app_state)
        self._reader = RequestReader(self, self.state)
        self._answers = Answers(self.state)
        self._deadlines = Deadlines(self.registry.limits)
        self._memory = HeldMemory(self.registry)
        self._budget = TurnBudget(self.clock)
        self._run = HotRun(
            self, self.state, self._reader, self._answers, self.hot, self._asgi.client_ended, self._budget
        )
        self._successor: asyncio.Protocol | None = None
        """The WebSocket protocol, once it has the connection."""
        self._is_input_over = False
        """Whether the client has ended its side, and data that came before is still held."""
        self._arriving: HotRequest | AsgiRequest | None = None
        """The request whose body is incomplete."""

    # --- the transport -------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # a stream's
        """Count the connection. If the server has too many, refuse it."""
        self.transport = transport
        self._ending = Ending(self.state, transport)
        self._refusals = Refusals(self.state, self._answers, self._ending, transport, self.server_state)
        self.client_address = self._asgi.connect(self, transport, self._answers.queue)
        self._flow = self._asgi.flow
        excess = self.registry.enter(self, self.client_address)
        if excess is not None and excess.is_mute:
            self.cut()
        elif excess is not None:
            self._refusals.refuse(ProtocolRefusal(HttpCode.TOO_MANY_OPEN, excess.detail), None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Notify the application that the connection has ended, and release everything."""
        self.state.happened(Event.LOST)
        self._run.end_turn()
        self.registry.leave(self)
        self._answers.drop()
        if exc is None:
            self.transport.close()
        self._release()

    def _release(self) -> None:
        """Release memory, and cut reference cycles, which only the garbage collector would free."""
        self._memory.release()
        self._arriving = None
        self._reader.close()
        self._run.close()
        self._asgi.disconnect()

    def eof_received(self) -> bool:
        """Keep a connection that the client has half closed for answers that are due. TLS cannot do this."""
        self._run.end_turn()
        self._asgi.client_ended.set()
        return self.transport.can_write_eof() and self._outlives_input()

    def _outlives_input(self) -> bool:
        """Return whether answers are due after the client has ended its side, or held requests are."""
        if self._run.stop_waiting():
            return False
        self._is_input_over = bool(self._run.held)
        return self._is_input_over or self._run.end_after_input(self._arriving)

    def pause_writing(self) -> None:
        """Pause writing: the client reads more slowly than the server writes."""
        self._flow.pause_writing()

    def resume_writing(self) -> None:
        """Resume writing: the client has caught up."""
        self._flow.resume_writing()

    def data_received(self, data: bytes) -> None:
        """Execute hot requests whose heads are plain; pass all other data to the parser."""
        if self._run.kept or self._run.unsent:
            self._run.end_turn()
        if self._run.held:
            self._run.held += data
            self._flow.pause_reading()
            return
        self._budget.begin()
        if self.state.answering is FREE and self.state.receiving is IDLE and not self._flow.write_paused:
            self._run.read(data)
        else:
            self.take(data)

    def take(self, data: bytes) -> None:
        """Pass data to the parser, piece by piece. Hold what comes after a run until the run is answered, and
        what comes after the budget of the turn until the next turn."""
        start = 0
        while start < len(data):
            receiving = self.state.receiving
            if receiving is DISCARDING:
                return
            if receiving is CLOSED:
                if self._successor is not None:
                    self._successor.data_received(data[start:])
                return
            if (receiving is IDLE and self.state.answering is HOT) or self._budget.is_spent:
                self._hold(data[start:])
                return
            piece = data[start : start + PIECE_BYTES]
            start += PIECE_BYTES
            try:
                self._reader.feed(piece)
            except ProtocolRefusal as refusal:
                self._refusals.refuse(refusal, self._arriving)

    def _hold(self, data: bytes) -> None:
        """Keep data for later, and read nothing more until then."""
        self._run.held = data
        self._flow.pause_reading()
        asyncio.get_running_loop().call_soon(self._continue_held)

    def _continue_held(self) -> None:
        """Continue with the data that is held, unless it is a request after one that has no answer yet:
        `_continue` does then."""
        is_next = self.state.receiving is IDLE and self.state.answering is not FREE
        is_due = self._run.held or self._is_input_over
        if is_next or self.state.receiving is CLOSED or not is_due:
            return
        if self._flow.read_paused:
            self._flow.resume_reading()
        self.data_received(self._run.take_held())
        if not self._is_input_over:
            return
        self._run.end_turn()
        if not self._outlives_input():
            self.transport.close()

    # --- what arrives: called by the reader ----------------------------------------------------

    def head_received(self, head: RequestHead) -> None:
        """Wait for the body of a hot request; pass any other request to the application at once."""
        is_free = self.state.answering is FREE
        may_be_hot = is_free and not self._flow.write_paused and not self._budget.is_spent
        if may_be_hot and (hot := self.hot.recognised(self._run, head)):
            self._arriving = hot
            return
        self._arriving = request = self._asgi.request(head)
        if is_free:
            self._answers.start(request)
        else:
            self._flow.pause_reading()
            self._answers.queue.append(request)

    def body_received(self, piece: bytes) -> None:
        """Pass a piece of a body to its request. Raises `ProtocolRefusal` if bodies take too much memory."""
        assert self._arriving is not None, "a head comes before its body"
        if self._arriving.is_answered:
            return  # discard the rest of the body
        if self._reader.body_bytes > SMALL_BODY_BYTES and not self._memory.hold(len(piece)):
            most = self.registry.limits.bodies_mb
            raise ProtocolRefusal(HttpCode.TOO_MANY_OPEN, f"the server already holds {most} MiB of bodies")
        self._arriving.feed(piece)

    def request_received(self) -> None:
        """Execute a hot request; notify the application of the end of any other."""
        request, self._arriving = self._arriving, None
        assert request is not None, "a head comes before the end"
        request.complete()
        if isinstance(request, HotRequest):
            self._run.carry_out(request)
            if self.state.answering is FREE:
                self._memory.release()

    def switch_to_websocket(self, head: RequestHead, rest: bytes) -> None:
        """Pass the connection to the WebSocket protocol, which is counted in place of this one."""
        self.state.happened(Event.SWITCHED)
        successor: Any = self._asgi.websocket()
        is_write_paused = self._flow.write_paused
        self.registry.replace(self, successor)
        self._release()
        self._successor = successor
        hand_over(self.transport, successor, head, rest, is_write_paused=is_write_paused)

    # --- what is answered ----------------------------------------------------------------------

    def start_documented(self, request: HotRequest) -> None:
        """Pass a complete hot request, which has changed nothing, to the documented route."""
        asked = self._asgi.complete_request(request.head, request.body, request.quota)
        if request.ends_connection:
            asked.end_connection_after()
        self._answers.start(asked)

    def end_run(self) -> None:
        """Continue after the last answer of a run was written."""
        last = self._answers.current
        assert isinstance(last, HotRequest), "a run is the current request"
        if last.ends_connection:
            self._ending.close()
        self._continue()

    def answered(self) -> None:
        """Continue after the complete answer to a request of the application."""
        self.server_state.total_requests += 1
        self._continue()

    def _continue(self) -> None:
        """Start the next request, the refusal, or the data that arrived during a run."""
        self.state.happened(ANSWERED)
        self._memory.release()
        if self.state.answering is not FREE or self.transport.is_closing():
            return
        self._answers.current = None
        if (deferred := self._run.deferred) is not None:
            self._run.deferred = None
            self.start_documented(deferred)
        elif self._answers.queue:
            self._answers.start_next()
        elif self.state.receiving is DISCARDING:
            self._refusals.write_if_due()
        if self._run.held or self._is_input_over:
            self._continue_held()
        elif self._flow.read_paused:
            self._flow.resume_reading()

    # --- the end -------------------------------------------------------------------------------

    def last_answered(self) -> None:
        """End the connection after this answer, so that a client that still sends can read it."""
        if self.state.receiving is BODY:
            self._ending.linger()
        else:
            self._ending.close()

    def cut(self) -> None:
        """End the connection now, and drop unsent data."""
        self._ending.cut()

    def shutdown(self) -> None:
        """End the connection after the last answer that is due, because the server stops."""
        self._run.end_turn()
        if not self._answers.end_after_latest(self._run.deferred):
            self._ending.close()

    def check_deadlines(self, passed_s: float) -> None:
        """End the connection if it has made no progress for too long. Called about once a second."""
        self._run.end_turn()
        # The server waits for the rest of a body whose request has no answer yet.
        arriving = self._arriving if self.state.receiving is BODY else None
        is_owed = arriving is not None and not arriving.is_answered and not self._flow.read_paused
        progress = Progress.of(self.state, self._reader, self.transport, is_body_owed=is_owed)
        if (overdue := self._deadlines.check(progress, passed_s)) is None:
            return
        if overdue.reason is not None:
            self.registry.cuts[overdue.reason] += 1
        if overdue.is_cut:
            self.cut()
            return
        if overdue.refusal is not None:
            self._refusals.refuse(overdue.refusal, self._arriving)
        if not self._refusals.is_pending:
            self._ending.close()


def http_protocol(registry: Connections, hot: HotRoutes) -> type[HttpProtocol]:
    """Return the class of one server, for `http=` of `uvicorn.Config`. `registry` counts its connections."""
    return type("ServersHttpProtocol", (HttpProtocol,), {"registry": registry, "hot": hot})
