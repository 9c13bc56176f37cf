"""Writes one log record per request: request id, method, path, status and duration.

It logs the path, and never the query, a header or a body, because these can contain secrets or user data. The
observers of requests call it after the response.

A record of the logging library with a system call of its own costs as much as an append. With JSON logs, this
module therefore builds the lines itself and writes the lines of one turn of the event loop together; no line
waits longer. With console logs, requests use the logging library like all other records.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import time
from datetime import UTC, datetime
from typing import BinaryIO, Final

import msgspec

from tailrace.core.one_line import one_line

access_logger: Final = logging.getLogger("tailrace.access")
"""Check its level before calling `log_request`: a request that is not logged then costs one test."""

_EVENT: Final = "request"


class _Line(msgspec.Struct, gc=False):
    """The members of a line, as `app.observability.logs.JsonFormatter` writes a record of this logger."""

    time: str
    level: str
    logger: str
    event: str
    request_id: str | None
    method: str
    path: str
    status: int
    duration_ms: float


class AccessLines:
    """Writes lines to a stream: on the next turn of the running event loop, or at once without a loop."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._waiting: list[bytes] = []
        self._encode = msgspec.json.Encoder().encode
        self._second = -1
        self._second_text = ""

    def add(self, request_id: str | None, method: str, path: str, status: int, duration_ms: float) -> None:
        """Add the line of one request. O(1), without a system call."""
        line = _Line(
            self._now(), "info", access_logger.name, _EVENT, request_id, method, path, status, duration_ms
        )
        self._waiting.append(one_line(self._encode(line)))
        if len(self._waiting) > 1:
            return
        try:
            asyncio.get_running_loop().call_soon(self.flush)
        except RuntimeError:
            self.flush()

    def flush(self) -> None:
        """Write the waiting lines.

        Errors of the stream are ignored: there is no other place to report them.
        """
        lines, self._waiting = self._waiting, []
        if lines:
            try:
                self._stream.write(b"\n".join(lines) + b"\n")
                self._stream.flush()
            except (OSError, ValueError):
                return

    def _now(self) -> str:
        now_ms = time.time_ns() // 1_000_000
        second, ms = divmod(now_ms, 1000)
        if second != self._second:
            self._second = second
            self._second_text = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return f"{self._second_text}.{ms:03}Z"


class _Target:
    """The destination of request records. `lines` None: the logging library."""

    lines: AccessLines | None = None


def write_lines_to(stream: BinaryIO | None) -> None:
    """Write request records as lines of JSON to `stream`; None: use the logging library."""
    _Target.lines = None if stream is None else AccessLines(stream)
    if _Target.lines is not None:
        atexit.register(_Target.lines.flush)


def log_request(request_id: str | None, method: str, path: str, status: int, started_ns: int) -> None:
    """Write the record of one request, which began at `started_ns` of `time.perf_counter_ns`."""
    duration_ms = round((time.perf_counter_ns() - started_ns) / 1e6, 3)
    if _Target.lines is not None:
        _Target.lines.add(request_id, method, path, status, duration_ms)
        return
    fields = {
        "request_id": request_id,
        "method": method,
        "path": path,
        "status": status,
        "duration_ms": duration_ms,
    }
    access_logger.info(_EVENT, extra={"fields": fields})
