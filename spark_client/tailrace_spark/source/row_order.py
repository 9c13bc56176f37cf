"""Order the rows of one partition by their ids in its task, for the data source's writer, which cannot order
them before. Rows are kept in memory to sort them. This module never moves a row to another partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext

from tailrace_spark.errors import SinkError
from tailrace_spark.sink.entry_form import EntryForm
from tailrace_spark.sink.row_lines import checked_ids


def ordered(batches: Iterable[pa.RecordBatch], form: EntryForm) -> Iterable[pa.RecordBatch]:
    """Return the rows in the order in which they are written: as they arrive, or by their ids if the ids are
    kept."""
    return batches if form.id is None else _by_id(batches, form.id)


def _by_id(batches: Iterable[pa.RecordBatch], number: int) -> Iterator[pa.RecordBatch]:
    held = [batch for batch in batches if batch.num_rows]
    if not held:
        return
    table = pa.concat_batches(held)
    context = TaskContext.get()
    if context is not None and context.partitionId() > 0:
        raise SinkError(
            "keepIds: the rows are in several partitions, which are written at the same time and so in any "
            "order. Use repartition(1) before the write"
        )
    parts = pc.split_pattern(checked_ids(table.column(number)), "-")
    keys = pa.table([pc.list_element(parts, place).cast(pa.uint64()) for place in (0, 1)], ["time", "number"])
    order = [(name, "ascending") for name in keys.column_names]
    yield table.take(pc.sort_indices(keys, sort_keys=order))
