"""Order the rows of one partition in its task, for the data source's writer, which cannot order them before.

Rows are kept in memory to sort them. The order depends only on their values, so a retried task sends the same
chunks. This module never moves a row to another partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql import types as T  # noqa: N812 - as all of Spark's documentation has it

from tailrace_spark.errors import SinkError
from tailrace_spark.sink.entry_form import EntryForm
from tailrace_spark.sink.row_lines import checked_ids
from tailrace_spark.values.texts import texts_of

SORTED_AS_THEY_ARE: Final = (
    T.BinaryType,
    T.DateType,
    T.IntegralType,
    T.StringType,
    T.TimestampNTZType,
    T.TimestampType,
)
"""The types whose values differ for Arrow's sort if their texts differ. Other types are sorted by text."""


def ordered(
    batches: Iterable[pa.RecordBatch], form: EntryForm, *, is_sorted: bool
) -> Iterable[pa.RecordBatch]:
    """Return the rows in the order in which they are written: as they arrive, by their values, or by their
    ids if the ids are kept."""
    if form.id is not None:
        return _by_id(batches, form.id)
    return _by_values(batches, form.schema) if is_sorted else batches


def _by_values(batches: Iterable[pa.RecordBatch], schema: T.StructType) -> Iterator[pa.RecordBatch]:
    table = _held(batches)
    if table is None:
        return
    keys = [
        column if isinstance(field.dataType, SORTED_AS_THEY_ARE) else texts_of(column, field.dataType)
        for column, field in zip(table.columns, schema, strict=True)
    ]
    yield table.take(_order(keys))


def _by_id(batches: Iterable[pa.RecordBatch], number: int) -> Iterator[pa.RecordBatch]:
    table = _held(batches)
    if table is None:
        return
    context = TaskContext.get()
    if context is not None and context.partitionId() > 0:
        raise SinkError(
            "keepIds: the rows are in several partitions, which are written at the same time and so in any "
            "order. Use repartition(1) before the write. Rows of the first partition may be written already"
        )
    parts = pc.split_pattern(checked_ids(table.column(number)), "-")
    yield table.take(_order([pc.list_element(parts, place).cast(pa.uint64()) for place in (0, 1)]))


def _held(batches: Iterable[pa.RecordBatch]) -> pa.RecordBatch | None:
    """Return all rows as one batch; None if there are none."""
    held = [batch for batch in batches if batch.num_rows]
    return pa.concat_batches(held) if held else None


def _order(keys: list[pa.Array]) -> pa.Array:
    table = pa.table(keys, names=[str(number) for number in range(len(keys))])
    return pc.sort_indices(table, sort_keys=[(name, "ascending") for name in table.column_names])
