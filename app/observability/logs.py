"""Formats log records as JSON or as text, one line each, and writes them to standard error.

Call `configure_logging` once, before the first record. It owns the format, never the content: callers log a
short event name as the message, and named values in ``extra={"fields": {...}}``.
"""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime
from typing import Any

import msgspec

from tailrace.app.observability.access_log import write_lines_to
from tailrace.app.settings import LogFormat, LogLevel
from tailrace.core.one_line import one_line


def configure_logging(log_format: LogFormat, log_level: LogLevel) -> None:
    """Write records of `log_level` and above to standard error in `log_format`."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if log_format is LogFormat.JSON else ConsoleFormatter())
    logging.basicConfig(handlers=[handler], level=log_level.upper(), force=True)
    write_lines_to(sys.stderr.buffer if log_format is LogFormat.JSON else None)
    # uvicorn's info lines about start and stop repeat those of this server.
    logging.getLogger("uvicorn").setLevel(logging.WARNING)


class JsonFormatter(logging.Formatter):
    """Formats a record as one JSON object: `time`, `level`, `logger`, `event`, then its fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line. Values that JSON cannot represent are written as text."""
        members = {
            "time": _time_of(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **_fields_of(record),
        }
        if record.exc_info:
            members["traceback"] = self.formatException(record.exc_info)
        return one_line(msgspec.json.encode(members, enc_hook=str)).decode()


class ConsoleFormatter(logging.Formatter):
    """Formats a record as ``time level event name=value ...``, with a traceback on separate lines."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, followed by the traceback if there is one."""
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
