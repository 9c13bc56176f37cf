"""Prepare the columns of a DataFrame on the driver: their names, and the columns to sort by.

Values become text in the tasks (`values.texts`). Only columns to sort by are converted by Spark itself.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's documentation has it
from pyspark.sql import types as T  # noqa: N812

from tailrace_spark.sink.entry_form import ID
from tailrace_spark.values.types import NESTED

JSON_OPTIONS: Final = {
    "ignoreNullFields": "false",
    "timeZone": "UTC",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""Nested values are sorted by a text that contains their nulls and microseconds, in any session."""

ORDERED_BY_ALL_THEY_HOLD: Final = (
    T.BinaryType,
    T.BooleanType,
    T.DateType,
    T.DayTimeIntervalType,
    T.DecimalType,
    T.IntegralType,
    T.TimestampNTZType,
    T.TimestampType,
    T.TimeType,
)
U64: Final = "decimal(20,0)"
"""The type that can contain the time and the sequence number of any id."""


def named(name: str) -> Column:
    """Return the column with exactly this name, whatever characters it contains."""
    return F.col(f"`{name.replace('`', '``')}`")


def numbered(frame: DataFrame) -> DataFrame:
    """Return `frame` with numbers as column names, because Spark's `mapInArrow` accepts no names with dots or
    backticks."""
    return frame.select(*[named(name).alias(str(number)) for number, name in enumerate(frame.columns)])


def exact_order(frame: DataFrame) -> list[Column]:
    """Return columns to sort by; only rows with the same text compare equal.

    Floats (0.0 and -0.0), collated strings and nested values can compare equal although their texts differ,
    or cannot be compared. Such columns are sorted by their texts.
    """
    return [_exactly_ordered(field) for field in frame.schema]


def id_order() -> list[Column]:
    """Return columns to sort by that have the order of the ids: by time, then by sequence number, both as
    numbers."""
    parts = F.split(named(ID), "-")
    return [F.try_element_at(parts, F.lit(place)).try_cast(U64) for place in (1, 2)]


def _exactly_ordered(field: T.StructField) -> Column:
    column, kind = named(field.name), field.dataType
    if isinstance(kind, ORDERED_BY_ALL_THEY_HOLD):
        return column
    text = F.to_json(column, JSON_OPTIONS) if isinstance(kind, NESTED) else column.cast("string")
    return text.cast("binary")
