"""How log records look and where they go: one line each on standard error, as JSON or for eyes.

Set up once a process, before anything is logged. What a record says is its caller's affair: a short
event name as the message, and named values under ``extra={"fields": {...}}``.
"""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime
from typing import Any

import msgspec

from tailrace.app.observability.access_log import write_lines_to
from tailrace.app.settings import LogFormat, LogLevel


def configure_logging(log_format: LogFormat, log_level: LogLevel) -> None:
    """Send all records of `log_level` and above to standard error, in `log_format`."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if log_format is LogFormat.JSON else ConsoleFormatter())
    logging.basicConfig(handlers=[handler], level=log_level.upper(), force=True)
    write_lines_to(sys.stderr.buffer if log_format is LogFormat.JSON else None)
    # Its lines about starting and stopping repeat the server's own; its warnings and errors do not.
    logging.getLogger("uvicorn").setLevel(logging.WARNING)


class JsonFormatter(logging.Formatter):
    """One JSON object a line: `time`, `level`, `logger`, `event`, then the record's own fields."""

    def format(self, record: logging.LogRecord) -> str:
        """The line; a value that JSON does not know is written as text."""
        members = {
            "time": _time_of(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **_fields_of(record),
        }
        if record.exc_info:
            members["traceback"] = self.formatException(record.exc_info)
        return msgspec.json.encode(members, enc_hook=str).decode()


class ConsoleFormatter(logging.Formatter):
    """``time level event name=value ...``, and tracebacks on lines of their own."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, or the lines where there is a traceback."""
        values = "".join(f" {name}={value}" for name, value in _fields_of(record).items())
        line = f"{_time_of(record)} {record.levelname.lower():7} {record.getMessage()}{values}"
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


def _fields_of(record: logging.LogRecord) -> dict[str, Any]:
    fields: dict[str, Any] = getattr(record, "fields", {})
    return fields


def _time_of(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
