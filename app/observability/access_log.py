"""One log record a request: who it was (request id), what was asked, what was answered, how long it took.

It logs the path and never the query, a header or a body: that is where a secret or somebody's data would
stand. `app.request_observer` calls it, and `app.protocols.hot_observer` for hot requests.

A record of the logging library, and a system call for each, would cost as much as the append that it tells
of. So where logs are JSON the lines are made here, and those of one turn of the loop are written together;
nothing is kept back longer than that. Before eyes, requests go through the library like all else.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import time
from datetime import UTC, datetime
from typing import BinaryIO, Final

import msgspec

access_logger: Final = logging.getLogger("tailrace.access")
"""Ask it first whether requests are logged: then one that is not costs one test."""

_EVENT: Final = "request"


class _Line(msgspec.Struct, gc=False):
    """As `app.observability.logs.JsonFormatter` writes a record of this logger."""

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
    """The lines of a stream. On the loop they are written with its next turn, elsewhere at once."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._waiting: list[bytes] = []
        self._encode = msgspec.json.Encoder().encode
        self._second = -1
        self._second_text = ""

    def add(self, request_id: str | None, method: str, path: str, status: int, duration_ms: float) -> None:
        """One request. O(1), without a system call."""
        line = _Line(
            self._now(), "info", access_logger.name, _EVENT, request_id, method, path, status, duration_ms
        )
        self._waiting.append(self._encode(line))
        if len(self._waiting) > 1:
            return
        try:
            asyncio.get_running_loop().call_soon(self.flush)
        except RuntimeError:
            self.flush()

    def flush(self) -> None:
        """Write what waits. A stream that takes no more is no reason to fail: there is nobody to tell."""
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
    """Where requests are logged: through the library until lines are asked for."""

    lines: AccessLines | None = None


def write_lines_to(stream: BinaryIO | None) -> None:
    """Write requests as lines of JSON to `stream` from now on; None: through the library."""
    _Target.lines = None if stream is None else AccessLines(stream)
    if _Target.lines is not None:
        atexit.register(_Target.lines.flush)


def log_request(request_id: str | None, method: str, path: str, status: int, started_ns: int) -> None:
    """Write the record of one request; `started_ns` is of `time.perf_counter_ns`."""
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
