"""Narrow the range of a batch read by the filters that Spark passes.

A narrowed range must contain every entry that passes the filters. It may contain others, because Spark
filters all rows itself in any case. These filters narrow: comparisons of `_timestamp` with a time,
comparisons of `_id` with a text, and equality of `_stream`. All others are left to Spark.

Ids are strings in Spark, and compare from the left: '9-0' is greater than '10-0'. While the times of all ids
in the range have equally many digits, they compare as numbers do. A comparison of `_id` narrows only then;
equality always does. This module sends no requests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias

from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    LessThan,
    LessThanOrEqual,
)

from tailrace_spark.entry_ids import (
    LAST_POSSIBLE_ID,
    SEQ_MAX,
    ZERO_ID,
    earlier,
    just_above,
    just_below,
    later,
    parsed,
)
from tailrace_spark.sink.entry_form import ID, STREAM, TIMESTAMP
from tailrace_spark.source.selection import EPOCH

Range: TypeAlias = tuple[str, str]
"""The ids (after, end]: after the first, up to and including the second."""

NOTHING: Final[Range] = (ZERO_ID, ZERO_ID)
EQUAL: Final = (EqualTo, EqualNullSafe)
AT_LEAST: Final = (GreaterThan, GreaterThanOrEqual, *EQUAL)
AT_MOST: Final = (LessThan, LessThanOrEqual, *EQUAL)
COMPARISONS: Final = (GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual, *EQUAL)
_ID: Final = re.compile(r"(0|[1-9][0-9]{0,19})-(0|[1-9][0-9]{0,19})", re.ASCII)


def narrowed(filters: Iterable[Filter], stream: str, whole: Range) -> Range:
    """Return the part of the range `whole` in which the filters can be true."""
    after, end = whole
    for each in filters:
        column, values = _compared(each)
        for lower, upper in _bounds(each, column, values, stream, (after, end)):
            after, end = later(after, lower), earlier(end, upper)
    return (after, end) if later(after, end) != after else NOTHING


def _compared(condition: Filter) -> tuple[str, Sequence[Any]]:
    """Return the column of a comparison and the values that it names; no values for other filters."""
    if isinstance(condition, In) and len(condition.attribute) == 1:
        return condition.attribute[0], condition.value
    if isinstance(condition, COMPARISONS) and len(condition.attribute) == 1:
        return condition.attribute[0], (condition.value,)
    return "", ()


def _bounds(
    condition: Filter, column: str, values: Sequence[Any], stream: str, whole: Range
) -> Iterable[Range]:
    """Yield the ranges of which the entries must be part."""
    is_equality = isinstance(condition, (In, *EQUAL))
    if column == STREAM and is_equality and stream not in values:
        yield NOTHING
    elif column == TIMESTAMP and all(isinstance(value, datetime) for value in values) and values:
        times = [_ms(value) for value in values]
        yield _between(condition, min(times), max(times))
    elif column == ID and is_equality:
        ids = sorted((value for value in values if _is_id(value)), key=parsed)
        yield (just_below(ids[0]), ids[-1]) if ids else NOTHING
    elif column == ID and values:
        digits = _digits_of_times(whole)
        time = str(values[0])[:digits]
        if digits and len(time) == digits and time.isascii() and time.isdecimal():
            yield _between(condition, int(time), int(time))


def _between(condition: Filter, first_ms: int, last_ms: int) -> Range:
    """Return the ids of whole milliseconds in which the condition can be true."""
    is_below = isinstance(condition, AT_MOST) and not isinstance(condition, AT_LEAST)
    is_above = isinstance(condition, AT_LEAST) and not isinstance(condition, AT_MOST)
    after = ZERO_ID if is_below else just_below(f"{max(first_ms, 0)}-0")
    end = f"{max(last_ms, 0)}-{SEQ_MAX}"
    return (after, LAST_POSSIBLE_ID) if is_above else (after, end)


def _ms(moment: datetime) -> int:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - EPOCH) // timedelta(milliseconds=1)


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _digits_of_times(whole: Range) -> int:
    """Return how many digits the times of all ids in the range have; 0 if not all have equally many."""
    first, last = (len(str(parsed(each)[0])) for each in (just_above(whole[0]), whole[1]))
    return first if first == last else 0
