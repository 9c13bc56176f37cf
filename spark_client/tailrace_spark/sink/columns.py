"""From a frame's columns to columns that `lines` can write: the casting rule, on the driver.

It owns what Spark itself casts, in its own generated code, and which columns are bytes. The rest (numbers,
booleans, dates, timestamps) is cast by `lines`, a column at a time. The whole rule stands in docs/spark.md.
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
"""Nested values keep their nulls and microseconds, and are written alike in every session."""

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
    """The column of that very name, whatever stands in it."""
    return F.col(f"`{name.replace('`', '``')}`")


def castable(frame: DataFrame) -> DataFrame:
    """`frame` with each column a string, bytes, or of a type that Arrow casts. Raises `BadOption`.

    Columns are numbered: Spark's `mapInArrow` cannot have names with dots or backticks.
    """
    _refuse_repeated(frame.columns)
    columns = [_castable(field).alias(str(number)) for number, field in enumerate(frame.schema)]
    return frame.select(*columns)


def exact_order(frame: DataFrame) -> list[Column]:
    """Columns to sort by, such that only rows that are written alike compare equal.

    Floats (0.0 and -0.0), collated strings and nested values compare equal where their texts differ, or do
    not compare at all: those are sorted by their texts.
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
        raise BadOption(f"the column {repeated[0]!r} stands in the frame twice: an entry's names must differ")
