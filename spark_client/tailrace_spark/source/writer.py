"""Write through `format("tailrace")`: the sink's chunks, commit and dead letters, from Spark's data source
writer.

How it works. Spark passes each task its partition in Arrow. The task stages it as the sink's tasks do, and
the driver commits the batch in `commit` (`sink.commit`). A streaming write takes the query id and batch id
from Spark. A batch write without a producer of its own is one batch of a producer that nothing else uses.

What the sink can do and this writer cannot: run code on the driver before the tasks start. So each task
begins the batch, and gets the same token as the others. If it does not, another run took over in between, and
the batch is not committed. A task that fails for good reports that in its message, and the driver fails the
write: if the task raised, Spark would try it again at once, with the same result.
"""

from __future__ import annotations

import logging
from collections import deque
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

from tailrace_spark.errors import BadOption, SinkError, sentence_first
from tailrace_spark.sink.appender import check_count
from tailrace_spark.sink.commit import BEGUN, Batch, Commit, State
from tailrace_spark.sink.entry_form import EntryForm, entry_form
from tailrace_spark.sink.lines import checked_ids
from tailrace_spark.sink.partition_writer import Job, whole, write_partition
from tailrace_spark.sink.reports import FAILURE, added_up, staged_in
from tailrace_spark.sink.sender import QUERY_ID, Shape
from tailrace_spark.source.options import WriteOptions

BATCH_ID: Final = "streaming.sql.batchId"

log: Final = logging.getLogger(__name__)


@dataclass
class Written(WriterCommitMessage):
    """The result of one task. `begun`: the state under which it staged, with the token; or the state of a
    batch that is committed already, and then the task dropped its rows. None with `commit=chunk`. `report`:
    the row that a task of the sink returns."""

    batch: Batch
    shape: Shape
    begun: State | None
    report: dict[str, Any] | None = None


@sentence_first
class TailraceWriter(DataSourceArrowWriter):
    """The writer of a batch query. It appends each row once."""

    def __init__(self, options: WriteOptions, schema: T.StructType, *, overwrite: bool) -> None:
        _refuse_overwriting(overwrite=overwrite)
        if options.sink.producer_id is not None and options.batch_id is None:
            raise BadOption(
                "producerId: set batchId as well; it must rise from write to write, because a batch that is "
                "written already is not written again"
            )
        self._options = options
        self._form = entry_form(schema, options.sink)
        self._is_only_one = options.sink.producer_id is None
        self._batch = Batch(options.sink.producer_id or uuid4().hex, options.batch_id or 0, "", uuid4().hex)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Write one partition, in a task."""
        return _written(self._options, self._form, self._batch, iterator)

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Commit the batch on the driver."""
        _commit(self._options, messages)
        self._clean()

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:  # noqa: ARG002 - Spark's parameter
        """Remove what the tasks of a failed write staged, if no replay of it is possible."""
        self._clean()

    def _clean(self) -> None:
        if self._is_only_one and self._options.sink.commit == "batch":
            _commit_of(self._options, self._batch).remove()


@sentence_first
class TailraceStreamWriter(DataSourceStreamArrowWriter):
    """The writer of a streaming query. It writes each batch once, whatever a replay of the batch is."""

    def __init__(self, options: WriteOptions, schema: T.StructType, *, overwrite: bool) -> None:
        _refuse_overwriting(overwrite=overwrite)
        self._options = options
        self._form = entry_form(schema, options.sink)
        # Spark creates the writer on the driver and sends it to the tasks, so all tasks of a batch share it.
        # A run that replays the batch has a writer of its own.
        self._run = uuid4().hex

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Write one partition, in a task. Spark passes the ids of the query and the batch to the task."""
        query_id = _local_property(QUERY_ID)
        producer_id = self._options.sink.producer_id or query_id
        batch = Batch(producer_id, int(_local_property(BATCH_ID)), query_id, self._run)
        return _written(self._options, self._form, batch, iterator)

    def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: ARG002, N803
        """Commit the batch on the driver."""
        _commit(self._options, messages)


def _commit_of(options: WriteOptions, batch: Batch) -> Commit:
    return Commit(options.endpoint, options.sink, options.stream, batch)


def _written(
    options: WriteOptions, form: EntryForm, batch: Batch, batches: Iterator[pa.RecordBatch]
) -> Written:
    job = Job(options.endpoint, options.stream, form, options.sink, batch.producer_id, batch.number)
    written = Written(batch, job.shape, None)
    if options.sink.commit == "batch":
        try:
            written.begun = _commit_of(options, batch).begin()
        except (SinkError, BadOption) as error:
            written.report = {FAILURE: str(error)}
            return written
        if written.begun.state != BEGUN:
            # Operators with state commit it when all rows are read; otherwise Spark fails the batch.
            deque(batches, maxlen=0)
            return written
    written.report = write_partition(job, ordered(whole(batches), form)).to_pylist()[0]
    return written


def _refuse_overwriting(*, overwrite: bool) -> None:
    if overwrite:
        raise BadOption(
            "mode: 'overwrite' (or the output mode 'complete') would delete the stream; use 'append'"
        )


def _commit(options: WriteOptions, messages: Sequence[WriterCommitMessage | None]) -> None:
    """Commit the batch. Raises `SinkError` if a partition was not staged completely."""
    written = [message for message in messages if isinstance(message, Written)]
    if not written:
        return
    reports = [each.report for each in written if each.report is not None]
    counts = added_up(reports)
    if options.sink.commit == "chunk":
        check_count(counts.dead_letters, options.sink.dead_letters_max)
        log.info("%s", counts)
        return
    commit = _commit_of(options, written[0].batch)
    tokens = {each.begun.id for each in written if each.begun is not None and each.begun.state == BEGUN}
    log.info("%s", commit.finish(commit.choose(tokens, staged_in(reports), written[0].shape)))


def _local_property(name: str) -> str:
    context = TaskContext.get()
    found = None if context is None else context.getLocalProperty(name)
    assert found is not None, f"{name} is not set in this task"
    return found


# --- the order of rows whose ids are kept ------------------------------------------------------------------


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
