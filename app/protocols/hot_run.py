"""The hot requests that one connection has under way: submitted one after another, answered in one write.

A client that pipelines sends many requests in one read. The requests of a run do not wait for each other's
answers, and the answers are written in the order of the requests. If all answers are known at the end of the
read, they are written at once, and the state of the connection does not change. If the documented route has
to answer a request, the run ends before that request, and the route gets the request after the answers of the
run. So commands run in the order of the requests. Data that arrives during a run is held until its end. This
module owns the run. It never parses a head and never writes to a transport.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import Protocol

from uvicorn.server import ServerState

from tailrace.api.http.request_id import new_request_id
from tailrace.api.wire.negotiation import JSON
from tailrace.app.protocols.answers import Answers
from tailrace.app.protocols.asgi import AsgiRequest
from tailrace.app.protocols.cached_heads import CachedHead
from tailrace.app.protocols.hot_request import HotRequest
from tailrace.app.protocols.hot_routes import HotRoutes
from tailrace.app.protocols.state import FREE, HOT, ConnectionState


class RunConnection(Protocol):
    """What a run needs of its connection. `client_address`: empty if it is unknown. `server_state`: it has
    the headers of every answer."""

    client_address: str
    server_state: ServerState

    def write_answers(self, count: int, answers: bytes) -> None:
        """Write the answers of `count` requests."""
        ...

    def end_run(self) -> None:
        """Continue after the last answer of a run was written."""
        ...

    def start_documented(self, request: HotRequest) -> None:
        """Pass a complete hot request, which has changed nothing, to the documented route."""
        ...


class HotRun:
    """The run of one connection, which is empty most of the time.

    `held`: the bytes after the run. `deferred`: the request after the run, which the documented route
    answers. `client_ended`: set when the client has ended its side.
    """

    def __init__(
        self,
        connection: RunConnection,
        state: ConnectionState,
        answers: Answers,
        hot: HotRoutes,
        client_ended: asyncio.Event,
    ) -> None:
        self.held = b""
        self.deferred: HotRequest | None = None
        self._connection = connection
        self._client_ended = client_ended
        self._state = state
        self._queue = answers
        self._hot = hot
        self._last_head: CachedHead | None = None
        """The head of the last request: mostly it is the next one's too."""
        self._due: deque[HotRequest] = deque()
        """The requests without a written answer, the oldest first."""
        self._is_closed = False
        self._is_growing = False
        """A read is being carried out: its answers that are known at its end are written together."""
        self._answered: list[HotRequest] = []
        """The requests whose answers are to be written next, the oldest first."""

    def close(self) -> None:
        """Drop the references that form circles with the connection, which has ended."""
        del self._connection
        self._is_closed = True
        if self._due and self._due[-1].stop_waiting():
            self._hot.observer.gone(self._due.pop())
        # These answers cannot be written any more, but their requests were answered.
        self._hot.observer.answered([*self._answered, *(request for request in self._due if request.answer)])
        self._answered.clear()
        self._due.clear()
        self.deferred = None

    # --- requests ------------------------------------------------------------------------------

    def carry_out_known(self, data: bytes) -> tuple[int, int]:
        """Carry out the requests with cached heads that `data` begins with.

        Return their number, and how many bytes they took. O(bytes).
        """
        count = start = 0
        size, now_ns = len(data), time.perf_counter_ns()
        self._is_growing = True
        cached = self._last_head
        while start < size:
            if cached is None or not data.startswith(cached.raw, start):
                cached = self._last_head = self._hot.cached_heads.find(data, start)
            if cached is None or start + cached.size > size:
                break
            end = start + cached.size
            body = data[start + cached.head_size : end]
            request = HotRequest(
                self, cached.head, cached.route, cached.credentials, now_ns, now_ns, body, new_request_id()
            )
            start = end
            count += 1
            if not self._submit(request):
                break
        self._end_read()
        return count, start

    def carry_out(self, request: HotRequest) -> None:
        """Carry out a complete request that the parser has read."""
        self._is_growing = True
        self._submit(request)
        self._end_read()

    def _submit(self, request: HotRequest) -> bool:
        """Submit a complete request. Return whether the next one may follow before the answer to this one."""
        may_follow = self._hot.submit(request, self._connection.client_address)
        if request.answer and not self._due:
            self._answered.append(request)
        elif request.answer or not request.is_dismissed:
            self._due.append(request)
        return may_follow

    def _end_read(self) -> None:
        """Write the answers if all are known. Otherwise the connection waits for the others."""
        self._is_growing = False
        if self._due:
            self._queue.submit(self._due[-1])
            self._advance()
        elif self._answered:
            self._write()

    def hand_on(self, request: HotRequest) -> None:
        """Take back a request that a check or the store refused without a change; it is the last of the
        run."""
        if self._due and self._due[-1] is request:
            self._due.pop()
        self._defer(request)

    def wait_began(self, request: HotRequest) -> None:
        """Stop the wait if the client left while the store looked for entries."""
        if self._is_closed:
            request.stop_waiting()
            self._hot.observer.gone(request)
        elif self._client_ended.is_set() and self._stop_waiting():
            self._connection.end_run()

    def end_after_input(self, incomplete: AsgiRequest | HotRequest | None) -> bool:
        """Stop the read that waits, which gets no answer, because the client has ended its side and may be
        gone. Return whether other answers are due: see `Answers.end_after_input`."""
        is_over = self._stop_waiting()
        return not is_over and self._queue.end_after_input(incomplete)

    def _stop_waiting(self) -> bool:
        """Stop the read that waits. Return whether it was the only request without an answer."""
        if not self._due or not self._due[-1].stop_waiting():
            return False
        self._hot.observer.gone(self._due.pop())
        if self._due:
            self._queue.submit(self._due[-1])
        return not self._due

    def _defer(self, request: HotRequest) -> None:
        request.is_dismissed = True
        if self._due:
            self.deferred = request
        elif self._state.answering in {FREE, HOT}:
            if self._answered:
                self._write()
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
        if request.ends_connection or request.quota is not None:
            lines += request.further_lines
        start = self._hot.starts.of(status, self._connection.server_state.default_headers)
        head = (
            f"{start}content-length: {len(content)}\r\ncontent-type: {media_type}\r\n"
            f"x-request-id: {request.request_id}\r\n{lines}\r\n"
        )
        request.answer = head.encode() + content
        if not self._is_growing:
            self._advance()

    def _advance(self) -> None:
        """Write all answers as soon as none is missing, except that of a read that waits for entries."""
        due = self._due
        while due and due[0].answer:
            self._answered.append(due.popleft())
        if not due:
            self._write()
            self._connection.end_run()
        elif self._answered and due[0].may_wait:
            self._write()

    def _write(self) -> None:
        """Write the answers that are next, at least one."""
        answered = self._answered
        self._answered = []
        count = len(answered)
        whole = answered[0].answer if count == 1 else b"".join([request.answer for request in answered])
        self._connection.write_answers(count, whole)
        self._hot.observer.answered(answered)

    def take_held(self) -> bytes:
        """Return the bytes after the run. The run forgets them."""
        held, self.held = self.held, b""
        return held
