"""Parses the start of a tail: an id, a time or an age. It owns this syntax and nothing else."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

from tailrace.core.errors import StreamError
from tailrace.core.stream_id import MAX_ID, SEQ_BITS, ZERO_ID, StreamId, parse_id

_AGO: Final = re.compile(r"(\d+)(ms|s|m|h|d|w)", re.ASCII)
_UNIT_MS: Final = {
    "ms": 1,
    "s": 1_000,
    "m": 60_000,
    "h": 3_600_000,
    "d": 86_400_000,
    "w": 604_800_000,
}


def first_id(text: str, now_ms: int) -> StreamId:
    """Return the first id that `text` selects.

    `text` is an id, Unix milliseconds, an ISO 8601 time (local time if it has no zone), `-` for the
    beginning, or an age before `now_ms` such as `90s`, `10m`, `2h`, `3d` or `1w`. Raises `ValueError` with a
    sentence for the user.
    """
    if text == "-":
        return ZERO_ID
    if (ago := _AGO.fullmatch(text)) is not None:
        return max(0, now_ms - int(ago[1]) * _UNIT_MS[ago[2]]) << SEQ_BITS
    if is_id(text):
        return parse_id(text.encode())
    try:
        begin = int(datetime.fromisoformat(text).timestamp() * 1000) << SEQ_BITS
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"{text!r} is not an id, a time like 2026-07-14T15:30, or an age like 10m") from None
    if not ZERO_ID <= begin <= MAX_ID:
        raise ValueError(f"{text!r} is before 1970-01-01: ids have no earlier times")
    return begin


def is_id(text: str) -> bool:
    """Return whether `text` is an entry id, complete or only its milliseconds."""
    try:
        parse_id(text.encode())
    except StreamError:
        return False
    return True
