"""Durations and sizes as arguments: `30m`, `7d`, `500MB`, `2GiB`. It owns their units."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta
from typing import Final

import typer

from tailrace.core.limits import DELAY_MS_MAX, KIB, MIB

_AGE_UNITS_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_SIZE_UNITS: Final = {"": 1, "KB": 1_000, "MB": 10**6, "GB": 10**9, "KiB": KIB, "MiB": MIB, "GiB": 1 << 30}
_QUANTITY: Final = re.compile(r"(\d+) ?([A-Za-z]*)")


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
