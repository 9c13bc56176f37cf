"""From text to a column's type: the rule that docs/spark.md states, the sink's read backwards.

Numbers, booleans, dates and times are cast in Arrow, a column at a time. Nested values are JSON, and pass
through Python objects. Text that the type cannot hold becomes null, or is an error that names the entry.
It knows nothing of streams.
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
"""What a cast raises for a value; Arrow's own errors are among them."""


def cast_to(field: T.StructField, arrow_type: pa.DataType) -> Cast:
    """How bytes become the column's type. Raises `BadOption` for a type that no text becomes."""
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
        f"schema: column {field.name!r}: no text becomes a {kind.simpleString()}; read it as string"
    )


def typed(values: pa.Array, cast: Cast, arrow_type: pa.DataType, on_bad: Callable[[int], None]) -> pa.Array:
    """The values, cast; null where that cannot be, after `on_bad` was told its place. O(n), and O(log n) for
    each bad value."""
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
    """Bytes as Spark holds text: not looked at, so that none are lost that are not UTF-8."""
    return values.view(pa.string())


def _with_zone(texts: pa.Array) -> pa.Array:
    """A time without a zone is one of UTC; a day alone is its midnight there."""
    texts = pc.if_else(pc.match_substring_regex(texts, _IS_DAY), _joined(texts, "T00:00:00"), texts)
    return pc.if_else(pc.match_substring_regex(texts, _HAS_ZONE), texts, _joined(texts, "Z"))


def _joined(texts: pa.Array, ending: str) -> pa.Array:
    return pc.binary_join_element_wise(texts, ending, "")


def _nested(kind: T.DataType, arrow_type: pa.DataType) -> Cast:
    read = json_reader(kind)
    return lambda values: pa.array(
        [None if text is None else read(text) for text in values.to_pylist()], arrow_type
    )
