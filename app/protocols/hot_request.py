"""One hot request, until it is answered or passed to the documented route.

This module owns the data of the request. It turns the reply of the store into an answer, or passes the
request to the documented route. It never writes to a connection.
"""

from __future__ import annotations

import logging
import time
from typing import Final, Protocol

from msgspec import Struct

from tailrace.api.access.rates import Quota
from tailrace.api.hot.answers import REPLAYED_HEADERS, REPLAYED_STATUS, encode
from tailrace.api.hot.requests import HotRoute
from tailrace.api.http.request_id import request_id_of_header
from tailrace.api.ports import Answer, StoreUnavailable
from tailrace.api.problems.table import (
    DEFECT,
    PROBLEM_MEDIA_TYPE,
    HttpCode,
    problem,
    store_unavailable_problem,
)
from tailrace.api.wire.negotiation import JSON
from tailrace.app.protocols.request_head import Headers, RequestHead
from tailrace.core.commands import Command
from tailrace.core.errors import StreamError
from tailrace.core.replies import AppendReply

_logger: Final = logging.getLogger("tailrace.http")

_REPLAYED_LINES: Final = "".join(f"{name.lower()}: {value}\r\n" for name, value in REPLAYED_HEADERS.items())
_CLOSE_LINE: Final = "connection: close\r\n"


class Credentials(Struct, frozen=True, gc=False):
    """The headers of a request that identify its client."""

    authorization: bytes | None
    host: bytes | None


def credentials_of(headers: Headers) -> Credentials:
    """Return the credentials in the headers of a hot request, which has each header once."""
    authorization = host = None
    for name, value in headers:
        if name == b"host":
            host = value
        elif name == b"authorization":
            authorization = value
    return Credentials(authorization, host)


class HotConnection(Protocol):
    """The calls that a hot request makes to its connection."""

    def answer_hot(
        self, request: HotRequest, status: int, content: bytes, media_type: str = JSON, lines: str = ""
    ) -> None:
        """Write the answer, and continue with the next request. `lines`: further headers of this answer."""
        ...

    def hand_on(self, request: HotRequest) -> None:
        """Pass the request, which has changed nothing, to the documented route."""
        ...


class HotRequest(Struct, eq=False, gc=False):
    """One hot request. Its times are those of `time.perf_counter_ns`.

    It is a struct because the server makes one for each request, and a struct is made without a call of
    Python code. It needs no garbage collection: a run has a reference to it only until it is answered, or the
    connection ends.
    """

    connection: HotConnection
    head: RequestHead
    route: HotRoute
    credentials: Credentials
    started_ns: int
    """When the head was complete."""
    ready_ns: int
    """When the body was complete."""
    body: bytes = b""
    request_id: str = ""
    command: Command = None  # type: ignore[assignment] # set before it is submitted
    submitted_ns: int = 0
    """When the engine had executed the command and the answer began to wait for the disk; 0 if it did not
    wait."""
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

    @property
    def is_settled(self) -> bool:
        """Whether the request has its answer, or needs none from here."""
        return self.is_dismissed or bool(self.answer)

    @property
    def method(self) -> str:
        """The method, for logs and traces."""
        return self.head.method.decode()

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
        self.request_id = request_id_of_header(self.head.headers)

    def end_connection_after(self) -> None:
        """Make the answer the last one of the connection."""
        self.ends_connection = True

    def foresee(self, answer: Answer) -> bool:
        """Take the answer that `receive` gets unless the storage fails; None if it is unknown.

        Return False if the documented route may have to answer the request.
        """
        if answer is None or isinstance(answer, (StreamError, StoreUnavailable)):
            return False
        self.content = self.route.answer_of(answer, self.command)
        return self.content is not None

    def receive(self, answer: Answer) -> None:
        """Answer the request with the answer of the store, which is durable."""
        try:
            if isinstance(answer, (StreamError, StoreUnavailable)):
                self._refused(answer)
                return
            content = self.content or self.route.answer_of(answer, self.command)
            if content is None:
                self.connection.hand_on(self)
            elif isinstance(answer, AppendReply) and answer.replayed:
                self.connection.answer_hot(self, REPLAYED_STATUS, content, JSON, _REPLAYED_LINES)
            else:
                self.connection.answer_hot(self, self.route.operation.status, content)
        except Exception as error:  # noqa: BLE001 - a defect: answered as by the documented route
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """Answer 500 after a defect of the server: the outcome is unknown."""
        _logger.error("request_failed", exc_info=error, extra={"fields": {"request_id": self.request_id}})
        if not self.is_settled:
            content = problem(HttpCode.INTERNAL, DEFECT, self.request_id)
            self.connection.answer_hot(self, 500, encode(content), PROBLEM_MEDIA_TYPE)

    def _refused(self, refusal: StreamError | StoreUnavailable) -> None:
        if isinstance(refusal, StoreUnavailable) and refusal.is_outcome_unknown:
            # The engine has executed the command; the documented route must not execute it again.
            content = store_unavailable_problem(refusal, self.request_id)
            self.connection.answer_hot(self, 503, encode(content), PROBLEM_MEDIA_TYPE)
        else:
            self.connection.hand_on(self)

    @property
    def further_lines(self) -> str:
        """The headers of the answer that are not the same for all answers with its status."""
        lines = _CLOSE_LINE if self.ends_connection else ""
        if self.quota is not None:
            lines += "".join(f"{name.decode()}: {value.decode()}\r\n" for name, value in self.quota.headers)
        return lines
