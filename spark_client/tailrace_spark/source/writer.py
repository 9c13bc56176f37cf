"""Write through `format("tailrace")`: the sink's chunks, keys and dead letters, from Spark's data source
writer.

How it works. Spark passes each task its partition in Arrow. The task passes it to the sink's partition
writer, which converts values to text: each chunk is one request with the key (producer, epoch, partition,
chunk). A streaming write takes the query id and batch id from Spark. A batch write creates a producer of its
own, so that tasks that are retried or run twice add nothing twice. A task that fails for good reports that in
its message, and the driver fails the write: if the task raised, Spark would try it again at once, with the
same result.

What the sink can do and this writer cannot: run code on the driver before the tasks start. So the number of
partitions is unknown in the tasks, and so is whether a shuffle changed the order of rows. If an earlier run
began the batch, the tasks append nothing, and the driver compares what they found before it appends the rest
(`sink.replayed_batch`). After a shuffle, the user must set `order`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import types as T  # noqa: N812 - as all of Spark's documentation has it
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from tailrace_spark.errors import BadOption, sentence_first
from tailrace_spark.sink.dead_letters import check_count
from tailrace_spark.sink.entry_form import EntryForm, entry_form
from tailrace_spark.sink.input_check import whole
from tailrace_spark.sink.layout import layout_of
from tailrace_spark.sink.partition_writer import Job, write_or_check
from tailrace_spark.sink.replayed_batch import finish
from tailrace_spark.sink.reports import added_up
from tailrace_spark.sink.run_sender import Checked
from tailrace_spark.sink.sender import QUERY_ID, Replay
from tailrace_spark.source.options import WriteOptions
from tailrace_spark.source.row_order import ordered

BATCH_ID: Final = "streaming.sql.batchId"

log: Final = logging.getLogger(__name__)


@dataclass
class Written(WriterCommitMessage):
    """The report of one partition, as the sink's tasks return it: counts, and the failure if there was one.
    `checked`: the traces of an earlier run that began the batch."""

    report: dict[str, Any]
    replay: Replay
    checked: Checked


@sentence_first
class TailraceWriter(DataSourceArrowWriter):
    """The writer of a batch query. It appends each row once."""

    def __init__(self, options: WriteOptions, schema: T.StructType, *, overwrite: bool) -> None:
        _refuse_overwriting(overwrite=overwrite)
        self._options = options
        self._form = entry_form(schema, options.sink)
        producer_id = options.sink.producer_id or uuid4().hex
        layout = _layout_of(options, schema)
        self._replay = Replay(producer_id, options.batch_id, layout, uuid4().hex)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Write one partition, in a task."""
        return _written(self._options, self._form, self._replay, iterator)

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Check the reports of all tasks on the driver, and finish what an earlier write began."""
        _finish(self._options, messages)


@sentence_first
class TailraceStreamWriter(DataSourceStreamArrowWriter):
    """The writer of a streaming query. It writes each batch once, even if Spark replays the batch."""

    def __init__(self, options: WriteOptions, schema: T.StructType, *, overwrite: bool) -> None:
        _refuse_overwriting(overwrite=overwrite)
        self._options = options
        self._form = entry_form(schema, options.sink)
        self._layout = _layout_of(options, schema)
        # Spark creates the writer on the driver and sends it to the tasks, so all tasks of a batch share it.
        # A run that replays the batch has a writer of its own.
        self._run = uuid4().hex

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Write one partition, in a task. Spark passes the ids of the query and the batch to the task."""
        producer_id = self._options.sink.producer_id or _local_property(QUERY_ID)
        replay = Replay(producer_id, int(_local_property(BATCH_ID)), self._layout, self._run)
        return _written(self._options, self._form, replay, iterator)

    def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: ARG002, N803
        """Check the reports of all tasks of a batch on the driver, and finish what an earlier run began."""
        _finish(self._options, messages)


def _layout_of(options: WriteOptions, schema: T.StructType) -> str:
    return layout_of(options.sink, "sorted" if options.is_sorted else "source", schema)


def _written(
    options: WriteOptions, form: EntryForm, replay: Replay, batches: Iterable[pa.RecordBatch]
) -> Written:
    job = Job(options.endpoint, options.stream, form, options.sink, replay)
    rows = ordered(whole(batches), form, is_sorted=options.is_sorted)
    report, checked = write_or_check(job, rows)
    return Written(report.to_pylist()[0], replay, checked)


def _refuse_overwriting(*, overwrite: bool) -> None:
    if overwrite:
        raise BadOption(
            "mode: 'overwrite' (or the output mode 'complete') would delete the stream; use 'append'"
        )


def _finish(options: WriteOptions, messages: Sequence[WriterCommitMessage | None]) -> None:
    """Raise `SinkError` if a partition was not written completely. Append what only the driver may append."""
    written = [message for message in messages if isinstance(message, Written)]
    counts = added_up([each.report for each in written])
    check_count(counts.dead_letters, options.sink.dead_letters_max)
    if written:
        finish(options.endpoint, options.sink, written[0].replay, [each.checked for each in written])
    log.info("%s", counts)


def _local_property(name: str) -> str:
    context = TaskContext.get()
    found = None if context is None else context.getLocalProperty(name)
    assert found is not None, f"{name} is not set in this task"
    return found
