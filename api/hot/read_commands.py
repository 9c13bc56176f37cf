"""The commands for hot reads of one stream, for the documented routes and the hot way.

It owns the step from parameters to a command, and never reads a query or writes a response. Parameters in an
uncommon form raise an error; the documented route then describes the error.
"""

from __future__ import annotations

from typing import Final

from tailrace.api.wire.parameters import end_of, id_of, position_of, start_of
from tailrace.core.commands import PendingRange, Range, Read, ReadFrom, ReadLimits
from tailrace.core.limits import PAGE_BYTES_MAX, READ_ENTRIES_MAX

PENDING_PAGE_DEFAULT: Final = 100
"""How many pending entries a page has at most, if the request names no count."""


def range_command(key: bytes, start: str, end: str, count: int, *, reverse: bool, strict: bool) -> Range:
    """Return the command that reads a page of a range."""
    return Range(
        key, start_of(start), end_of(end), count, reverse=reverse, max_bytes=PAGE_BYTES_MAX, strict=strict
    )


def after_command(
    key: bytes, after: str, count: int, block_ms: int | None, *, strict: bool, incarnation: str | None = None
) -> Read:
    """Return the command that reads the entries after a position."""
    limits = ReadLimits(count=min(count, READ_ENTRIES_MAX), page_bytes=PAGE_BYTES_MAX)
    return Read((ReadFrom(key, position_of(after), incarnation),), limits, block_ms, strict)


def entry_command(key: bytes, entry_id: str) -> Range:
    """Return the command that reads one entry."""
    value = id_of(entry_id)
    return Range(key, value, value, count=1)


def pending_command(
    key: bytes, group: bytes, start: str, end: str, count: int, min_idle_ms: int, consumer: bytes | None
) -> PendingRange:
    """Return the command that lists pending entries."""
    most = min(count, READ_ENTRIES_MAX)
    return PendingRange(key, group, start_of(start), end_of(end), most, min_idle_ms, consumer)
