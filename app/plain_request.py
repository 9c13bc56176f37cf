"""A plain request below the framework: what it needs until it is answered, and its answer in bytes.

It owns the answer's status line and headers, the same as the documented route has. The connection that it
came on (`app.http_protocol`) writes them, and has the documented route answer where the request turns out
not to be plain after all.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, ClassVar, Final, Protocol

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from tailrace.api.access.rates import Quota
from tailrace.api.fast_path import REPLAYED_LINE, REPLAYED_STATUS, FastRoute
from tailrace.api.hot import encode
from tailrace.api.ports import Answer, NotAccepting
from tailrace.api.principals import Principal
from tailrace.api.problems.table import DEFECT, PROBLEM_MEDIA_TYPE, HttpCode, not_accepting_problem, problem
from tailrace.api.wire.negotiation import JSON
from tailrace.app.hot_observer import HotObserver, HotTiming
from tailrace.core.commands import Command
from tailrace.core.errors import StreamError
from tailrace.core.replies import AppendReply

_logger: Final = logging.getLogger("tailrace.http")

_REFUSALS: Final = (StreamError, NotAccepting)

Headers = Sequence[tuple[bytes, bytes]]


class Connection(Protocol):
    """What a request needs of the connection it came on."""

    observer: ClassVar[HotObserver]
    answer_starts: ClassVar[AnswerStarts]

    @property
    def default_headers(self) -> Headers:
        """Headers of every answer; another object where they changed."""
        ...

    def finish(self, plain: PlainRequest, content: bytes) -> None:
        """Write the answer, and go on to what arrived behind."""
        ...

    def hand_on(self, plain: PlainRequest) -> None:
        """Have the documented route answer it from the start: nothing was changed."""
        ...


class _NoEvent:
    """uvicorn tells a request's task that the connection is gone; here is no task to tell."""

    @staticmethod
    def set() -> None:
        """Nobody waits."""


class PlainRequest(HotTiming):
    """It stands where uvicorn keeps the request that is being answered, so that requests which arrive behind
    it wait for it; it has what uvicorn asks of one. `target`: as it was requested.

    What differs from request to request is given; what rarely is otherwise stands in the class.
    """

    keep_alive = True
    disconnected = False
    response_complete = False
    message_event = _NoEvent
    more_body = False
    """It stands there only when its body is whole."""

    body: bytes
    request_id: str
    command: Command
    read: bytes | None = None
    """The whole request as it was received, where no parser has seen it."""
    arrived: tuple[Any, Any] | None = None
    """Its headers and scope, where a parser has."""
    quota: Quota | None = None
    """What became of it as one of many; None where requests are not counted."""

    def __init__(self, connection: Connection, route: FastRoute, principal: Principal, target: bytes) -> None:
        super().__init__()
        self.connection = connection
        self.route = route
        self.principal = principal
        self.target = target

    def answer(self, answer: Answer) -> None:
        """The store's answer, durable."""
        try:
            self._answer(answer)
        except Exception as error:  # noqa: BLE001 - a defect: the client is told, as by the documented route
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """Something is wrong with the server, and nobody knows what was done."""
        _logger.error("request_failed", exc_info=error, extra={"fields": {"request_id": self.request_id}})
        if not self.response_complete:
            content = problem(HttpCode.INTERNAL, DEFECT, self.request_id)
            self._finish(500, encode(content), PROBLEM_MEDIA_TYPE)

    def _answer(self, answer: Answer) -> None:
        if isinstance(answer, _REFUSALS):
            self._refused(answer)
            return
        content = self.route.answer_of(answer)
        if content is None:
            self.connection.hand_on(self)
        elif isinstance(answer, AppendReply) and answer.replayed:
            self._finish(REPLAYED_STATUS, content, JSON, REPLAYED_LINE)
        else:
            self._finish(self.route.status, content, JSON)

    def _refused(self, refusal: StreamError | NotAccepting) -> None:
        if isinstance(refusal, NotAccepting) and refusal.is_outcome_unknown:
            # It was carried out: the documented route must not carry it out again.
            content = not_accepting_problem(refusal, self.request_id)
            self._finish(503, encode(content), PROBLEM_MEDIA_TYPE)
        else:
            self.connection.hand_on(self)

    def _finish(self, status: int, content: bytes, media_type: str, lines: bytes = b"") -> None:
        if not self.keep_alive:
            lines += b"connection: close\r\n"
        if self.quota is not None:
            lines += b"".join(b"%b: %b\r\n" % header for header in self.quota.headers)
        connection = self.connection
        answer = b"%bcontent-length: %d\r\ncontent-type: %b\r\nx-request-id: %b\r\n%b\r\n%b" % (
            connection.answer_starts.of(status, connection.default_headers),
            len(content),
            media_type.encode(),
            self.request_id.encode(),
            lines,
            content,
        )
        connection.finish(self, answer)
        connection.observer.answered(
            self.route.operation, status, self.request_id, self.target, self.command, self
        )


class AnswerStarts:
    """Status line and headers of every answer as they are written, made anew when uvicorn has made the
    headers anew: once a second."""

    def __init__(self) -> None:
        self._headers: Headers | None = None
        self._starts: dict[int, bytes] = {}

    def of(self, status: int, headers: Headers) -> bytes:
        """What stands before the headers of the answer's own."""
        if headers is not self._headers:
            self._headers = headers
            self._starts.clear()
        start = self._starts.get(status)
        if start is None:
            lines = b"".join(b"%b: %b\r\n" % header for header in headers)
            start = self._starts[status] = STATUS_LINE[status] + lines
        return start
