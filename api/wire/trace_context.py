"""Adds the trace context of an append to its entries, if the producer asks for it.

With the header `Tailrace-Trace: entry`, an append adds the request's `traceparent` (W3C Trace Context) to
each entry as a field of that name, so that consumers can continue the trace. This module reads these two
headers. It never creates a context: without a valid `traceparent`, the entries are appended unchanged, as the
standard requires. An entry that already has such a field keeps it.
"""

from __future__ import annotations

import re
from typing import Any, Final, TypeVar

from msgspec.structs import replace
from starlette.datastructures import Headers

from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.core.commands import Append, ScheduleEntries
from tailrace.core.errors import ErrorCode
from tailrace.core.log.entry import BadEntry, with_field

FIELD: Final = b"traceparent"
_CONTEXT: Final = "traceparent"
_ASKED: Final = "Tailrace-Trace"
_WHERE: Final = "entry"
_WELL_FORMED: Final = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}", re.ASCII)


AppendT = TypeVar("AppendT", bound=Append | ScheduleEntries)


def traced(headers: Headers, command: AppendT) -> AppendT:
    """Return the append with the request's trace context in each entry, if the request asks for it.

    Raises `RequestRefused`: 400, or 413 if an entry becomes too large. O(bytes) if the request asks for it.
    """
    asked = headers.get(_ASKED)
    if asked is None:
        return command
    if asked != _WHERE:
        raise _refusal(asked)
    context = headers.get(_CONTEXT, "")
    if _WELL_FORMED.fullmatch(context) is None:
        return command
    value = context.encode()
    try:
        return replace(command, fragments=[with_field(each, FIELD, value) for each in command.fragments])
    except BadEntry as error:
        raise RequestRefused(ErrorCode.ENTRY_TOO_LARGE, f"with its {_CONTEXT}: {error}") from None


def _refusal(asked: str) -> RequestRefused:
    detail = f"{_ASKED} must be {_WHERE!r}, not {asked[:40]!r}"
    errors = [{"parameter": _ASKED, "in": "header", "detail": detail}]
    return RequestRefused(HttpCode.INVALID_PARAMETER, detail, errors=errors)


TRACE_HEADERS: Final[tuple[dict[str, Any], ...]] = (
    {
        "name": _ASKED,
        "in": "header",
        "required": False,
        "description": "`entry`: add the request's `traceparent` to each entry as a field of that name.",
        "schema": {"type": "string", "enum": [_WHERE], "examples": [_WHERE]},
    },
    {
        "name": _CONTEXT,
        "in": "header",
        "required": False,
        "description": "The trace context of the request (W3C Trace Context, version 00).",
        "schema": {
            "type": "string",
            "examples": ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"],
        },
    },
)
"""The two headers, as the OpenAPI document describes them."""
