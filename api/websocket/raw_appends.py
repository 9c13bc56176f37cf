"""Reads the raw members of an append, for both subprotocols.

It owns what an append may have, and the refusal of one that cannot be read. It never decodes a frame.
"""

from __future__ import annotations

from typing import Any, Final

from tailrace.api.operations.appends import append_command
from tailrace.api.problems.table import RequestRefused
from tailrace.api.websocket.codecs import RawAppend
from tailrace.api.wire.appends import NewEntries
from tailrace.api.wire.bodies import mismatch
from tailrace.api.wire.parameters import requested_id_of
from tailrace.core.commands import Append, ScheduleEntries
from tailrace.core.errors import ErrorCode
from tailrace.core.log.entry import BadEntry

_ABSENT: Final = (b"", b"null", b"\xc0")


def append_of(key: bytes, fragment: bytes, request: RawAppend) -> Append | ScheduleEntries:
    """Return the command of an append. Raises `RequestRefused`."""
    requested = requested_id_of(request.entry_id)
    new = NewEntries([fragment], None if requested is None else [requested])
    return append_command(key, request, new, create=not request.nomkstream)


def has_fields(request: RawAppend) -> bool:
    """Return whether an append has `fields` rather than `pairs`. Raises `BadEntry` unless it has exactly
    one."""
    fields, pairs = bytes(request.fields) not in _ABSENT, bytes(request.pairs) not in _ABSENT
    if fields is pairs:
        raise BadEntry("give exactly one of `fields` and `pairs`")
    return fields


def encoding_of(request: RawAppend) -> Any:
    """Return `base64` or None. Raises `BadEntry` for another value."""
    if request.encoding not in (None, "base64"):
        raise BadEntry("`encoding` must be `base64`, or absent")
    return request.encoding


def entry_refusal(error: Exception) -> RequestRefused:
    """Return the error for an entry that could not be read."""
    if isinstance(error, BadEntry) and error.too_large:
        return RequestRefused(ErrorCode.ENTRY_TOO_LARGE, str(error))
    return mismatch([("", str(error))])
