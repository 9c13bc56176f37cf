"""A proxy before a server that does to requests what networks and busy servers do, and counts that it did.

It owns its port and its threads. It forwards every request it does not refuse, one connection each.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, Final

HOP_BY_HOP: Final = frozenset({"connection", "content-length", "host", "keep-alive", "transfer-encoding"})
REFUSAL: Final = (
    '{{"type":"about:blank","title":"Busy","status":{},"detail":"not now","code":"{}",'
    '"retryable":true,"side_effects":"none","request_id":null}}'
)


class Fault(Enum):
    """The result of a request."""

    NONE = "answered as the server answers"
    ANSWER_LOST = "carried out, and the connection cut before the answer"
    TOO_MANY_REQUESTS = "refused with 429 and Retry-After"
    UNAVAILABLE = "refused with 503 and Retry-After"
    CUT = "cut before it reaches the server"


REFUSED_WITH: Final = {
    Fault.TOO_MANY_REQUESTS: (429, "RATE_LIMITED"),
    Fault.UNAVAILABLE: (503, "NOT_ACCEPTING"),
}


class FaultyProxy:
    """`url`: use it in place of the URL of the server. `fired`: the number of requests for each fault."""

    def __init__(self, port: int, fault_of: Callable[[int], Fault]) -> None:
        self.fired: Counter[Fault] = Counter()
        self._numbers = count()
        self._lock = threading.Lock()
        self._fault_of = fault_of
        self._server_port = port
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def next_fault(self) -> Fault:
        with self._lock:
            fault = self._fault_of(next(self._numbers))
            self.fired[fault] += 1
            return fault

    def forward(
        self, request: BaseHTTPRequestHandler, body: bytes
    ) -> tuple[int, list[tuple[str, str]], bytes]:
        connection = HTTPConnection("127.0.0.1", self._server_port, timeout=60)
        try:
            headers = {
                name: value for name, value in request.headers.items() if name.lower() not in HOP_BY_HOP
            }
            connection.request(request.command, request.path, body, headers)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        kept = [(name, value) for name, value in answer.getheaders() if name.lower() not in HOP_BY_HOP]
        return answer.status, kept, content

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_request(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                fault = proxy.next_fault()
                if fault in REFUSED_WITH:
                    busy = [("Content-Type", "application/problem+json"), ("Retry-After", "0")]
                    status, code = REFUSED_WITH[fault]
                    return self._answer(status, busy, REFUSAL.format(status, code).encode())
                if fault is Fault.CUT:
                    return self._cut()
                answer = proxy.forward(self, body)
                return self._cut() if fault is Fault.ANSWER_LOST else self._answer(*answer)

            do_DELETE = do_GET = do_HEAD = do_POST = do_request  # noqa: N815 - the names of the library

            def _cut(self) -> None:
                self.close_connection = True

            def _answer(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
                self.send_response(status)
                for name, value in [*headers, ("Content-Length", str(len(content)))]:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                """Tests say what they need to say."""

        return Handler


@contextmanager
def faulty_proxy(port: int, fault_of: Callable[[int], Fault]) -> Iterator[FaultyProxy]:
    """A proxy before the server on `port`; `fault_of` returns the fault of the n-th request, from 0."""
    proxy = FaultyProxy(port, fault_of)
    thread = threading.Thread(target=proxy.http.serve_forever, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.http.shutdown()
        proxy.http.server_close()
        thread.join()
