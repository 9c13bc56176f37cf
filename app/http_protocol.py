"""HTTP/1.1 below ASGI for the hot routes: the request's bytes to the store, the answer's to the socket.

uvicorn's own protocol with one shortcut. Creating an ASGI scope, a task and its messages costs several
times what an append does; a plain request (`api.fast_path`) needs none of them. Its body is gathered
here, its command goes to the store, and the answer is written when the store says that it is durable.
Everything else goes to the application as ever, and so does a plain request that turns out not to be:
it is handed on with its body, as if it had just arrived.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any, Final

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from api.fast_path import FastRoute, plain_command, plain_route
from api.hot import encode
from api.negotiation import JSON
from api.ports import Answer, DirectStore, NotAccepting
from api.problems import PROBLEM_MEDIA_TYPE, not_accepting_problem
from api.request_id import request_id_of_header
from api.tail_response import ABORT_EXTENSION
from app.access_log import log_request
from core.errors import StreamError

_access: Final = logging.getLogger("tailrace.access")


class _Plain:
    """A plain request on its way. It stands where uvicorn keeps the request that is being answered, so
    that requests which arrive behind it wait for it."""

    __slots__ = (
        "body",
        "disconnected",
        "keep_alive",
        "message_event",
        "response_complete",
        "route",
        "started_ns",
    )

    def __init__(self, route: FastRoute) -> None:
        self.route = route
        self.body = bytearray()
        self.keep_alive = True
        self.disconnected = False
        self.response_complete = False
        self.message_event = _NoEvent
        self.started_ns = time.perf_counter_ns()


class _NoEvent:
    """uvicorn tells a request's task that the connection is gone; here is no task to tell."""

    @staticmethod
    def set() -> None:
        """Nobody waits."""


def _is_free(cycle: RequestResponseCycle | None) -> bool:
    """Whether nothing is being answered."""
    return cycle is None or cycle.response_complete


class FastHttpProtocol(HttpToolsProtocol):
    """One connection. `store` is set by `fast_protocol`."""

    store: DirectStore

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._plain: _Plain | None = None

    # --- what the parser says ------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """Offer the application a way to cut a client off that takes nothing: closing waits for it."""
        super().on_message_begin()
        self.scope["extensions"] = {ABORT_EXTENSION: self.transport.abort}  # type: ignore[dict-item]

    def on_headers_complete(self) -> None:
        """Keep a plain request, if nothing is being answered; hand all others on."""
        self._plain = None
        if _is_free(self.cycle) and not self.flow.write_paused:
            route = plain_route(self.parser.get_method(), self.url, self.headers)
            if route is not None and self.parser.get_http_version() == "1.1":
                self._plain = _Plain(route)
                return
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Gather it."""
        if self._plain is not None:
            self._plain.body += body
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Have the store carry a plain request out."""
        plain = self._plain
        if plain is None:
            super().on_message_complete()
            return
        self._plain = None
        command = plain_command(plain.route, bytes(plain.body))
        if command is None:
            self._hand_on(plain)
            return
        request = _Request(self, plain)
        self.cycle = plain  # type: ignore[assignment] # it has what uvicorn asks of one
        self.store.submit(command, request.answer)
        if not plain.response_complete:
            self.flow.pause_reading()

    # --- answers -------------------------------------------------------------------------------

    def finish(self, plain: _Plain, content: bytes) -> None:
        """Write the answer, and go on to what arrived behind."""
        plain.response_complete = True
        if plain.disconnected or self.transport.is_closing():
            return
        self.transport.write(content)
        if not plain.keep_alive:
            self.transport.close()
        self.on_response_complete()

    def hand_on(self, request: _Request) -> None:
        """The store refused: the documented route says why, with the request as it was."""
        plain = request.plain
        plain.response_complete = True
        if plain.disconnected or self.transport.is_closing():
            return
        current: object = self.cycle
        behind = self.cycle, self.headers, self.scope, self.url
        self.cycle = None  # type: ignore[assignment] # so that the request starts now, before those behind
        self.headers, self.scope, self.url = request.arrived
        self._hand_on(plain)
        if current is not plain:
            self.cycle, self.headers, self.scope, self.url = behind

    def _hand_on(self, plain: _Plain) -> None:
        super().on_headers_complete()
        # The parser may be at another request by now; what is plain has these.
        self.scope["method"], self.scope["http_version"] = "POST", "1.1"
        self.cycle.keep_alive = plain.keep_alive
        self.cycle.body += plain.body
        self.cycle.more_body = False
        self.cycle.message_event.set()


class _Request:
    """What a plain request needs until it is answered, whatever arrives on the connection meanwhile."""

    __slots__ = ("_protocol", "arrived", "plain", "request_id")

    def __init__(self, protocol: FastHttpProtocol, plain: _Plain) -> None:
        self._protocol = protocol
        self.plain = plain
        self.arrived = protocol.headers, protocol.scope, protocol.url
        self.request_id = request_id_of_header(protocol.headers)

    def answer(self, answer: Answer) -> None:
        """The store's answer, durable."""
        if isinstance(answer, NotAccepting) and answer.is_outcome_unknown:
            # It was carried out: the documented route must not carry it out again.
            problem = encode(not_accepting_problem(answer, self.request_id))
            self._finish(503, problem, PROBLEM_MEDIA_TYPE)
            return
        content = None
        if not isinstance(answer, StreamError | NotAccepting):
            content = self.plain.route.answer_of(answer)
        if content is None:
            self._protocol.hand_on(self)
        else:
            self._finish(self.plain.route.status, content, JSON)

    def _finish(self, status: int, content: bytes, media_type: str) -> None:
        self._protocol.finish(self.plain, self._head(status, len(content), media_type) + content)
        if _access.isEnabledFor(logging.INFO):
            path = self.arrived[2].decode("latin-1")
            log_request(self.request_id, "POST", path, status, self.plain.started_ns)

    def _head(self, status: int, length: int, media_type: str) -> bytes:
        """Status line and headers, as the documented route has them."""
        default_headers = self._protocol.server_state.default_headers
        defaults = b"".join(b"%b: %b\r\n" % header for header in default_headers)
        closing = b"" if self.plain.keep_alive else b"connection: close\r\n"
        return b"%b%bcontent-length: %d\r\ncontent-type: %b\r\nx-request-id: %b\r\n%b\r\n" % (
            STATUS_LINE[status],
            defaults,
            length,
            media_type.encode(),
            self.request_id.encode(),
            closing,
        )


def fast_protocol(store: DirectStore) -> type[FastHttpProtocol]:
    """The protocol class for `uvicorn.Config(http=...)` over `store`."""
    return type("BoundFastHttpProtocol", (FastHttpProtocol,), {"store": store})
