"""Write through `format("tailrace")`: the sink's chunks, keys and dead letters, from Spark's data source
writer.

How it works. Spark passes each task its partition in Arrow. The task makes the columns castable and passes
them to the sink's partition writer: each chunk is one request with the key (producer, epoch, partition,
chunk). A streaming write takes the query id and batch id from Spark. A batch write creates a producer of its
own, so that tasks that are retried or run twice add nothing twice. A task that fails for good reports that in
its message, and the driver fails the write: if the task raised, Spark would try it again at once, with the
same result.

What the sink can do and this writer cannot: run code on the driver before the tasks start. So the number of
partitions is unknown here, and so is whether a shuffle changed the order of rows. A replayed batch must
therefore have the same partitions as before, and the user must set `order`. The server refuses a chunk that
is sent again with other rows.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql import types as T  # noqa: N812 - as all of Spark's documentation has it
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from tailrace_spark.errors import BadOption, sentence_first
from tailrace_spark.sink.dead_letters import check_count
from tailrace_spark.sink.input_check import whole
from tailrace_spark.sink.layout import layout_of
from tailrace_spark.sink.partition_writer import Job, write_partition
from tailrace_spark.sink.reports import added_up
from tailrace_spark.sink.sender import QUERY_ID, Replay
from tailrace_spark.source.nested_json import json_texts
from tailrace_spark.source.options import WriteOptions

BATCH_ID: Final = "streaming.sql.batchId"

log: Final = logging.getLogger(__name__)


@dataclass
class Written(WriterCommitMessage):
    """The report of one partition, as the sink's tasks return it: counts, and the failure if there was
    one."""

    report: dict[str, Any]


@sentence_first
class TailraceWriter(DataSourceArrowWriter):
    """The writer of a batch query. It appends each row once."""

    def __init__(self, options: WriteOptions, schema: T.StructType, *, overwrite: bool) -> None:
        _check(options, schema, overwrite=overwrite)
        self._options = options
        self._columns = schema.names
        producer_id = options.sink.producer_id or uuid4().hex
        self._replay = Replay(producer_id, options.batch_id, _layout_of(options, schema))

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Write one partition, in a task."""
        return _written(self._options, self._columns, self._replay, iterator)

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Check the reports of all tasks, on the driver."""
        _check_messages(self._options, messages)


@sentence_first
class TailraceStreamWriter(DataSourceStreamArrowWriter):
    """The writer of a streaming query. It writes each batch once, even if Spark replays the batch."""

    def __init__(self, options: WriteOptions, schema: T.StructType, *, overwrite: bool) -> None:
        _check(options, schema, overwrite=overwrite)
        self._options = options
        self._columns = schema.names
        self._layout = _layout_of(options, schema)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Write one partition, in a task, which knows its query and batch."""
        producer_id = self._options.sink.producer_id or _local_property(QUERY_ID)
        replay = Replay(producer_id, int(_local_property(BATCH_ID)), self._layout)
        return _written(self._options, self._columns, replay, iterator)

    def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: ARG002, N803
        """Check the reports of all tasks of a batch, on the driver."""
        _check_messages(self._options, messages)


def castable(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the batch with nested values as JSON and decimals with all digits. `lines` casts the other
    types."""
    return pa.RecordBatch.from_arrays(
        [_castable(column) for column in batch.columns], names=batch.schema.names
    )


def _castable(column: pa.Array) -> pa.Array:
    if pa.types.is_nested(column.type):
        return json_texts(column)
    if pa.types.is_decimal(column.type):
        texts = [None if value is None else format(value, "f") for value in column.to_pylist()]
        return pa.array(texts, pa.string())
    return column


def _layout_of(options: WriteOptions, schema: T.StructType) -> str:
    return layout_of(options.sink, "sorted" if options.is_sorted else "source", schema)


def _written(
    options: WriteOptions, columns: Sequence[str], replay: Replay, batches: Iterable[pa.RecordBatch]
) -> Written:
    job = Job(options.endpoint, options.stream, columns, options.sink, replay)
    ready = map(castable, whole(batches))
    return Written(write_partition(job, _sorted(ready) if options.is_sorted else ready).to_pylist()[0])


def _sorted(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield all rows of the partition in an order that depends only on their values. Keeps all rows in
    memory."""
    held = list(batches)
    if not held:
        return
    table = pa.Table.from_batches(held).combine_chunks()
    keys = pa.table(
        [
            column.cast(pa.string()) if pa.types.is_floating(column.type) else column
            for column in table.columns
        ],
        names=[str(n) for n in range(table.num_columns)],
    )
    order = pc.sort_indices(keys, sort_keys=[(name, "ascending") for name in keys.column_names])
    yield from table.take(order).combine_chunks().to_batches()


def _check(options: WriteOptions, schema: T.StructType, *, overwrite: bool) -> None:
    if overwrite:
        raise BadOption(
            "mode: 'overwrite' (or the output mode 'complete') would delete the stream; use 'append'"
        )
    if len(set(schema.names)) < len(schema.names):
        raise BadOption(
            f"a name occurs twice among the columns {', '.join(schema.names)}; rename one of them"
        )
    for field in schema:
        if isinstance(field.dataType, _REFUSED):
            raise BadOption(
                f"column {field.name!r}: {field.dataType.simpleString()} cannot be written; cast it to "
                "a string"
            )
    routing = options.sink.stream_column
    if routing is not None and not (
        routing in schema.names and isinstance(schema[routing].dataType, T.StringType)
    ):
        raise BadOption(
            f"streamColumn: {routing!r} is not a string column; the columns are {', '.join(schema.names)}"
        )


_REFUSED: Final = (T.DayTimeIntervalType, T.YearMonthIntervalType, T.CalendarIntervalType, T.VariantType)


def _check_messages(options: WriteOptions, messages: Sequence[WriterCommitMessage | None]) -> None:
    """Raise `SinkError` if a partition was not written completely."""
    counts = added_up([message.report for message in messages if isinstance(message, Written)])
    check_count(counts.dead_letters, options.sink.dead_letters_max)
    log.info("%s", counts)


def _local_property(name: str) -> str:
    context = TaskContext.get()
    found = None if context is None else context.getLocalProperty(name)
    assert found is not None, f"{name} is not set in this task"
    return found
