"""Refusals: responses to requests that a connection refuses before the application sees them.

This module owns `ProtocolRefusal`, the bytes of the response, and the time at which it is written. It never
decides which request is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import msgspec
from uvicorn.protocols.http.httptools_impl import STATUS_LINE
from uvicorn.server import ServerState

from tailrace.api.http.layers import new_request_id
from tailrace.api.problems.table import PROBLEM_MEDIA_TYPE, HttpCode, problem
from tailrace.app.protocols.answers import Answers
from tailrace.app.protocols.asgi import AsgiRequest
from tailrace.app.protocols.ending import Ending
from tailrace.app.protocols.heads import NO_STORE_LINES, Headers
from tailrace.app.protocols.hot_request import HotRequest
from tailrace.app.protocols.state import ConnectionState, Event


class ProtocolRefusal(Exception):
    """The server refuses a request before the application sees it, and ends the connection.

    `headers`: headers that the status requires, in addition to the headers of every refusal. `members`:
    further members of the problem.
    """

    def __init__(
        self, code: HttpCode, detail: str, headers: Headers = (), members: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.headers = headers
        self.members = members or {}


def refusal_bytes(refusal: ProtocolRefusal, default_headers: Headers) -> bytes:
    """Return the whole response to a refused request. `default_headers`: the headers of every response."""
    request_id = new_request_id()
    document = problem(refusal.code, refusal.detail, request_id, **refusal.members)
    content = msgspec.json.encode(document)
    headers = (
        *default_headers,
        *NO_STORE_LINES,
        *refusal.headers,
        (b"content-type", PROBLEM_MEDIA_TYPE.encode()),
        (b"content-length", b"%d" % len(content)),
        (b"x-request-id", request_id.encode()),
        (b"connection", b"close"),
    )
    lines = b"".join(b"%b: %b\r\n" % header for header in headers)
    return STATUS_LINE[document["status"]] + lines + b"\r\n" + content


class Refusals:
    """The refusal that ends one connection. It is written after the answers to all earlier requests."""

    def __init__(
        self,
        state: ConnectionState,
        answers: Answers,
        ending: Ending,
        transport: asyncio.Transport,
        server_state: ServerState,
    ) -> None:
        self._state = state
        self._answers = answers
        self._ending = ending
        self._transport = transport
        self._server_state = server_state
        self._pending: bytes | None = None

    @property
    def is_pending(self) -> bool:
        """Return whether the refusal waits for the answers to earlier requests."""
        return self._pending is not None

    def refuse(self, refusal: ProtocolRefusal, incomplete: AsgiRequest | HotRequest | None) -> None:
        """Refuse the current request, and end the connection after the answers that are still due.

        `incomplete`: this request, if its head is complete and its body is not. The body will never be
        complete, and the application may be waiting for it. If the request has its answer already, the
        connection ends without another one.
        """
        self._state.happened(Event.REFUSED)
        if incomplete is not None and incomplete.is_answered:
            self._ending.linger()
            return
        response = refusal_bytes(refusal, self._server_state.default_headers)
        answers = self._answers
        if incomplete is not None and answers.queue:
            answers.queue.pop()
            self._pending = response
        elif incomplete is not None and isinstance(answers.current, AsgiRequest):
            self._refuse_begun(answers.current, response)
        elif answers.current is None:
            self._write(response)
        else:
            self._pending = response

    def _refuse_begun(self, request: AsgiRequest, response: bytes) -> None:
        request.disconnect()
        if request.is_answer_begun:
            self._ending.cut()
        else:
            self._write(response)

    def write_if_due(self) -> None:
        """Write the refusal, if there is one. All earlier answers are written."""
        if self._pending is not None:
            self._write(self._pending)

    def _write(self, response: bytes) -> None:
        self._transport.write(response)
        self._ending.linger()
