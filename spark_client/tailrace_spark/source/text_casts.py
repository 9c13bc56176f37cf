"""Cast text to the type of a column, by the rule in docs/spark.md; the sink's rule in reverse.

Numbers, booleans, dates and times are cast in Arrow, one column at a time. Nested values are JSON and pass
through Python objects. Text that does not fit the type becomes null, or is an error that names the entry.
This module knows nothing of streams.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as T  # noqa: N812 - as all of Spark's documentation has it

from tailrace_spark.errors import BadOption
from tailrace_spark.source.nested_json import json_reader

Cast = Callable[[pa.Array], pa.Array]

NESTED: Final = (T.StructType, T.ArrayType, T.MapType)
NUMBERS_AND_DAYS: Final = (
    T.BooleanType,
    T.DateType,
    T.DecimalType,
    T.DoubleType,
    T.FloatType,
    T.IntegralType,
    T.TimestampNTZType,
)
_HAS_ZONE: Final = r"(Z|[+-]\d\d(:?\d\d)?)$"
_IS_DAY: Final = r"^\d+-\d\d-\d\d$"
_BAD: Final = (ArithmeticError, AttributeError, KeyError, TypeError, ValueError)
"""The exceptions that a cast raises for a bad value; Arrow's own errors are subclasses of them."""


def cast_to(field: T.StructField, arrow_type: pa.DataType) -> Cast:
    """Return the function that casts bytes to the type of the column. Raises `BadOption` for a type that
    cannot be read from text."""
    kind = field.dataType
    if isinstance(kind, T.BinaryType):
        return lambda values: values
    if isinstance(kind, T.StringType):
        return _as_text
    if isinstance(kind, T.TimestampType):
        return lambda values: _with_zone(_as_text(values)).cast(arrow_type)
    if isinstance(kind, NUMBERS_AND_DAYS):
        return lambda values: _as_text(values).cast(arrow_type)
    if isinstance(kind, NESTED):
        return _nested(kind, arrow_type)
    raise BadOption(
        f"schema: column {field.name!r}: {kind.simpleString()} cannot be read from text; declare it as string"
    )


def typed(values: pa.Array, cast: Cast, arrow_type: pa.DataType, on_bad: Callable[[int], None]) -> pa.Array:
    """Return the values, cast. A value that cannot be cast is passed to `on_bad` by its place, and becomes
    null.

    O(n), and O(log n) more casts for each bad value.
    """
    try:
        return cast(values)
    except _BAD:
        if len(values) == 1:
            on_bad(0)
            return pa.nulls(1, arrow_type)
    middle = len(values) // 2
    before = typed(values[:middle], cast, arrow_type, on_bad)
    behind = typed(values[middle:], cast, arrow_type, lambda place: on_bad(middle + place))
    return pa.concat_arrays([before, behind])


def _as_text(values: pa.Array) -> pa.Array:
    """View bytes as a string, without checking them: like Spark, this keeps bytes that are not UTF-8."""
    return values.view(pa.string())


def _with_zone(texts: pa.Array) -> pa.Array:
    """Append the zone UTC to times without a zone. A date alone becomes midnight in UTC."""
    texts = pc.if_else(pc.match_substring_regex(texts, _IS_DAY), _joined(texts, "T00:00:00"), texts)
    return pc.if_else(pc.match_substring_regex(texts, _HAS_ZONE), texts, _joined(texts, "Z"))


def _joined(texts: pa.Array, ending: str) -> pa.Array:
    return pc.binary_join_element_wise(texts, ending, "")


def _nested(kind: T.DataType, arrow_type: pa.DataType) -> Cast:
    read = json_reader(kind)
    return lambda values: pa.array(
        [None if text is None else read(text) for text in values.to_pylist()], arrow_type
    )
