"""Intervals of days to seconds as text, in the form of Spark's cast: `INTERVAL '2 03:04:05.6' DAY TO SECOND`.

The type decides which units the text has, from the greatest to the smallest. The greatest of them includes
all greater units of the interval: two days are 48 hours in an INTERVAL HOUR.
"""

from __future__ import annotations

import re
from typing import Final

from pyspark.sql import types as T  # noqa: N812 - as all of Spark's documentation has it

MICROS: Final = (86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000)
"""The microseconds of a day, an hour, a minute and a second, by Spark's numbers of these units."""
UNITS: Final = ("DAY", "HOUR", "MINUTE", "SECOND")
MOST: Final = (None, 23, 59, 59)
"""The greatest number of each unit that is not the first."""
SEPARATORS: Final = ("", " ", ":", ":")
SECOND: Final = 3
I64: Final = 1 << 63


def interval_text(kind: T.DayTimeIntervalType, micros: int) -> str:
    """Return the text of an interval of this type."""
    first, last = _bounds(kind)
    rest = abs(micros)
    text = "-" if micros < 0 else ""
    for unit in range(first, last + 1):
        number, rest = divmod(rest, MICROS[unit])
        is_padded = unit > first or unit == SECOND
        text += f"{SEPARATORS[unit] if unit > first else ''}{number:0{2 if is_padded else 1}}"
    if last == SECOND and rest:
        text += f".{rest:06}".rstrip("0")
    return f"INTERVAL '{text}' {_units(first, last)}"


def interval_of(kind: T.DayTimeIntervalType, text: str) -> int:
    """Return the microseconds of an interval of this type. Raises `ValueError`."""
    first, last = _bounds(kind)
    pattern = rf"INTERVAL '([+-]?){_pattern(first, last)}' {_units(first, last)}"
    found = re.fullmatch(pattern, text.strip(), re.ASCII | re.IGNORECASE)
    if found is None:
        raise ValueError(f"{text!r} is not an interval like {interval_text(kind, 0)}")
    sign, *numbers = found.groups()
    micros = 0
    for unit, number in zip(range(first, last + 1), numbers, strict=False):
        most = MOST[unit] if unit > first else None
        if most is not None and int(number) > most:
            raise ValueError(f"{text!r}: {number} is above {most}")
        micros += int(number) * MICROS[unit]
    if last == SECOND:
        micros += int((numbers[-1] or "").ljust(6, "0"))
    micros = -micros if sign == "-" else micros
    if not -I64 <= micros < I64:
        raise ValueError(f"{text!r} is too long")
    return micros


def _bounds(kind: T.DayTimeIntervalType) -> tuple[int, int]:
    return kind.startField, kind.endField


def _units(first: int, last: int) -> str:
    return UNITS[first] if first == last else f"{UNITS[first]} TO {UNITS[last]}"


def _pattern(first: int, last: int) -> str:
    numbers = "".join(
        rf"{SEPARATORS[unit] if unit > first else ''}(\d{{1,{2 if unit > first else 19}}})"
        for unit in range(first, last + 1)
    )
    return numbers + (r"(?:\.(\d{1,6}))?" if last == SECOND else "")
