"""The hot requests that one connection has under way: submitted one after another, answered in one write.

A client that pipelines sends many requests in one read. The requests of a run do not wait for each other's
answers, and the answers are written in the order of the requests. If the documented route has to answer a
request, the run ends before that request, and the route gets the request after the answers of the run. So
commands run in the order of the requests. Data that arrives during a run is held until its end. This module
owns the run. It never parses a head and never writes to a transport.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

from uvicorn.server import ServerState

from tailrace.app.protocols.answers import Answers
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

    def end_run(self, count: int, answers: bytes) -> None:
        """Write the last `count` answers of a run, and continue."""
        ...

    def start_documented(self, request: HotRequest) -> None:
        """Pass a complete hot request, which has changed nothing, to the documented route."""
        ...


class HotRun:
    """The run of one connection, which is empty most of the time.

    `held`: the bytes after the run. `deferred`: the request after the run, which the documented route
    answers.
    """

    def __init__(
        self, connection: RunConnection, state: ConnectionState, answers: Answers, hot: HotRoutes
    ) -> None:
        self.held = b""
        self.deferred: HotRequest | None = None
        self._connection = connection
        self._state = state
        self._queue = answers
        self._hot = hot
        self._last_head: CachedHead | None = None
        """The head of the last request: mostly it is the next one's too."""
        self._due: deque[HotRequest] = deque()
        """The requests without a written answer, the oldest first."""
        self._is_growing = False
        """The read may have more requests for the run."""
        self._answered: list[HotRequest] = []
        """The requests whose answers are to be written next, the oldest first."""

    def close(self) -> None:
        """Drop the references that form circles with the connection, which has ended."""
        del self._connection
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
            request = cached.request(self, data, start, now_ns)
            start += cached.size
            count += 1
            if not self.carry_out(request):
                break
        self._is_growing = False
        if self._answered and not self._due:
            self._write(self._connection.end_run)
        return count, start

    def carry_out(self, request: HotRequest) -> bool:
        """Submit a complete request. Return whether the next one may follow before the answer to this one."""
        if not self._hot.prepare(request, self._connection.client_address):
            self._defer(request)
            return False
        self._queue.submit(request)
        self._due.append(request)
        return self._hot.submit(request) and self._state.answering is HOT

    def hand_on(self, request: HotRequest) -> None:
        """Take back a request that the store refused without a change; it is the last of the run."""
        if self._due:
            self._due.pop()
        self._defer(request)

    def _defer(self, request: HotRequest) -> None:
        request.is_settled = True
        if self._due:
            self.deferred = request
        elif self._state.answering in {FREE, HOT}:
            if self._answered:
                self._write(self._connection.write_answers)
            self._connection.start_documented(request)

    # --- answers -------------------------------------------------------------------------------

    def answer_hot(self, request: HotRequest, status: int, headers: bytes, content: bytes) -> None:
        """Keep the answer until its turn, unless the connection has ended."""
        request.is_settled = True
        request.status = status
        if self._state.answering is not HOT:
            self._hot.observer.answered((request,))
            return
        start = self._hot.starts.of(status, self._connection.server_state.default_headers)
        request.answer = start + headers + content
        due = self._due
        while due and due[0].answer:
            self._answered.append(due.popleft())
        if not due and not self._is_growing:
            self._write(self._connection.end_run)

    def _write(self, write: Callable[[int, bytes], None]) -> None:
        answered, self._answered = self._answered, []
        if len(answered) == 1:
            write(1, answered[0].answer)
        else:
            write(len(answered), b"".join([request.answer for request in answered]))
        self._hot.observer.answered(answered)

    def take_held(self) -> bytes:
        """Return the bytes after the run. The run forgets them."""
        held, self.held = self.held, b""
        return held
