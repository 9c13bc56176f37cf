"""Convert the columns of a DataFrame to columns that `lines` can write: the part of the casting rule that
runs on the driver.

This module owns the casts that Spark performs in its own generated code, and decides which columns are bytes.
`lines` casts the other types (numbers, booleans, dates, timestamps), one column at a time. docs/spark.md
contains the complete rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's documentation has it
from pyspark.sql import types as T  # noqa: N812

from tailrace_spark.errors import BadOption

JSON_OPTIONS: Final = {
    "ignoreNullFields": "false",
    "timeZone": "UTC",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""Nested values keep their nulls and microseconds, and have the same text in every session."""

NESTED: Final = (T.ArrayType, T.MapType, T.StructType, T.VariantType)
CAST_IN_ARROW: Final = (
    T.BinaryType,
    T.BooleanType,
    T.DateType,
    T.FractionalType,
    T.IntegralType,
    T.StringType,
    T.TimestampNTZType,
    T.TimestampType,
)
ORDERED_BY_ALL_THEY_HOLD: Final = (
    T.BinaryType,
    T.BooleanType,
    T.DateType,
    T.DecimalType,
    T.IntegralType,
    T.TimestampNTZType,
    T.TimestampType,
)


def named(name: str) -> Column:
    """Return the column with exactly this name, whatever characters it contains."""
    return F.col(f"`{name.replace('`', '``')}`")


def castable(frame: DataFrame) -> DataFrame:
    """Return `frame` with each column as a string, as bytes, or in a type that Arrow casts. Raises
    `BadOption`.

    The columns are named by numbers, because Spark's `mapInArrow` accepts no names with dots or backticks.
    """
    _refuse_repeated(frame.columns)
    columns = [_castable(field).alias(str(number)) for number, field in enumerate(frame.schema)]
    return frame.select(*columns)


def exact_order(frame: DataFrame) -> list[Column]:
    """Return columns to sort by; only rows with the same text compare equal.

    Floats (0.0 and -0.0), collated strings and nested values can compare equal although their texts differ,
    or cannot be compared. Such columns are sorted by their texts.
    """
    return [_exactly_ordered(field) for field in frame.schema]


def _castable(field: T.StructField) -> Column:
    column, kind = named(field.name), field.dataType
    if isinstance(kind, NESTED):
        return F.to_json(column, JSON_OPTIONS)
    if isinstance(kind, T.DecimalType) or not isinstance(kind, CAST_IN_ARROW):
        return column.cast("string")
    return column


def _exactly_ordered(field: T.StructField) -> Column:
    if isinstance(field.dataType, ORDERED_BY_ALL_THEY_HOLD):
        return named(field.name)
    return _castable(field).cast("string").cast("binary")


def _refuse_repeated(names: Sequence[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise BadOption(f"the column {repeated[0]!r} occurs twice in the DataFrame; rename one of them")
