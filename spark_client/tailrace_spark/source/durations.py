"""Durations as options write them: `15m`, `90 seconds`, `500ms`; a number alone is in
milliseconds. This module only converts text."""

from __future__ import annotations

import re
from typing import Final

from tailrace_spark.errors import BadOption

UNITS_MS: Final = {
    "": 1,
    "ms": 1,
    "millisecond": 1,
    "milliseconds": 1,
    "s": 1_000,
    "second": 1_000,
    "seconds": 1_000,
    "m": 60_000,
    "min": 60_000,
    "minute": 60_000,
    "minutes": 60_000,
    "h": 3_600_000,
    "hour": 3_600_000,
    "hours": 3_600_000,
    "d": 86_400_000,
    "day": 86_400_000,
    "days": 86_400_000,
}
DURATION: Final = re.compile(r"\s*(\d{1,12})\s*([a-z]*)\s*", re.ASCII | re.IGNORECASE)


def duration_ms(name: str, value: str) -> int:
    """Return the duration in milliseconds. Raises `BadOption`."""
    found = DURATION.fullmatch(value)
    unit_ms = UNITS_MS.get(found[2].casefold()) if found else None
    if found is None or unit_ms is None:
        raise BadOption(f"{name}: {value!r} is not a duration, such as 15m, 90s, 500ms or 1h")
    return int(found[1]) * unit_ms
