"""The sink for `foreachBatch`: it appends each row of a micro-batch to a stream exactly once.

How it works. On the driver, the sink decides what each column becomes, makes the partitions and order of the
batch repeatable, and describes the cut of the batch in a text, the layout. In each task, rows become lines,
lines become chunks, and each chunk is one request with the key (query, batch, partition, chunk). The server
remembers the keys of the last two batches of each query as durably as the entries.

What can go wrong, and what happens then:

* A task fails, runs twice, or loses a response: the same chunk is sent again with the same key and adds
  nothing.
* The driver dies between write and commit: Spark gives the restarted query the same batch with the same
  number, and its chunks add nothing either.
* A replayed batch is cut differently (other partitions, chunks or columns): the layout differs, and the
  server refuses the batch before it writes anything. If the rows themselves differ, the server refuses the
  chunk.
* The server is unavailable: requests are retried until their deadline, then the batch fails.
* The server refuses a row: the row goes to the dead-letter stream, or the batch fails if there is none.

The sink never collects rows on the driver. The server decides what an append means.
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

from tailrace_spark.classic_session import check_classic
from tailrace_spark.endpoint import Endpoint, urls_of
from tailrace_spark.errors import BadOption, headed_by_sentence
from tailrace_spark.option_checks import text
from tailrace_spark.sink.claims import Claim, claim
from tailrace_spark.sink.columns import numbered
from tailrace_spark.sink.dead_letters import check_count
from tailrace_spark.sink.entry_form import entry_form
from tailrace_spark.sink.input_check import whole
from tailrace_spark.sink.options import sink_options
from tailrace_spark.sink.partition_writer import Job, write_partition
from tailrace_spark.sink.repeatable import repeatable
from tailrace_spark.sink.reports import REPORT_SCHEMA, BatchReport, SinkProgressListener, added_up
from tailrace_spark.sink.sender import QUERY_ID, Replay
from tailrace_spark.tokens import TokenSource

REPORTS_KEPT: Final = 100

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
        ready = repeatable(frame, self._options)
        replay = Replay(producer_id, batch_id, ready.layout(self._options))
        job = Job(self._endpoint, self._stream, form, self._options, replay)
        counts = added_up(numbered(ready.frame).mapInArrow(_task(job), REPORT_SCHEMA).collect())
        check_count(counts.dead_letters, self._options.dead_letters_max)
        duration_s = time.monotonic() - began_s
        return self._keep(BatchReport(producer_id, batch_id, ready.partitions, counts, duration_s))

    def progress_listener(
        self, on_batch: Callable[[StreamingQueryProgress, BatchReport], None]
    ) -> SinkProgressListener:
        """Return a listener for `spark.streams.addListener`, which calls `on_batch` with Spark's progress and
        the sink's report of each batch."""
        return SinkProgressListener(
            lambda query_id, batch_id: self.reports.get((query_id, batch_id)), on_batch
        )

    def _producer_id(self, frame: DataFrame) -> str:
        query_id = frame.sparkSession.sparkContext.getLocalProperty(QUERY_ID)
        found = self._options.producer_id or query_id
        if found is None:
            raise BadOption(
                "producer_id: it is not set, and outside a streaming query there is no query id; set it"
            )
        return found

    def _claim(self, frame: DataFrame, batch_id: int, producer_id: str) -> None:
        """Raise `BadOption` if this batch of a streaming query already wrote another DataFrame with the same
        keys."""
        if frame.sparkSession.sparkContext.getLocalProperty(QUERY_ID) is not None:
            claim(Claim(self._endpoint.urls, self._stream, producer_id), frame, batch_id)

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
