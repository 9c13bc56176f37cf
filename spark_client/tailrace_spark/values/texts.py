"""Write values as text, one Arrow column at a time: the casting rule from values to text."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import types as T  # noqa: N812 - as all of Spark's documentation has it

from tailrace_spark.values.json_texts import json_texts
from tailrace_spark.values.leaves import leaf_texts
from tailrace_spark.values.types import NESTED


def texts_of(column: pa.Array, kind: T.DataType) -> pa.Array:
    """Return the text of each value, as a string column; null stays null. A binary column is returned as it
    is. `kind`: the column's type in Spark; `check_types` accepts it. O(bytes)."""
    if isinstance(kind, T.BinaryType):
        return column.cast(pa.binary())
    if isinstance(kind, NESTED):
        return json_texts(column, kind).view(pa.string())
    return leaf_texts(column, kind).view(pa.string())
