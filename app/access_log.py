"""One log record a request: who it was (request id), what was asked, what was answered, how long it took.

Pure ASGI around the whole API, so that it sees what a client sees. It logs the path and never the
query, a header or a body: that is where a secret or somebody's data would stand.
"""

from __future__ import annotations

import logging
import time
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.path_shim import raw_path_of
from api.problems import request_id_of

CLIENT_GONE_STATUS: Final = 499
"""Logged where the connection ended before there was an answer; the number is nginx's."""

_logger: Final = logging.getLogger("tailrace.access")


class AccessLog:
    """Wraps `app`; costs nothing but one test where requests are not logged."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything through, and log HTTP requests when they end, also by an exception."""
        if scope["type"] != "http" or not _logger.isEnabledFor(logging.INFO):
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(scope, send)
        try:
            await self._app(scope, receive, exchange.send)
        finally:
            exchange.log()


class _Exchange:
    """One request on its way: notes the answer's status as it goes out."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope = scope
        self._send = send
        self._started_ns = time.perf_counter_ns()
        self._status = CLIENT_GONE_STATUS

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
        await self._send(message)

    def log(self) -> None:
        request_id, method = request_id_of(self._scope), self._scope["method"]
        log_request(request_id, method, raw_path_of(self._scope), self._status, self._started_ns)


def log_request(request_id: str | None, method: str, path: str, status: int, started_ns: int) -> None:
    """Write the record of one request; `started_ns` is of `time.perf_counter_ns`."""
    fields = {
        "request_id": request_id,
        "method": method,
        "path": path,
        "status": status,
        "duration_ms": round((time.perf_counter_ns() - started_ns) / 1e6, 3),
    }
    _logger.info("request", extra={"fields": fields})
