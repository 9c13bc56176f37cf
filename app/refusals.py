"""The response to a request that a connection refuses before the application sees it.

It owns `Refused` and the bytes of the response. It never decides what is refused, and writes to no socket.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from tailrace.api.http.request_id import new_request_id
from tailrace.api.problems.table import PROBLEM_MEDIA_TYPE, HttpCode, problem

Headers = Sequence[tuple[bytes, bytes]]


class Refused(Exception):
    """The server refuses a request before the application sees it, and ends the connection.

    `headers`: those that the status requires, in addition to those of every refusal.
    """

    def __init__(self, code: HttpCode, detail: str, headers: Headers = ()) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.headers = headers


def refusal_bytes(refusal: Refused, default_headers: Headers) -> bytes:
    """The whole response to a refused request. `default_headers`: those of every response."""
    request_id = new_request_id()
    told = problem(refusal.code, refusal.detail, request_id)
    content = msgspec.json.encode(told)
    headers = (
        *default_headers,
        *refusal.headers,
        (b"content-type", PROBLEM_MEDIA_TYPE.encode()),
        (b"content-length", b"%d" % len(content)),
        (b"x-request-id", request_id.encode()),
        (b"connection", b"close"),
    )
    lines = b"".join(b"%b: %b\r\n" % header for header in headers)
    return STATUS_LINE[told["status"]] + lines + b"\r\n" + content
