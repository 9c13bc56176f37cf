"""Days, times and intervals as text, where Python and Arrow cannot convert them.

Years have four digits at least; above 9999 they begin with a plus, below 0 with a minus, as Spark and ISO
8601 write them. The calendar repeats after 400 years, so a day beyond the years 1 to 9999 is moved by whole
cycles into the years 2000 to 2399, converted there, and its year is moved back.

Intervals of days to seconds have the form of Spark's cast: `INTERVAL '2 03:04:05.6' DAY TO SECOND`. The type
decides which units the text has, from the greatest to the smallest. The greatest of them includes all greater
units of the interval: two days are 48 hours in an INTERVAL HOUR.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

from pyspark.sql import types as T  # noqa: N812 - as all of Spark's documentation has it

CYCLE_YEARS: Final = 400
CYCLE_DAYS: Final = 146_097
CYCLE_START: Final = date(2000, 1, 1)
EPOCH: Final = date(1970, 1, 1)
DAYS_TO_CYCLE: Final = (CYCLE_START - EPOCH).days
MICROS_A_SECOND: Final = 1_000_000
SECONDS_A_DAY: Final = 86_400
MICROS_A_DAY: Final = SECONDS_A_DAY * MICROS_A_SECOND
YEAR_DIGITS: Final = 4
YEAR_MAX: Final = 9_999

# In days since 1970: the days that Arrow converts itself.
FIRST_DAY: Final = (date.min - EPOCH).days
LAST_DAY: Final = (date.max - EPOCH).days

I32: Final = 1 << 31
I64: Final = 1 << 63

_DAY: Final = re.compile(r"([+-]?\d{4,7})(-\d\d-\d\d)", re.ASCII)
_MOMENT: Final = re.compile(
    r"([+-]?\d{4,6})(-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?) ?(Z|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)


def day_text(days: int) -> str:
    """Return a day, given in days since 1970, in ISO 8601."""
    cycles, rest = divmod(days - DAYS_TO_CYCLE, CYCLE_DAYS)
    day = CYCLE_START + timedelta(days=rest)
    return f"{_year_text(day.year + CYCLE_YEARS * cycles)}-{day:%m-%d}"


def moment_text(micros: int) -> str:
    """Return a time, given in microseconds since 1970, in ISO 8601 with six digits of a second and without a
    zone."""
    days, rest = divmod(micros, MICROS_A_DAY)
    seconds, fraction = divmod(rest, MICROS_A_SECOND)
    minutes, second = divmod(seconds, 60)
    return f"{day_text(days)}T{minutes // 60:02}:{minutes % 60:02}:{second:02}.{fraction:06}"


def day_of(text: str) -> int:
    """Return the days since 1970 of a day in ISO 8601. Raises `ValueError`."""
    found = _DAY.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a day like 2026-02-03")
    days = _days(found[1], found[2])
    return _within(days, I32, text)


def moment_of(text: str, *, with_zone: bool) -> int:
    """Return the microseconds since 1970 of a time in ISO 8601. `with_zone`: whether the text may name a
    zone; without one it is UTC. Raises `ValueError`."""
    found = _MOMENT.fullmatch(text)
    if found is None or (found[4] and not with_zone):
        raise ValueError(f"{text!r} is not a time like 2026-02-03T04:05:06{'Z' * with_zone}")
    clock = datetime.fromisoformat(f"2000-01-01T{found[3] or '00:00'}{found[4] or 'Z'}")
    micros = (clock - datetime(2000, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    return _within(_days(found[1], found[2]) * MICROS_A_DAY + micros, I64, text)


def _days(year: str, month_and_day: str) -> int:
    cycles, rest = divmod(int(year) - CYCLE_START.year, CYCLE_YEARS)
    day = date.fromisoformat(f"{CYCLE_START.year + rest}{month_and_day}")
    return (day - EPOCH).days + cycles * CYCLE_DAYS


def _year_text(year: int) -> str:
    sign = "+" if year > YEAR_MAX else "-" if year < 0 else ""
    return f"{sign}{abs(year):0{YEAR_DIGITS}}"


def _within(number: int, bound: int, text: str) -> int:
    if not -bound <= number < bound:
        raise ValueError(f"{text!r} is too far away")
    return number


# --- intervals --------------------------------------------------------------------------------------------


MICROS: Final = (86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000)
"""The microseconds of a day, an hour, a minute and a second, by Spark's numbers of these units."""
UNITS: Final = ("DAY", "HOUR", "MINUTE", "SECOND")
MOST: Final = (None, 23, 59, 59)
"""The greatest number of each unit that is not the first."""
SEPARATORS: Final = ("", " ", ":", ":")
SECOND: Final = 3


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
