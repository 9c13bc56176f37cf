"""Durations, sizes and moments as arguments: `30m`, `7d`, `500MB`, `2GiB`, `2026-07-14T15:30`. It owns their
forms and units."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta
from typing import Final

import typer

from tailrace.core.errors import StreamError
from tailrace.core.limits import DELAY_MS_MAX, KIB, MIB
from tailrace.core.stream_id import MAX_ID, SEQ_BITS, ZERO_ID, StreamId, parse_id

_AGE_UNITS_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_SIZE_UNITS: Final = {"": 1, "KB": 1_000, "MB": 10**6, "GB": 10**9, "KiB": KIB, "MiB": MIB, "GiB": 1 << 30}
_QUANTITY: Final = re.compile(r"(\d+) ?([A-Za-z]*)")
_AGO: Final = re.compile(r"(\d+)(ms|s|m|h|d|w)", re.ASCII)
_UNIT_MS: Final = {
    "ms": 1,
    "s": 1_000,
    "m": 60_000,
    "h": 3_600_000,
    "d": 86_400_000,
    "w": 604_800_000,
}


def age_ms(value: str) -> int:
    """Return an age in milliseconds. Raises `typer.BadParameter`."""
    return _quantity(value, _AGE_UNITS_MS, "an age such as 30m, 12h or 7d")


def delay_ms(value: str) -> int:
    """Return a delay in milliseconds, which can be 0. Raises `typer.BadParameter`."""
    return _within_delays(
        value, _quantity(value, _AGE_UNITS_MS, "a delay such as 500ms, 10s or 12h", least=0)
    )


def backoff_ms(value: str) -> int:
    """Return a delay of a backoff in milliseconds. Raises `typer.BadParameter`."""
    return _within_delays(value, age_ms(value))


def time_ms(value: str) -> int:
    """Return a time, at most as far away as a delay, in Unix milliseconds. Raises `typer.BadParameter`."""
    now_ms = time.time_ns() // 1_000_000
    try:
        at_ms = int(datetime.fromisoformat(value).timestamp() * 1_000)
    except (ValueError, OverflowError, OSError):
        example = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%dT08:00:00")
        raise typer.BadParameter(f"{value!r} is not a time such as {example} or {example}Z") from None
    _within_delays(value, at_ms - now_ms)
    return at_ms


def _within_delays(value: str, found_ms: int) -> int:
    if found_ms > DELAY_MS_MAX:
        days = DELAY_MS_MAX // _AGE_UNITS_MS["d"]
        raise typer.BadParameter(f"{value!r} is more than {days} days away, the longest delay")
    return found_ms


def size_bytes(value: str) -> int:
    """Return a size in bytes. Raises `typer.BadParameter`."""
    return _quantity(value, _SIZE_UNITS, "a size such as 500MB or 2GiB")


def _quantity(value: str, units: dict[str, int], wanted: str, *, least: int = 1) -> int:
    found = _QUANTITY.fullmatch(value)
    if found is None or found[2] not in units or int(found[1]) < least:
        raise typer.BadParameter(f"{value!r} is not {wanted}; units: {', '.join(filter(None, units))}")
    return int(found[1]) * units[found[2]]


# --- moments ---------------------------------------------------------------------------------------


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
