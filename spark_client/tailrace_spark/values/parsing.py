"""Read text as the values of a column: the casting rule from text to values.

Numbers, booleans, days and times are cast in Arrow, one column at a time. Nested values are JSON, and they,
intervals, times of day and times beyond the year 9999 pass through Python objects. Text that does not fit its
type is reported by its place and becomes null.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as T  # noqa: N812 - as all of Spark's documentation has it

from tailrace_spark.values.calendar import day_of, interval_of, moment_of
from tailrace_spark.values.json_values import clock_of, json_reader
from tailrace_spark.values.texts import body_of
from tailrace_spark.values.types import NESTED

Cast = Callable[[pa.Array], pa.Array]
"""Casts a column of bytes, or raises one of `BAD`."""
One = Callable[[str], Any]
"""Converts one text to a value from which Arrow builds the type, or raises one of `BAD`."""

_HAS_ZONE: Final = r"(Z|[+-]\d\d(:?\d\d)?)$"
_IS_DAY: Final = r"^\d+-\d\d-\d\d$"
BAD: Final = (ArithmeticError, AttributeError, KeyError, TypeError, ValueError, RecursionError)
"""The exceptions that a cast raises for a bad value; Arrow's own errors are subclasses of them."""


def cast_to(kind: T.DataType, arrow_type: pa.DataType) -> Cast:
    """Return the function that casts bytes to the type of a column. `kind`: `check_types` accepts it."""
    if isinstance(kind, T.BinaryType):
        return lambda values: values
    if isinstance(kind, T.StringType):
        return _as_text
    if isinstance(kind, T.NullType):
        return lambda values: pa.nulls(len(values))
    one = _one_of(kind)
    if one is not None:
        return _one_by_one(one, arrow_type)
    return _or_far(kind, lambda values: _castable(kind, _as_text(values)).cast(arrow_type), arrow_type)


def typed(values: pa.Array, cast: Cast, arrow_type: pa.DataType, on_bad: Callable[[int], None]) -> pa.Array:
    """Return the values, cast. A value that cannot be cast is passed to `on_bad` by its place, and becomes
    null.

    O(n), and O(log n) more casts for each bad value.
    """
    try:
        return cast(values)
    except BAD:
        if len(values) == 1:
            on_bad(0)
            return pa.nulls(1, arrow_type)
    middle = len(values) // 2
    before = typed(values[:middle], cast, arrow_type, on_bad)
    behind = typed(values[middle:], cast, arrow_type, lambda place: on_bad(middle + place))
    return pa.concat_arrays([before, behind])


def _one_of(kind: T.DataType) -> One | None:
    """Return the conversion of one text, for the types that Arrow does not cast."""
    if isinstance(kind, NESTED):
        return json_reader(kind)
    if isinstance(kind, T.DayTimeIntervalType):
        return lambda text: interval_of(kind, text)
    return clock_of if isinstance(kind, T.TimeType) else None


def _castable(kind: T.DataType, texts: pa.Array) -> pa.Array:
    """Return the texts in the form that Arrow casts to this type."""
    if isinstance(kind, T.TimestampType):
        return _with_zone(texts)
    return _integers(texts) if isinstance(kind, T.IntegralType) else texts


def _or_far(kind: T.DataType, cast: Cast, arrow_type: pa.DataType) -> Cast:
    """Return a cast that converts a text by itself if Arrow refuses it, which accepts only years of four
    digits."""
    if type(kind) not in _FAR:
        return cast
    one_by_one = _one_by_one(_FAR[type(kind)], arrow_type)

    def near_or_far(values: pa.Array) -> pa.Array:
        try:
            return cast(values)
        except pa.ArrowInvalid:
            if len(values) > 1:
                raise
            return one_by_one(values)

    return near_or_far


def _one_by_one(convert: Callable[[str], Any], arrow_type: pa.DataType) -> Cast:
    return lambda values: pa.array(
        [None if text is None else convert(text.decode()) for text in values.to_pylist()], arrow_type
    )


def _as_text(values: pa.Array) -> pa.Array:
    """View bytes as a string, without checking them: like Spark, this keeps bytes that are not UTF-8."""
    return values.view(pa.string())


def _integers(texts: pa.Array) -> pa.Array:
    """Return the texts if none is hexadecimal: Arrow reads those, too, and Spark does not."""
    body = bytes(body_of(texts))
    if b"x" in body or b"X" in body:
        raise ValueError("a hexadecimal number")
    return texts


def _with_zone(texts: pa.Array) -> pa.Array:
    """Append the zone UTC to times without a zone. A date alone becomes midnight in UTC."""
    texts = pc.if_else(pc.match_substring_regex(texts, _IS_DAY), _joined(texts, "T00:00:00"), texts)
    return pc.if_else(pc.match_substring_regex(texts, _HAS_ZONE), texts, _joined(texts, "Z"))


def _joined(texts: pa.Array, ending: str) -> pa.Array:
    return pc.binary_join_element_wise(texts, ending, "")


_FAR: Final[dict[type[T.DataType], One]] = {
    T.DateType: day_of,
    T.TimestampNTZType: lambda text: moment_of(text, with_zone=False),
    T.TimestampType: lambda text: moment_of(text, with_zone=True),
}
