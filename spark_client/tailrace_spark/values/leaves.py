"""Write values that are not nested as text, one Arrow column at a time.

Values that Arrow converts itself (strings, numbers, booleans, decimals, and times of the years 1 to 9999)
cost no Python object. Intervals, bytes, and times of other years are converted one by one.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as T  # noqa: N812 - as all of Spark's documentation has it

from tailrace_spark.values.calendar import FIRST_DAY, LAST_DAY, MICROS_A_DAY, day_text, moment_text
from tailrace_spark.values.intervals import interval_text

CLOCK_CHARACTERS: Final = len("12:34:56.123456")
DECIMAL_DIGITS_MAX: Final = 38


def leaf_texts(column: pa.Array, kind: T.DataType) -> pa.Array:
    """Return the text of each value that is not nested, as bytes. Bytes become base64."""
    if isinstance(kind, T.DayTimeIntervalType):
        return _one_by_one(column.cast(pa.int64()), lambda micros: interval_text(kind, micros).encode())
    for spark_type, texts in _LEAVES:
        if isinstance(kind, spark_type):
            return texts(column)
    # Bytes follow strings: a string of Spark need not be UTF-8, and Arrow checks it in the other direction.
    return column.cast(pa.string()).cast(pa.binary())


def _one_by_one(column: pa.Array, text_of: Callable[[Any], bytes]) -> pa.Array:
    return pa.array([None if value is None else text_of(value) for value in column.to_pylist()], pa.binary())


# --- decimals --------------------------------------------------------------------------------------


def _decimals(column: pa.Array) -> pa.Array:
    """Return decimals with all digits of their scale and without an exponent."""
    texts = column.cast(pa.string()).cast(pa.binary())
    return texts if not pc.any(pc.match_substring(texts, b"E")).as_py() else _shifted(column)


def _shifted(column: pa.Array) -> pa.Array:
    """Write the digits of the decimals as integers, and put the point among them. Arrow itself writes very
    small and very large decimals with an exponent."""
    scale = column.type.scale
    whole_type = pa.decimal128(DECIMAL_DIGITS_MAX, 0)
    whole = pa.Array.from_buffers(whole_type, len(column), column.buffers(), offset=column.offset)
    digits = whole.cast(pa.string())
    if scale < 0:
        zeros = pc.binary_join_element_wise(digits, "0" * -scale, "")
        return pc.if_else(pc.equal(digits, "0"), digits, zeros).cast(pa.binary())
    sign = pc.if_else(pc.starts_with(digits, "-"), "-", "")
    padded = pc.ascii_lpad(pc.ascii_ltrim(digits, "-"), scale + 1, "0")
    before, after = pc.utf8_slice_codeunits(padded, 0, -scale), pc.utf8_slice_codeunits(padded, -scale)
    return pc.binary_join_element_wise(sign, before, ".", after, "").cast(pa.binary())


# --- days and times --------------------------------------------------------------------------------


def _days(column: pa.Array) -> pa.Array:
    numbers = column.view(pa.int32())
    if not _is_within(numbers, FIRST_DAY, LAST_DAY):
        return _one_by_one(numbers, lambda days: day_text(days).encode())
    return column.cast(pa.string()).cast(pa.binary())


def _moments(column: pa.Array) -> pa.Array:
    """Return times with six digits of a second: an instant in UTC, a wall-clock time as it is."""
    # An instant has the digits of a wall clock in UTC. Looking up the zone in Arrow takes 7 times as long.
    numbers = column.cast(pa.timestamp("us", column.type.tz)).view(pa.int64())
    if not _is_within(numbers, FIRST_DAY * MICROS_A_DAY, (LAST_DAY + 1) * MICROS_A_DAY - 1):
        return _one_by_one(numbers, lambda micros: moment_text(micros).encode())
    texts = numbers.view(pa.timestamp("us")).cast(pa.string()).cast(pa.binary())
    return pc.replace_substring(texts, b" ", b"T", max_replacements=1)


def _is_within(numbers: pa.Array, first: int, last: int) -> bool:
    bounds = pc.min_max(numbers)
    least, most = bounds["min"].as_py(), bounds["max"].as_py()
    return least is None or (first <= least and most <= last)


def _clocks(column: pa.Array) -> pa.Array:
    """Return times of day with six digits of a second; Arrow writes nine."""
    return pc.utf8_slice_codeunits(column.cast(pa.string()), 0, CLOCK_CHARACTERS).cast(pa.binary())


_LEAVES: Final[list[tuple[type[T.DataType], Callable[[pa.Array], pa.Array]]]] = [
    (T.BinaryType, lambda column: _one_by_one(column, lambda raw: b2a_base64(raw, newline=False))),
    (T.DateType, _days),
    (T.DecimalType, _decimals),
    (T.TimestampNTZType, _moments),
    (T.TimestampType, lambda column: pc.binary_join_element_wise(_moments(column), b"Z", b"")),
    (T.TimeType, _clocks),
]
