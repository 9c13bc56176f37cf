"""The hot requests that one connection has under way: submitted one after another, answered in one write.

A client that pipelines sends many requests in one read. The requests of a run do not wait for each other's
answers, and the answers are written in the order of the requests. If all answers are known at the end of the
read, they are written at once, and the state of the connection does not change. If the documented route has
to answer a request, the run ends before that request, and the route gets it after the answers of the run. So
commands run in the order of the requests. Data that arrives during a run is held. No head is parsed here.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from typing import Protocol

from uvicorn.server import ServerState

from tailrace.api.operations.appends import PlainBodies
from tailrace.api.wire.negotiation import JSON
from tailrace.app.protocols.answers import Answers
from tailrace.app.protocols.asgi import AsgiRequest
from tailrace.app.protocols.heads import PlainHead, answer_head
from tailrace.app.protocols.hot_request import HotRequest, request_of
from tailrace.app.protocols.hot_routes import HotRoutes
from tailrace.app.protocols.request_reader import RequestReader
from tailrace.app.protocols.state import CLOSED, FREE, HOT, ConnectionState
from tailrace.app.protocols.turn_budget import TurnBudget


class RunConnection(Protocol):
    """What a run needs of its connection. `http` implements it. `client_address`: empty if it is unknown.
    `server_state`: it has the headers of every answer, and counts the answers."""

    transport: asyncio.Transport
    client_address: str
    server_state: ServerState

    def take(self, data: bytes) -> None:
        """Take the data after requests whose heads are plain."""
        ...

    def cut(self) -> None:
        """End the connection now."""
        ...

    def end_run(self) -> None:
        """Continue after the last answer of a run was written."""
        ...

    def start_documented(self, request: HotRequest) -> None:
        """Pass a complete hot request, which has changed nothing, to the documented route."""
        ...


class HotRun:
    """The run of one connection, which is empty most of the time.

    `held`: the bytes after the run. `kept`: the read for the end of this turn of the loop; then the data
    after its requests. `unsent`: the answer that waits for the end of the turn. `deferred`: the request after
    the run, which the documented route answers. `client_ended`: set when the client has ended its side.
    `server_state`: see `HotConnection`.
    """

    def __init__(
        self,
        connection: RunConnection,
        state: ConnectionState,
        reader: RequestReader,
        answers: Answers,
        hot: HotRoutes,
        client_ended: asyncio.Event,
        budget: TurnBudget,
    ) -> None:
        self.held = b""
        self.kept = b""
        self.unsent = b""
        self.deferred: HotRequest | None = None
        self._connection = connection
        self.server_state = connection.server_state
        self.bodies = PlainBodies()
        self._client_ended = client_ended
        self._budget = budget
        self._state = state
        self._reader = reader
        self._queue = answers
        self._hot = hot
        self._turn = hot.turn
        self._last_head: PlainHead | None = None
        """The head of the last request: mostly it is the next one's too."""
        self._due: deque[HotRequest] = deque()
        """The requests without a written answer, the oldest first."""
        self._is_growing = False
        """A read is being carried out: its answers that are known at its end are written together."""
        self._answered: list[HotRequest] = []  # Their answers are written next, the oldest first.

    def close(self) -> None:
        """Drop the references that form circles with the connection, which has ended."""
        del self._connection
        if self._due and self._due[-1].stop_waiting():
            self._hot.observer.gone(self._due.pop())
        # These answers cannot be written any more, but their requests were answered.
        self._hot.observer.answered([*self._answered, *(request for request in self._due if request.answer)])
        self._is_growing = False
        self._answered.clear()
        self._due.clear()
        self.deferred = None

    # --- requests ------------------------------------------------------------------------------

    def read(self, data: bytes) -> None:
        """Carry out the requests with plain heads that `data` begins with, and pass on what follows: appends
        at the end of this turn of the loop, together with those of other connections."""
        head = self._head_at(data, 0)
        if head is None:
            self._connection.take(data)
            return
        single = head if len(data) == head.size else None
        if head.route.joins is not None:
            self.kept = data
            self._turn.read(self, data, single)
        elif single is not None:
            self.carry_out_single(single, data)
        else:
            self._turn.carry_out_alone(self, data)

    def _head_at(self, data: bytes, start: int) -> PlainHead | None:
        """Return the plain head at `start`. The head of the request before it is mostly the next one's."""
        head = self._last_head
        if head is None or not data.startswith(head.raw, start):
            head = self._last_head = self._hot.heads.find(data, start)
        return head

    def end_turn(self) -> None:
        """Carry out what is kept for the end of the turn: something else happens on this connection."""
        if self.kept:
            self._turn.end()
        self.send()

    def carry_out_known(self, data: bytes, now_ns: int) -> None:
        """Submit the requests with plain heads that `data` begins with, until the budget is spent; they are
        complete at `now_ns`. `turn_ended` must follow."""
        count, start, size = 0, 0, len(data)
        self._is_growing = True
        budget = self._budget
        budget.begin()
        while start < size:
            if count and budget.is_spent:
                break
            head = self._head_at(data, start)
            if head is None or start + head.size > size:
                break
            end = start + head.size
            request = request_of(self, head, data[start + head.head_size : end], now_ns)
            start, count = end, count + 1
            if not self._submit(request):
                break
        self._reader.head_count += count
        self.kept = data[start:]

    def turn_ended(self) -> Sequence[HotRequest]:
        """Write the answers, and pass on what follows. Return the requests that were answered."""
        rest, self.kept = self.kept, b""
        if self._state.receiving is CLOSED:
            return ()
        answered = self._end_read()
        if rest:
            self._connection.take(rest)
        return answered

    def carry_out_single(self, head: PlainHead, data: bytes, *, is_alone: bool = False) -> None:
        """Carry out the only request of a read: see `HotConnection`."""
        self.kept = b""
        self._reader.head_count += 1
        now_ns = time.perf_counter_ns()
        request = request_of(self, head, data[head.head_size :], now_ns)
        self._is_growing = True
        self._submit(request)
        if self._answered and not self._due:
            self._is_growing = False
            self._answered.clear()
            self.unsent = request.answer
            self.server_state.total_requests += 1
            if is_alone:
                self.send()
            else:
                self._turn.send_later(self, now_ns)
            self._hot.observer.answered_alike((request,))
        else:
            self._hot.observer.answered(self._end_read())

    def send(self) -> None:
        """Write the answer that waits for the end of the turn, unless the connection has ended."""
        unsent, self.unsent = self.unsent, b""
        if unsent and self._state.receiving is not CLOSED and not self._connection.transport.is_closing():
            self._connection.transport.write(unsent)

    def single_ended(self, request: HotRequest) -> bool:
        """Write the answer to the only request of a read, and return True; wait for it if it is not known."""
        self.kept = b""
        self._reader.head_count += 1
        if request.answer and self._state.receiving is not CLOSED:
            self._connection.transport.write(request.answer)
            return True
        self._due.append(request)
        if self._state.receiving is not CLOSED:
            self._queue.submit(request)
        return False

    def cut(self) -> None:
        """End the connection now, after a defect."""
        self._connection.cut()

    def carry_out(self, request: HotRequest) -> None:
        """Carry out a complete request that the parser has read."""
        self._is_growing = True
        self._submit(request)
        self._hot.observer.answered(self._end_read())

    def _submit(self, request: HotRequest) -> bool:
        """Submit a complete request. Return whether the next one may follow before the answer to this one."""
        may_follow = self._hot.submit(request, self._connection.client_address)
        if request.answer and not self._due:
            self._answered.append(request)
        elif request.answer or not request.is_dismissed:
            self._due.append(request)
        return may_follow

    def _end_read(self) -> Sequence[HotRequest]:
        """Write the answers if all are known, and return their requests, which the observer has to get."""
        self._is_growing = False
        due = self._due
        while due and due[0].answer and self.deferred is None:
            self._answered.append(due.popleft())
        if due:
            self._queue.submit(due[-1])
            self._advance()
            return ()
        return self._written() if self._answered else ()

    def hand_on(self, request: HotRequest) -> None:
        """Take back the last request, which a check or the store refused without a change."""
        if self._due and self._due[-1] is request:
            self._due.pop()
        self._defer(request)

    def wait_began(self, request: HotRequest) -> None:
        """Stop the wait if the client left while the store looked for entries."""
        if self._state.receiving is CLOSED:
            request.stop_waiting()
            self._hot.observer.gone(request)
        elif self._client_ended.is_set() and self.stop_waiting():
            self._connection.end_run()

    def end_after_input(self, incomplete: AsgiRequest | HotRequest | None) -> bool:
        """Return whether answers are due after the client has ended its side: see
        `Answers.end_after_input`."""
        return self._queue.end_after_input(incomplete, self.deferred)

    def stop_waiting(self) -> bool:
        """Stop the read that waits, which gets no answer, because the client has ended its side and may be
        gone. What follows it gets none either. Return whether no earlier request is without an answer."""
        if not self._due or not self._due[-1].stop_waiting():
            return False
        self._hot.observer.gone(self._due.pop())
        self._queue.queue.clear()  # a client would take the next answer for that of the read
        self.held = b""
        if self._due:
            self._queue.submit(self._due[-1])
        return not self._due

    def _defer(self, request: HotRequest) -> None:
        request.is_dismissed = True
        if self._due:
            self.deferred = request
        elif self._state.answering in {FREE, HOT}:
            if self._answered:
                self._hot.observer.answered(self._written())
            self._connection.start_documented(request)

    # --- answers -------------------------------------------------------------------------------

    def answer_hot(
        self, request: HotRequest, status: int, content: bytes, media_type: str = JSON, lines: str = ""
    ) -> None:
        """Keep the answer until its turn, unless the connection has ended. `lines`: further headers."""
        request.status = status
        if not self._is_growing and self._state.answering is not HOT:
            request.is_dismissed = True
            self._hot.observer.answered((request,))
            return
        lines += request.headers.client.answer_lines
        if request.ends_connection or request.quota is not None:
            lines += request.own_lines
        start = self._hot.starts.of(status, self.server_state.default_headers)
        head = answer_head(start, len(content), media_type, request.request_id, lines)
        request.answer = head.encode() + content
        if not self._is_growing:
            self._advance()

    def _advance(self) -> None:
        """Write all answers as soon as none is missing, except that of a read that waits for entries."""
        due = self._due
        while due and due[0].answer:
            self._answered.append(due.popleft())
        if not due:
            self._hot.observer.answered(self._written())
            self._connection.end_run()
        elif self._answered and due[0].may_wait:
            self._hot.observer.answered(self._written())

    def _written(self) -> Sequence[HotRequest]:
        """Write the answers that are next, at least one. Return their requests, for the observer."""
        answered, self._answered = self._answered, []
        count = len(answered)
        whole = answered[0].answer if count == 1 else b"".join([request.answer for request in answered])
        self.server_state.total_requests += count
        self._connection.transport.write(whole)
        return answered

    def take_held(self) -> bytes:
        """Return the bytes after the run. The run forgets them."""
        held, self.held = self.held, b""
        return held
