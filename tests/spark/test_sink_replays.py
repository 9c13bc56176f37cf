"""When the sink sorts, how many partitions it sees, and what it reports of a batch."""

from __future__ import annotations

import logging
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
from pyspark import RDD
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.listener import StreamingQueryProgress

from tailrace_spark import TailraceSink
from tailrace_spark.sink.options import sink_options
from tailrace_spark.sink.repeatable import repeatable
from tailrace_spark.sink.reports import BatchReport
from tests.spark.queries import numbered_rows, read_stream, run_query, write_input


def prepared(frame: DataFrame, **options: Any) -> tuple[int, bool]:
    ready = repeatable(frame, sink_options(options))
    return ready.partitions, ready.is_sorted


def test_rows_are_sorted_where_they_came_through_a_shuffle_and_kept_in_order_elsewhere(
    spark: SparkSession,
) -> None:
    rows = numbered_rows(spark, 0, 100)
    assert prepared(rows) == (2, False)
    assert prepared(rows.where("n > 3").select("n")) == (2, False)
    assert prepared(rows.repartition(3)) == (3, True)
    assert prepared(rows.groupBy("rider").count()) == (2, True)
    assert prepared(rows.repartition(3).persist()) == (3, True)
    assert prepared(rows.localCheckpoint()) == (2, True)


def test_order_and_partitions_are_as_asked_for(spark: SparkSession) -> None:
    rows = numbered_rows(spark, 0, 100)
    assert prepared(rows.repartition(3), order="source") == (3, False)
    assert prepared(rows, order="sorted") == (2, True)
    assert prepared(rows, sort_by=["rider"]) == (2, True)
    assert prepared(rows, partitions=5) == (5, True)


def test_rows_are_sorted_after_every_kind_of_shuffle_of_an_rdd_and_kept_in_order_elsewhere(
    spark: SparkSession,
) -> None:
    pairs = numbered_rows(spark, 0, 100).rdd.map(lambda row: (row.n % 7, row.n))

    def is_sorted(rdd: RDD[tuple[int, int]]) -> bool:
        return prepared(spark.createDataFrame(rdd, "key bigint, n bigint"))[1]

    assert not is_sorted(pairs)
    assert not is_sorted(pairs.filter(lambda pair: pair[1] > 3).coalesce(1))
    assert not is_sorted(pairs.union(pairs))
    assert is_sorted(pairs.partitionBy(3))
    assert is_sorted(pairs.reduceByKey(max))
    assert is_sorted(pairs.sortByKey())
    assert is_sorted(pairs.repartition(3))
    assert is_sorted(pairs.join(pairs).mapValues(sum))
    assert is_sorted(pairs.subtractByKey(pairs.filter(lambda pair: pair[0] > 3)))
    assert is_sorted(pairs.union(pairs.partitionBy(3)))
    assert is_sorted(pairs.cogroup(pairs).mapValues(len))


@pytest.mark.parametrize(
    "options",
    [
        {"chunk_rows": 7},
        {"chunk_bytes": 2000},
        {"compression": "gzip"},
        {"order": "sorted"},
        {"partitions": 2},
    ],
)
def test_whatever_cuts_a_batch_otherwise_is_part_of_its_layout(
    spark: SparkSession, options: dict[str, Any]
) -> None:
    rows = numbered_rows(spark, 0, 10)

    def layout(frame: DataFrame, given: dict[str, Any]) -> str:
        checked = sink_options(given)
        return repeatable(frame, checked).layout(checked)

    assert layout(rows, {}) == layout(rows, {"dead_letter_stream": "d", "timeout_s": 3})
    assert layout(rows, options) != layout(rows, {})
    assert layout(rows.withColumnRenamed("n", "m"), {}) != layout(rows, {})
    assert layout(rows, {}).isascii()


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
        assert 500 * 80 < counts.bytes < 500 * 130
    logged = [record.getMessage() for record in caplog.records if record.name == "tailrace_spark.sink.sink"]
    assert logged == [str(report) for _, report in both]
    assert "rows 500" in logged[0]
