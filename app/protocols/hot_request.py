"""One hot request, until it is answered or passed to the documented route.

This module owns the data of the request. It turns the reply of the store into an answer, or passes the
request to the documented route. It never writes to a connection.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

import msgspec
from msgspec import Struct
from uvicorn.server import ServerState

from tailrace.api.access.rates import Quota
from tailrace.api.http.layers import request_id_of_header
from tailrace.api.operations.appends import PlainBodies
from tailrace.api.operations.headers import HotHeaders
from tailrace.api.operations.requests import HotRoute
from tailrace.api.operations.table import COMMAND
from tailrace.api.ports import Answer, StoreUnavailable, Watch
from tailrace.api.principals import Unauthenticated
from tailrace.api.problems.table import (
    DEFECT,
    PROBLEM_MEDIA_TYPE,
    REFUSALS,
    HttpCode,
    Refusal,
    RequestRefused,
    headers_of,
    problem,
    problem_in_words,
    problem_of,
)
from tailrace.api.wire.negotiation import JSON
from tailrace.app.observability.timing import WAIT, TimedPhase
from tailrace.app.protocols.heads import PlainHead, RequestHead
from tailrace.core.commands import Command
from tailrace.core.errors import StreamError

_logger: Final = logging.getLogger("tailrace.http")

_CLOSE_LINE: Final = "connection: close\r\n"

_encode: Final = msgspec.json.Encoder().encode

_NONE: Final = Command()
"""The command of a request that runs with others."""

NOT_RUN: Final = Command()
"""The command of a request that is refused before it becomes a command."""


class ReadWait:
    """A wait that has just begun. `watch`: of the store; `forget_token`: ends the watch on the token.

    `ended_ns`: 0 while the read waits. Times are those of `time.perf_counter_ns`.
    """

    __slots__ = ("_began_ns", "_forget_token", "_watch", "ended_ns")

    def __init__(self, watch: Watch, forget_token: Callable[[], None]) -> None:
        self._watch: Watch | None = watch
        self._forget_token = forget_token
        self._began_ns = time.perf_counter_ns()
        self.ended_ns = 0

    def cancel(self) -> bool:
        """Stop the wait; the read takes no entries. Return False if it is over, or if the answer exists."""
        if self._watch is None or not self._watch.cancel():
            return False
        self.end()
        return True

    def end(self) -> None:
        """Note the end of the wait, and drop the watches, which have references to the request."""
        self._watch = None
        self._forget_token()
        self.ended_ns = time.perf_counter_ns()

    @property
    def duration_ns(self) -> int:
        """How long the wait took, after its end."""
        return self.ended_ns - self._began_ns

    @property
    def phase(self) -> TimedPhase:
        """The wait as a part of a trace, after its end."""
        return TimedPhase(WAIT, self._began_ns, self.ended_ns)


class HotConnection(Protocol):
    """What a hot request needs of its connection. `hot_run` implements it. `server_state`: it has the headers
    of every answer of the server, and counts the answers. `bodies`: reads the bodies of its appends."""

    server_state: ServerState
    bodies: PlainBodies

    def answer_hot(
        self, request: HotRequest, status: int, content: bytes, media_type: str = JSON, lines: str = ""
    ) -> None:
        """Write the answer, and continue with the next request. `lines`: further headers of this answer."""
        ...

    def hand_on(self, request: HotRequest) -> None:
        """Pass the request, which has changed nothing, to the documented route."""
        ...

    def wait_began(self, request: HotRequest) -> None:
        """Stop the wait of the request if its client has left."""
        ...

    def single_ended(self, request: HotRequest) -> bool:
        """Write the answer to the only request of a read, at the end of a turn of the loop. Return whether it
        is written: it may not be known yet."""
        ...

    def carry_out_known(self, data: bytes, now_ns: int) -> None:
        """Submit the requests of a kept read (`hot_turn`), which is complete at `now_ns`. Their answers may
        follow by the end of the turn."""
        ...

    def carry_out_single(self, head: PlainHead, data: bytes, *, is_alone: bool = False) -> None:
        """Carry out the only request of a read, at once. `is_alone`: no other connection sends in this turn,
        so the answer does not wait for others."""
        ...

    def send(self) -> None:
        """Write the answer that waits for the end of the turn, if it was not written before."""
        ...

    def turn_ended(self) -> Sequence[HotRequest]:
        """Write the answers, and continue after the read. Return the requests that were answered."""
        ...

    def cut(self) -> None:
        """End the connection now."""
        ...


class HotRequest(Struct, eq=False, gc=False):
    """One hot request. Its times are those of `time.perf_counter_ns`.

    It is a struct because the server makes one for each request, and a struct is made without a call of
    Python code. It needs no garbage collection: a run has a reference to it only until it is answered, or the
    connection ends.
    """

    connection: HotConnection
    raw_head: bytes | RequestHead
    """The head: its bytes if it is plain (`heads`), else as the parser read it."""
    route: HotRoute
    headers: HotHeaders
    started_ns: int
    """When the head was complete."""
    ready_ns: int
    """When the body was complete."""
    body: bytes = b""
    request_id: str = ""
    command: Command = _NONE
    """Set before it is submitted, unless it runs with others."""
    submitted_ns: int = 0
    """When the engine had executed the command and the answer began to wait for the disk, or when a read had
    waited for entries; 0 if the answer came at once."""
    engine_ns: int = 0
    """The time of the engine, if the answer waited."""
    is_dismissed: bool = False
    """True if the documented route has the request, or the connection ended before the answer."""
    is_answered: bool = False
    """Always False: a hot request is answered only after its body is complete."""
    ends_connection: bool = False
    """True if the server stops: the connection ends after this answer."""
    answer: bytes = b""
    """The whole response; the connection writes the responses in the order of the requests."""
    status: int = 0
    """The status of the response; 0 before."""
    quota: Quota | None = None
    """The quota that the request was counted in; None if the server does not count requests."""
    gathered: bytearray | None = None
    """The pieces of the body so far, if there are several."""
    content: bytes | None = None
    """The body of the response, if it is known before the response may leave."""
    may_wait: bool = False
    """Whether it is a read that waits if there are no entries."""
    wait: ReadWait | None = None
    """The wait of a read that found no entries. It is no time of the server: `ready_ns` moves by it."""

    @property
    def is_settled(self) -> bool:
        """Whether the request has its answer, or needs none from here."""
        return self.is_dismissed or bool(self.answer)

    @property
    def head(self) -> RequestHead:
        """The parsed head, for the documented route and for logs. O(head)."""
        raw = self.raw_head
        return raw if isinstance(raw, RequestHead) else RequestHead.of_plain(raw)

    @property
    def method(self) -> str:
        """The method, for logs and traces."""
        return self.route.operation.method.decode()

    @property
    def executed(self) -> Sequence[Command]:
        """The command that the engine ran, if one did. If it ran with others, it is made again from the
        body."""
        if self.command is NOT_RUN:
            return ()
        if self.command is not _NONE:
            return (self.command,)
        _, command = self.route.read(self.body)
        assert command is not None, "the same body gives the same command"
        return (command,)

    def feed(self, piece: bytes) -> None:
        """Add a piece of the body."""
        if not self.body:
            self.body = piece  # a body that one read brings is never copied
        elif self.gathered is None:
            self.gathered = bytearray(self.body)
            self.gathered += piece
        else:
            self.gathered += piece

    def complete(self) -> None:
        """Note that the body is complete."""
        self.ready_ns = time.perf_counter_ns()
        if self.gathered is not None:
            self.body = bytes(self.gathered)

    def end_connection_after(self) -> None:
        """Make the answer the last one of the connection."""
        self.ends_connection = True

    def foresee(self, answer: Answer) -> bool:
        """Take the answer that `receive` gets unless the storage fails; None if it is unknown.

        Return False if the documented route may have to serve the request.
        """
        if answer is None or isinstance(answer, StoreUnavailable):
            return False
        if isinstance(answer, StreamError):
            return True
        try:
            self.content = self.route.answer_of(answer, self.command)
        except (StreamError, RequestRefused):
            return True
        return self.content is not None

    def receive(self, answer: Answer | Exception) -> None:
        """Answer the request with the answer of the store, which is durable, or after a defect of the
        store."""
        try:
            if isinstance(answer, Exception):
                self._end(answer)
                return
            content = self.content or self.route.answer_of(answer, self.command)
            if content is None:
                self.connection.hand_on(self)
            else:
                status, headers = self.route.operation.head_of(answer)
                lines = _lines_of(headers) if headers else ""
                self.connection.answer_hot(self, status, content, JSON, lines)
        except Exception as error:  # noqa: BLE001 - a refusal, or a defect
            self._end(error)

    def _end(self, error: Exception) -> None:
        if isinstance(error, REFUSALS):
            self.refuse(error)
        else:
            self.fail(error)

    def refuse(self, refusal: Refusal) -> None:
        """Answer with the problem of a refusal."""
        write = problem_in_words if self.route.operation is COMMAND else problem_of
        content, lines = write(refusal, self.request_id), _lines_of(headers_of(refusal))
        self.connection.answer_hot(self, content["status"], _encode(content), PROBLEM_MEDIA_TYPE, lines)

    def begin_wait(self, wait: ReadWait) -> None:
        """Note that the read waits for entries. It stops at once if the client has left."""
        self.wait = wait
        self.connection.wait_began(self)

    def stop_waiting(self) -> bool:
        """Stop a read that waits, because its client has left. Return False if it does not wait any more."""
        if self.wait is None or not self.wait.cancel():
            return False
        self._leave_out(self.wait)
        self.is_dismissed = True
        return True

    def lose_access(self, reason: Unauthenticated) -> None:
        """Answer 401 to a read that waits, because its token has ended. The read takes no entries."""
        if self.wait is not None and self.wait.cancel():
            self._leave_out(self.wait)
            asyncio.get_running_loop().call_soon(self.refuse, reason)

    def receive_read(self, answer: Answer) -> None:
        """Answer a read that may have waited.

        The command that ended a wait is still being answered. The requests behind this read could end
        further waits, without limit, so this request continues in the next turn of the loop.
        """
        if self.wait is None:
            self.receive(answer)
            return
        self.wait.end()
        self._leave_out(self.wait)
        asyncio.get_running_loop().call_soon(self.receive, answer)

    def _leave_out(self, wait: ReadWait) -> None:
        """Leave a wait that is over out of the time of the request."""
        self.ready_ns += wait.duration_ns
        self.submitted_ns = wait.ended_ns

    def fail(self, error: Exception) -> None:
        """Answer 500 after a defect of the server: the outcome is unknown."""
        _logger.error("request_failed", exc_info=error, extra={"fields": {"request_id": self.request_id}})
        if not self.is_settled:
            content = problem(HttpCode.INTERNAL, DEFECT, self.request_id)
            self.connection.answer_hot(self, 500, _encode(content), PROBLEM_MEDIA_TYPE)

    @property
    def own_lines(self) -> str:
        """The headers of the answer that other answers to this client do not have."""
        lines = _CLOSE_LINE if self.ends_connection else ""
        if self.quota is not None:
            lines += "".join(f"{name.decode()}: {value.decode()}\r\n" for name, value in self.quota.headers)
        return lines


def _lines_of(headers: Mapping[str, str]) -> str:
    return "".join(f"{name.lower()}: {value}\r\n" for name, value in headers.items())


def request_of(connection: HotConnection, head: PlainHead, body: bytes, now_ns: int) -> HotRequest:
    """Return the complete request with a plain head."""
    return HotRequest(
        connection,
        head.raw,
        head.route,
        head.headers,
        now_ns,
        now_ns,
        body,
        request_id_of_header(head.headers.used),
    )
