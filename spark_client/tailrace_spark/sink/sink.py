"""The sink for `foreachBatch`: each micro-batch into a stream, each row once.

How it works. On the driver: columns are made castable, the batch's partitions and order are made such that
they come out alike each time, and how the batch is cut up gets a name, the layout. In each task: rows
become lines, lines become chunks, and each chunk is one request under the key (query, batch, partition,
chunk). The server remembers the keys of the last two batches of each query as durably as the entries.

What can go wrong, and what then holds:

* A task fails, runs twice, or an answer is lost: the same chunk comes again under the same key and adds
  nothing.
* The driver dies between write and commit: Spark gives the restarted query the same batch under the same
  number, and the same follows.
* The batch comes back cut otherwise (other partitions, chunks, columns): the layout differs, and the server
  refuses before it writes. The rows themselves differ: the server refuses the chunk.
* The server is away: requests are tried until their deadline, then the batch fails.
* A row cannot be taken: it goes to the dead-letter stream, or the batch fails where there is none.

It never collects rows on the driver, and leaves to the server what an append means.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.streaming.listener import StreamingQueryProgress

from tailrace_spark.endpoint import Endpoint, urls_of
from tailrace_spark.errors import BadOption
from tailrace_spark.option_checks import text
from tailrace_spark.sink.columns import castable
from tailrace_spark.sink.dead_letters import check_count
from tailrace_spark.sink.input_check import whole
from tailrace_spark.sink.options import sink_options
from tailrace_spark.sink.partition_writer import Job, write_partition
from tailrace_spark.sink.repeatable import fixed_partitions, repeatable
from tailrace_spark.sink.reports import REPORT_SCHEMA, BatchReport, SinkProgressListener, added_up
from tailrace_spark.sink.sender import QUERY_ID, Replay
from tailrace_spark.tokens import TokenSource

REPORTS_KEPT: Final = 100

log: Final = logging.getLogger(__name__)


class TailraceSink:
    """Give it to `foreachBatch`, or call it with any frame and a number that rises from batch to batch.

    `url`: one, or several before the same streams. `stream`: where rows go; None with `stream_column` only.
    `options` are those of `SinkOptions`. Raises `BadOption` here, `SinkError` (inside Spark's own) from a
    batch. `reports`: of the last batches, by query and batch.
    """

    def __init__(
        self, url: str | Sequence[str], stream: str | None, token: str | None = None, **options: object
    ) -> None:
        self._options = sink_options(options)
        if stream is None and self._options.stream_column is None:
            raise BadOption("stream: a name is needed, unless `stream_column` says where rows go")
        self._stream = None if stream is None else text("stream", stream)
        source = TokenSource(token, self._options.token_env, self._options.token_file)
        self._endpoint = Endpoint(urls_of(url), source, self._options.timeout_s, self._options.ca_file)
        self.reports: OrderedDict[tuple[str, int], BatchReport] = OrderedDict()

    def __repr__(self) -> str:
        return f"TailraceSink({','.join(self._endpoint.urls)}, {self._stream!r})"

    def __call__(self, frame: DataFrame, batch_id: int) -> None:
        """Write one batch, whole, and only once however often it is called with it."""
        self.write(frame, batch_id)

    def write(self, frame: DataFrame, batch_id: int) -> BatchReport:
        """As a call; what it came to."""
        began_s = time.monotonic()
        producer_id = self._producer_id(frame)
        self._check_columns(frame)
        with fixed_partitions(frame.sparkSession):
            ready = repeatable(frame, self._options)
            replay = Replay(producer_id, batch_id, ready.layout(self._options))
            job = Job(self._endpoint, self._stream, frame.columns, self._options, replay)
            counts = added_up(castable(ready.frame).mapInArrow(_task(job), REPORT_SCHEMA).collect())
        check_count(counts.dead_letters, self._options.dead_letters_max)
        duration_s = time.monotonic() - began_s
        return self._keep(BatchReport(producer_id, batch_id, ready.partitions, counts, duration_s))

    def progress_listener(
        self, on_batch: Callable[[StreamingQueryProgress, BatchReport], None]
    ) -> SinkProgressListener:
        """A listener for `spark.streams.addListener`: Spark's progress of a batch, with the sink's report
        of it."""
        return SinkProgressListener(
            lambda query_id, batch_id: self.reports.get((query_id, batch_id)), on_batch
        )

    def _producer_id(self, frame: DataFrame) -> str:
        query_id = frame.sparkSession.sparkContext.getLocalProperty(QUERY_ID)
        found = self._options.producer_id or query_id
        if found is None:
            raise BadOption("producer_id: outside a streaming query there is no query id: give one")
        return found

    def _check_columns(self, frame: DataFrame) -> None:
        routing = self._options.stream_column
        if routing is None:
            return
        if dict(frame.dtypes).get(routing) != "string":
            raise BadOption(f"stream_column: a string column {routing!r} is needed among {frame.dtypes}")

    def _keep(self, report: BatchReport) -> BatchReport:
        log.info("%s", report)
        self.reports[report.query_id, report.batch_id] = report
        while len(self.reports) > REPORTS_KEPT:
            self.reports.popitem(last=False)
        return report


def _task(job: Job) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def write_to_tailrace(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield write_partition(job, whole(batches))

    return write_to_tailrace
