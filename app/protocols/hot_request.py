"""One hot request, until it is answered or handed on to the documented route.

It owns what is known of the request, and what becomes of the store's reply: an answer, or the documented
route. It writes nothing: its connection does.
"""

from __future__ import annotations

import logging
import time
from typing import Final, NamedTuple, Protocol

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
from tailrace.core.replies import AppendReply, Reply

_logger: Final = logging.getLogger("tailrace.http")

_JSON: Final = JSON.encode()
_PROBLEM: Final = PROBLEM_MEDIA_TYPE.encode()
_REPLAYED_LINES: Final = "".join(
    f"{name.lower()}: {value}\r\n" for name, value in REPLAYED_HEADERS.items()
).encode()
_CLOSE_LINE: Final = b"connection: close\r\n"


class Credentials(NamedTuple):
    """What a head says about its sender."""

    authorization: bytes | None
    host: bytes | None


def credentials_of(headers: Headers) -> Credentials:
    """From the headers of a hot request, which has each header once."""
    authorization = host = None
    for name, value in headers:
        if name == b"host":
            host = value
        elif name == b"authorization":
            authorization = value
    return Credentials(authorization, host)


class HotConnection(Protocol):
    """What a hot request needs of its connection."""

    def answer_hot(self, request: HotRequest, status: int, headers: bytes, content: bytes) -> None:
        """Write the answer, and continue with the next request. `headers`: the request's own, as lines."""
        ...

    def hand_on(self, request: HotRequest) -> None:
        """Have the documented route answer the request from its start: nothing was changed."""
        ...


class HotRequest:
    """`started_ns`: when its head was complete. `ready_ns`: its body. `submitted_ns`: when its command was
    carried out and began to wait for the disk, 0 if it did not wait. All by `time.perf_counter_ns`.
    `engine_ns`: the engine's part, if it waited.

    Attributes that most requests leave alone have their default in the class: an append is fast enough for
    that to count.
    """

    submitted_ns = 0
    engine_ns = 0
    is_settled = False
    """The answer was written, or the documented route has the request."""
    is_answered = False
    """While its body arrives it is not."""
    ends_connection = False
    """The answer is the last one of the connection: the server stops."""
    answer = b""
    """The whole answer, which the connection writes in its turn."""
    quota: Quota | None = None
    """What the request was counted as; None if requests are not counted."""

    _gathered: bytearray | None = None
    _content: bytes | None = None
    """The body of the answer, if it is known before the answer may leave."""

    body: bytes
    request_id: str
    command: Command

    def __init__(
        self, connection: HotConnection, head: RequestHead, route: HotRoute, credentials: Credentials
    ) -> None:
        self.started_ns = self.ready_ns = time.perf_counter_ns()
        self.connection = connection
        self.head = head
        self.route = route
        self.credentials = credentials

    def feed(self, piece: bytes) -> None:
        """A piece of the body arrived."""
        if self._gathered is None:
            self._gathered = bytearray()
        self._gathered += piece

    def complete(self) -> None:
        """The body is complete."""
        self.ready_ns = time.perf_counter_ns()
        self.body = bytes(self._gathered or b"")
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
        self._content = self.route.answer_of(answer)
        return self._content is not None

    def receive(self, answer: Answer) -> None:
        """The store's answer, durable."""
        try:
            if isinstance(answer, (StreamError, StoreUnavailable)):
                self._refused(answer)
            else:
                self._replied(answer)
        except Exception as error:  # noqa: BLE001 - a defect: answered as by the documented route
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """The server has a defect, and the outcome is unknown."""
        _logger.error("request_failed", exc_info=error, extra={"fields": {"request_id": self.request_id}})
        if not self.is_settled:
            content = problem(HttpCode.INTERNAL, DEFECT, self.request_id)
            self._answer(500, encode(content), _PROBLEM)

    def _replied(self, reply: Reply) -> None:
        route = self.route
        content = self._content or route.answer_of(reply)
        if content is None:
            self.connection.hand_on(self)
        elif isinstance(reply, AppendReply) and reply.replayed:
            self._answer(REPLAYED_STATUS, content, _JSON, _REPLAYED_LINES)
        else:
            self._answer(route.operation.status, content, _JSON)

    def _refused(self, refusal: StreamError | StoreUnavailable) -> None:
        if isinstance(refusal, StoreUnavailable) and refusal.is_outcome_unknown:
            # The command was carried out: the documented route must not carry it out again.
            content = store_unavailable_problem(refusal, self.request_id)
            self._answer(503, encode(content), _PROBLEM)
        else:
            self.connection.hand_on(self)

    def _answer(self, status: int, content: bytes, media_type: bytes, lines: bytes = b"") -> None:
        if self.ends_connection:
            lines += _CLOSE_LINE
        if self.quota is not None:
            lines += b"".join(b"%b: %b\r\n" % header for header in self.quota.headers)
        headers = b"content-length: %d\r\ncontent-type: %b\r\nx-request-id: %b\r\n%b\r\n" % (
            len(content),
            media_type,
            self.request_id.encode(),
            lines,
        )
        self.connection.answer_hot(self, status, headers, content)
