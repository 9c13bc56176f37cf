"""Around the whole API: what is noted of each request that goes through the framework.

Pure ASGI, so that it sees what a client sees: the figures by operation, the slow log, the log record, and
the span where traces are on. `app.protocols.hot_observer` notes the same of hot requests. It changes nothing
of a request but the trace's header, and never reads a body.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tailrace.api.http.path_shim import raw_path_of
from tailrace.api.problems.table import request_id_of
from tailrace.app.metrics.sources import Sources
from tailrace.app.observability.access_log import access_logger, log_request
from tailrace.app.observability.timing import COMMIT, WAIT, RequestTiming, current_timing

if TYPE_CHECKING:
    from tailrace.app.observability.spans import RequestSpan, Tracing

CLIENT_GONE_STATUS: Final = 499
"""Where the connection ended before there was an answer; the number is nginx's."""

UNROUTED: Final = "unrouted"
"""The operation of a request that is none: no such path or method, or refused before it was looked up."""


class RequestObserver:
    """Wraps `app`. `tracing` None: no traces."""

    def __init__(self, app: ASGIApp, sources: Sources, tracing: Tracing | None = None) -> None:
        self._app = app
        self._sources = sources
        self._tracing = tracing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything through, and note it when it ends, also by an exception."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        span = None if self._tracing is None else self._tracing.begin(scope)
        exchange = _Exchange(self._sources, scope, receive, send)
        current_timing.set(exchange.timing)
        try:
            await self._app(scope, exchange.receive, exchange.send)
        finally:
            exchange.note(span)


class _Exchange:
    """One request on its way: notes when its body was there, and what was answered when."""

    def __init__(self, sources: Sources, scope: Scope, receive: Receive, send: Send) -> None:
        self.timing = RequestTiming()
        self._sources = sources
        self._scope = scope
        self._receive = receive
        self._send = send
        self._status = CLIENT_GONE_STATUS
        self._answered_ns = 0

    async def receive(self) -> Message:
        """The next piece of the request."""
        message = await self._receive()
        if message["type"] == "http.request" and not message.get("more_body") and not self._answered_ns:
            self.timing.ready_ns = time.perf_counter_ns()
        return message

    async def send(self, message: Message) -> None:
        """The next piece of the answer."""
        if message["type"] == "http.response.start":
            self._answered_ns = time.perf_counter_ns()
            self._status = message["status"]
        await self._send(message)

    def note(self, span: RequestSpan | None) -> None:
        """It has ended."""
        operation = operation_of(self._scope, self._status)
        self._note_times(operation)
        if span is not None:
            span.end(operation, self._status, self.timing)
        if access_logger.isEnabledFor(logging.INFO):
            method, path = self._scope["method"], raw_path_of(self._scope)
            log_request(request_id_of(self._scope), method, path, self._status, self.timing.arrived_ns)

    def _note_times(self, operation: str) -> None:
        timing = self.timing
        ended_ns = self._answered_ns or time.perf_counter_ns()
        duration_ns = max(ended_ns - timing.ready_ns - timing.spent_ns(WAIT, ended_ns), 0)
        self._sources.requests.note(operation, self._status, duration_ns)
        slow_log = self._sources.store.slow_log
        commit_ns = timing.spent_ns(COMMIT, ended_ns)
        own_ns = duration_ns - commit_ns
        if own_ns >= slow_log.threshold_ns:
            slow_log.note(
                operation,
                request_id_of(self._scope),
                timing.commands,
                engine_ns=timing.engine_ns,
                commit_ns=commit_ns,
                other_ns=max(own_ns - timing.engine_ns, 0),
            )


def operation_of(scope: Scope, status: int) -> str:
    """The operation's name, as in the OpenAPI document; of what is not in it, the handler's."""
    if status == 405:  # noqa: PLR2004 - what was found is for another method
        return UNROUTED
    name: str | None = getattr(scope.get("route"), "operation_id", None)
    return name or str(getattr(scope.get("endpoint"), "__name__", UNROUTED))
