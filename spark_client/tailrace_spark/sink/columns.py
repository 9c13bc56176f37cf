"""Prepare the columns of a DataFrame on the driver: their names, and the order of ids that are kept.

Values become text in the tasks (`values.texts`). Only ids to sort by are converted by Spark itself.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's documentation has it

from tailrace_spark.sink.entry_form import ID

U64: Final = "decimal(20,0)"
"""The type that can contain the time and the sequence number of any id."""


def named(name: str) -> Column:
    """Return the column with exactly this name, whatever characters it contains."""
    return F.col(f"`{name.replace('`', '``')}`")


def numbered(frame: DataFrame) -> DataFrame:
    """Return `frame` with numbers as column names, because Spark's `mapInArrow` accepts no names with dots or
    backticks."""
    return frame.select(*[named(name).alias(str(number)) for number, name in enumerate(frame.columns)])


def id_order() -> list[Column]:
    """Return columns to sort by that have the order of the ids: by time, then by sequence number, both as
    numbers."""
    parts = F.split(named(ID), "-")
    return [F.try_element_at(parts, F.lit(place)).try_cast(U64) for place in (1, 2)]
