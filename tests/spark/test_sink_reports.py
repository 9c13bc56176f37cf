"""What the sink reports of a batch."""

from __future__ import annotations

import logging
from pathlib import Path
from queue import Queue

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import StreamingQueryProgress

from tailrace_spark import TailraceSink
from tailrace_spark.sink.reports import BatchReport
from tests.spark.queries import read_stream, run_query, write_input


def test_each_batch_is_reported_logged_and_joined_to_sparks_progress(
    spark: SparkSession, base_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "tailrace_spark.sink.sink")
    rows = read_stream(spark, write_input(spark, tmp_path / "rows", 1000, batches=2))
    sink = TailraceSink(base_url, "sink:reported", chunk_rows=100)
    heard: Queue[tuple[StreamingQueryProgress, BatchReport]] = Queue()
    listener = sink.progress_listener(lambda progress, report: heard.put((progress, report)))
    spark.streams.addListener(listener)
    try:
        run_query(rows, sink, tmp_path / "checkpoint")
        both = [heard.get(timeout=60) for _ in range(2)]
    finally:
        spark.streams.removeListener(listener)
    assert [progress.numInputRows for progress, _ in both] == [500, 500]
    assert [report for _, report in both] == list(sink.reports.values())
    for _, report in both:
        counts = report.counts
        assert (counts.rows, counts.replayed, counts.retries, counts.dead_letters) == (500, 0, 0, 0)
        assert report.partitions == 2
        assert counts.requests == 6
        assert 0 < counts.bytes < 500 * 80, "the chunks are compressed"
    logged = [record.getMessage() for record in caplog.records if record.name == "tailrace_spark.sink.sink"]
    assert logged == [str(report) for _, report in both]
    assert "rows 500" in logged[0]
