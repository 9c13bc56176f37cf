"""The sink for `foreachBatch`: it appends each row of a micro-batch to a stream exactly once.

How it works. In each task, rows become lines, lines become chunks, and each chunk is staged where no reader
of the stream sees it. When all tasks have returned, the driver commits the batch: it stores which chunks
count, once for each query and batch, and publishes them (`commit`).

What can go wrong, and what happens then:

* A task fails, runs twice, or loses a response: its chunks are staged again. Only the attempt whose result
  Spark returns to the driver counts.
* The driver dies before the commit: the replay stages the batch again, whatever its rows are.
* The driver dies in or after the commit: the replay publishes the rest of the chunks that count, and drops
  its own rows.
* The server is unavailable: requests are retried until their deadline, then the batch fails.
* The server refuses a row: the row goes to the dead-letter stream, or the batch fails if there is none.

With `commit="chunk"` there is one step: tasks append their chunks at once.

Two writes of one batch would share their idempotency keys, if a query writes two DataFrames to one stream
with the same producer. The server would take the second one for a replay of the first one: it drops the
chunks that are equal and refuses the others. The sink finds that before it sends anything. It remembers only
writes of its own process. A restarted query has another session, so its replay of a batch does not count as a
second write; a second call with the same DataFrame does not count either.

The sink never collects rows on the driver. The server decides what an append means.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Final
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's documentation has it
from pyspark.sql.streaming.listener import StreamingQueryProgress

from tailrace_spark.endpoint import Endpoint, TokenSource, urls_of
from tailrace_spark.errors import BadOption, headed_by_sentence
from tailrace_spark.option_checks import check_classic, text
from tailrace_spark.sink.appender import check_count
from tailrace_spark.sink.commit import BEGUN, Batch, Commit
from tailrace_spark.sink.entry_form import ID, entry_form
from tailrace_spark.sink.options import sink_options
from tailrace_spark.sink.partition_writer import Job, whole, write_partition
from tailrace_spark.sink.reports import (
    REPORT_SCHEMA,
    BatchReport,
    PartitionCounts,
    SinkProgressListener,
    added_up,
    staged_in,
)
from tailrace_spark.sink.sender import QUERY_ID

REPORTS_KEPT: Final = 100
U64: Final = "decimal(20,0)"
"""The type that can contain the time and the sequence number of any id."""

log: Final = logging.getLogger(__name__)


class TailraceSink:
    """A sink: pass it to `foreachBatch`, or call it with any DataFrame and a number that rises from batch to
    batch.

    `url`: one URL, or several of servers that serve the same streams. `stream`: the stream to append to; None
    only with `stream_column`. `options`: the fields of `SinkOptions`. Raises `BadOption` here, and
    `SinkError` (inside Spark's own exception) from a batch. `reports`: the reports of the last batches, by
    query id and batch id.
    """

    def __init__(
        self, url: str | Sequence[str], stream: str | None, token: str | None = None, **options: object
    ) -> None:
        self._options = sink_options(options)
        if stream is None and self._options.stream_column is None:
            raise BadOption("stream: it is None; pass the name of a stream, or set `stream_column`")
        self._stream = None if stream is None else text("stream", stream)
        source = TokenSource(token, self._options.token_env, self._options.token_file)
        self._endpoint = Endpoint(urls_of(url), source, self._options.timeout_s, self._options.ca_file)
        self.reports: OrderedDict[tuple[str, int], BatchReport] = OrderedDict()

    def __repr__(self) -> str:
        return f"TailraceSink({','.join(self._endpoint.urls)}, {self._stream!r})"

    @headed_by_sentence
    def __call__(self, frame: DataFrame, batch_id: int) -> None:
        """Write one complete batch. Repeated calls with the same batch add nothing."""
        self.write(frame, batch_id)

    def write(self, frame: DataFrame, batch_id: int) -> BatchReport:
        """Write one complete batch like a call of the sink, and return its report."""
        began_s = time.monotonic()
        check_classic(
            frame.sparkSession, "TailraceSink", 'write with format("tailrace"), which sends the same requests'
        )
        producer_id = self._producer_id(frame)
        self._claim(frame, batch_id, producer_id)
        form = entry_form(frame.schema, self._options)
        job = Job(self._endpoint, self._stream, form, self._options, producer_id, batch_id)
        rows = frame.repartition(1).sortWithinPartitions(*id_order()) if self._options.keep_ids else frame
        partitions: int | None
        if self._options.commit == "chunk":
            partitions, counts = _appended(rows, job)
        else:
            batch = Batch(producer_id, batch_id, _query_id(frame) or "", uuid4().hex)
            partitions, counts = _committed(
                Commit(self._endpoint, self._options, self._stream, batch), rows, job
            )
        duration_s = time.monotonic() - began_s
        return self._keep(
            BatchReport(producer_id, batch_id, partitions or 0, counts, duration_s, partitions is None)
        )

    def progress_listener(
        self, on_batch: Callable[[StreamingQueryProgress, BatchReport], None]
    ) -> SinkProgressListener:
        """Return a listener for `spark.streams.addListener`, which calls `on_batch` with Spark's progress and
        the sink's report of each batch."""
        return SinkProgressListener(
            lambda query_id, batch_id: self.reports.get((query_id, batch_id)), on_batch
        )

    def _producer_id(self, frame: DataFrame) -> str:
        found = self._options.producer_id or _query_id(frame)
        if found is None:
            raise BadOption(
                "producer_id: it is not set, and outside a streaming query there is no query id; set it"
            )
        return found

    def _claim(self, frame: DataFrame, batch_id: int, producer_id: str) -> None:
        """Raise `BadOption` if this batch of a streaming query already wrote another DataFrame with the same
        keys."""
        if _query_id(frame) is not None:
            claim(Claim(self._endpoint.urls, self._stream, producer_id), frame, batch_id)

    def _keep(self, report: BatchReport) -> BatchReport:
        log.info("%s", report)
        self.reports[report.query_id, report.batch_id] = report
        while len(self.reports) > REPORTS_KEPT:
            self.reports.popitem(last=False)
        return report


def _query_id(frame: DataFrame) -> str | None:
    return frame.sparkSession.sparkContext.getLocalProperty(QUERY_ID)


def _committed(commit: Commit, frame: DataFrame, job: Job) -> tuple[int | None, PartitionCounts]:
    """Stage and commit the batch. Returns the number of partitions, None if an earlier run had committed the
    batch, and the counts."""
    state = commit.begin()
    if state.state != BEGUN:
        counts = commit.finish(state)
        if _query_id(frame) is not None:
            # Operators with state commit it when all rows are read; otherwise Spark fails the batch.
            frame.write.format("noop").mode("overwrite").save()
        return None, counts
    rows = _run(frame, job)
    retries = added_up(rows).retries
    counts = commit.finish(commit.choose({state.id}, staged_in(rows), job.shape))
    return len(rows), replace(counts, retries=counts.retries + retries)


def _appended(frame: DataFrame, job: Job) -> tuple[int, PartitionCounts]:
    rows = _run(frame, job)
    counts = added_up(rows)
    check_count(counts.dead_letters, job.options.dead_letters_max)
    return len(rows), counts


def _run(frame: DataFrame, job: Job) -> list[Row]:
    return numbered(frame).mapInArrow(_task(job), REPORT_SCHEMA).collect()


def _task(job: Job) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def write_to_tailrace(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield write_partition(job, whole(batches))

    return write_to_tailrace


# --- columns ---------------------------------------------------------------------------------------------


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


# --- two writes of one batch ------------------------------------------------------------------------------


CLAIMS_KEPT: Final = 1_000
"""More streams than one process writes to at a time."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What the idempotency keys of a batch depend on, apart from the rows. `stream`: None if each row names
    its stream."""

    urls: Sequence[str]
    stream: str | None
    producer_id: str


@dataclass(frozen=True, slots=True)
class _Written:
    """The batch that was written last. `run`: the session that a query has from its start to its end.
    `rows`: a number that is equal for DataFrames with the same plan."""

    run: str
    batch_id: int
    rows: int


_last: Final[OrderedDict[Claim, _Written]] = OrderedDict()
_lock: Final = Lock()


def claim(keys: Claim, frame: DataFrame, batch_id: int) -> None:
    """Note that this batch of a query writes `frame`. Raises `BadOption` if the same batch already wrote
    another DataFrame with the same keys."""
    session = frame.sparkSession._jsparkSession  # noqa: SLF001 - Python has no other name for it
    written = _Written(session.sessionUUID(), batch_id, frame.semanticHash())
    with _lock:
        before = _last.get(keys)
        if before is not None and _is_another_write(before, written):
            raise BadOption(
                f"producer_id: batch {batch_id} writes two DataFrames to the stream {keys.stream!r} as one "
                f"producer, {keys.producer_id}. Give each of these writes a sink with its own producer_id; "
                "the server would take the second write for a replay of the first one"
            )
        _last[keys] = written
        _last.move_to_end(keys)
        while len(_last) > CLAIMS_KEPT:
            _last.popitem(last=False)


def _is_another_write(before: _Written, now: _Written) -> bool:
    return (before.run, before.batch_id) == (now.run, now.batch_id) and before.rows != now.rows
