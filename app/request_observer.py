"""The middleware around the whole API: it records each request that goes through the framework.

It is pure ASGI, so it measures the same requests and responses as a client. It updates the metrics by
operation and the slow log, writes the log record, and ends the span if tracing is enabled.
`app.protocols.hot_observer` records the same of hot requests. It changes only the trace header of a request,
and never reads a body.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tailrace.api.http.layers import raw_path_of
from tailrace.api.problems.table import request_id_of
from tailrace.app.metrics.sources import Sources
from tailrace.app.observability.access_log import access_logger, log_request
from tailrace.app.observability.counters import CLIENT_GONE_STATUS
from tailrace.app.observability.timing import COMMIT, WAIT, RequestTiming, current_timing

if TYPE_CHECKING:
    from tailrace.app.observability.spans import RequestSpan, Tracing

UNROUTED: Final = "unrouted"
"""The operation of a request with an unknown path or method, or refused before the router saw it."""


class RequestObserver:
    """Wraps `app` and records its requests. Without `tracing` it makes no traces."""

    def __init__(self, app: ASGIApp, sources: Sources, tracing: Tracing | None = None) -> None:
        self._app = app
        self._sources = sources
        self._tracing = tracing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request through, and record it when it ends, also if it ends with an exception."""
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
    """One request in progress: it records when the body was complete, and the status and time of the
    response."""

    def __init__(self, sources: Sources, scope: Scope, receive: Receive, send: Send) -> None:
        self.timing = RequestTiming()
        self._sources = sources
        self._scope = scope
        self._receive = receive
        self._send = send
        self._status = CLIENT_GONE_STATUS
        self._answered_ns = 0

    async def receive(self) -> Message:
        """Return the next part of the request."""
        message = await self._receive()
        if message["type"] == "http.request" and not message.get("more_body") and not self._answered_ns:
            self.timing.ready_ns = time.perf_counter_ns()
        return message

    async def send(self, message: Message) -> None:
        """Send the next part of the answer."""
        if message["type"] == "http.response.start":
            self._answered_ns = time.perf_counter_ns()
            self._status = message["status"]
        await self._send(message)

    def note(self, span: RequestSpan | None) -> None:
        """Record the request, which has ended."""
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
    """Return the operation's name in the OpenAPI document, or the handler's name if it has none."""
    if status == 405:  # noqa: PLR2004 - what was found is for another method
        return UNROUTED
    name: str | None = getattr(scope.get("route"), "operation_id", None)
    return name or str(getattr(scope.get("endpoint"), "__name__", UNROUTED))
