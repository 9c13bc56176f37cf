"""Writing through `format("tailrace")`: the sink's chunks, keys and dead letters, from inside Spark's writer.

How it works. Each task is given its partition in Arrow, makes its columns castable there, and hands them to
the sink's partition writer: each chunk is a request under the key (producer, epoch, partition, chunk). A
streaming write takes query and batch from Spark, a batch write makes up a producer of its own, so that tasks
that are retried or run twice add nothing twice. A task that cannot go on says so in its message, and the
driver fails the write: Spark would try the task again at once, into the same.

What it cannot do that the sink does: here no code runs on the driver before the tasks. Nobody knows how many
partitions there are, or whether a shuffle brought the rows in another order; so a replayed batch must have
the partitions that it had, and `order` must be said. A chunk that comes back with other rows is refused.
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

from tailrace_spark.errors import BadOption
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
    """A partition's report, as the sink's tasks give it: counts, and why it failed, if it did."""

    report: dict[str, Any]


class TailraceWriter(DataSourceArrowWriter):
    """A batch write: appended, each row once."""

    def __init__(self, options: WriteOptions, schema: T.StructType, *, overwrite: bool) -> None:
        _check(options, schema, overwrite=overwrite)
        self._options = options
        self._columns = schema.names
        producer_id = options.sink.producer_id or uuid4().hex
        self._replay = Replay(producer_id, options.batch_id, _layout_of(options, schema))

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """In a task."""
        return _written(self._options, self._columns, self._replay, iterator)

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """On the driver, when all tasks have ended."""
        _check_messages(self._options, messages)


class TailraceStreamWriter(DataSourceStreamArrowWriter):
    """A streaming write: each batch once, replayed or not."""

    def __init__(self, options: WriteOptions, schema: T.StructType, *, overwrite: bool) -> None:
        _check(options, schema, overwrite=overwrite)
        self._options = options
        self._columns = schema.names
        self._layout = _layout_of(options, schema)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """In a task, which knows its query and batch."""
        producer_id = self._options.sink.producer_id or _local_property(QUERY_ID)
        replay = Replay(producer_id, int(_local_property(BATCH_ID)), self._layout)
        return _written(self._options, self._columns, replay, iterator)

    def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: ARG002, N803
        """On the driver, when all tasks of a batch have ended."""
        _check_messages(self._options, messages)


def castable(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with nested values as JSON and decimals with all digits; the rest is cast by `lines`."""
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
    """All rows of the partition, in an order that depends on nothing but their values. Holds them all."""
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
            "mode: a stream is appended to; 'overwrite' (or the output mode 'complete') would delete it"
        )
    if len(set(schema.names)) < len(schema.names):
        raise BadOption(
            f"a column stands twice among {', '.join(schema.names)}: an entry's names must differ"
        )
    for field in schema:
        if isinstance(field.dataType, _REFUSED):
            raise BadOption(f"column {field.name!r}: cast {field.dataType.simpleString()} to a string first")
    routing = options.sink.stream_column
    if routing is not None and not (
        routing in schema.names and isinstance(schema[routing].dataType, T.StringType)
    ):
        raise BadOption(
            f"streamColumn: a string column {routing!r} is needed among {', '.join(schema.names)}"
        )


_REFUSED: Final = (T.DayTimeIntervalType, T.YearMonthIntervalType, T.CalendarIntervalType, T.VariantType)


def _check_messages(options: WriteOptions, messages: Sequence[WriterCommitMessage | None]) -> None:
    """Raise `SinkError` where a partition was not written whole."""
    counts = added_up([message.report for message in messages if isinstance(message, Written)])
    check_count(counts.dead_letters, options.sink.dead_letters_max)
    log.info("%s", counts)


def _local_property(name: str) -> str:
    context = TaskContext.get()
    found = None if context is None else context.getLocalProperty(name)
    assert found is not None, f"{name} is not set in this task"
    return found
