"""Two writes of one batch through the sink, and writes in a thread of the program."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from tailrace_spark import BadOption, TailraceSink
from tests.spark.queries import numbers_in, read_stream, run_query, write_input

ROWS: Final = 100
REFUSED: Final = "producer_id: batch 0 writes two DataFrames"


# --- two writes of one batch -------------------------------------------------------------------------------


@pytest.fixture
def rows(spark: SparkSession, tmp_path: Path) -> DataFrame:
    return read_stream(spark, write_input(spark, tmp_path / "rows", ROWS, batches=1))


def test_two_sinks_that_write_other_rows_to_one_stream_in_one_batch_are_refused_by_the_name_of_the_option(
    rows: DataFrame, base_url: str, tmp_path: Path
) -> None:
    stream = "twice:one-producer"
    low, high = (TailraceSink(base_url, stream) for _ in range(2))

    def write(frame: DataFrame, batch_id: int) -> None:
        low(frame.where("n < 50"), batch_id)
        high(frame.where("n >= 50"), batch_id)

    with pytest.raises(StreamingQueryException, match=REFUSED) as refusal:
        run_query(rows, write, tmp_path / "checkpoint")
    assert "rand()" not in str(refusal.value)
    assert sorted(numbers_in(base_url, stream)) == list(range(50))


def test_one_sink_that_writes_two_dataframes_in_one_batch_is_refused_even_if_their_rows_are_equal(
    rows: DataFrame, base_url: str, tmp_path: Path
) -> None:
    sink = TailraceSink(base_url, "twice:equal-rows")

    def write(frame: DataFrame, batch_id: int) -> None:
        sink(frame.where("n < 50").selectExpr("1 as n"), batch_id)
        sink(frame.where("n >= 50").selectExpr("1 as n"), batch_id)

    with pytest.raises(StreamingQueryException, match=REFUSED):
        run_query(rows, write, tmp_path / "checkpoint")


def test_two_sinks_with_producers_of_their_own_write_all_rows_of_a_batch_to_one_stream(
    rows: DataFrame, base_url: str, tmp_path: Path
) -> None:
    stream = "twice:two-producers"
    low, high = (TailraceSink(base_url, stream, producer_id=f"{tmp_path}-{name}") for name in ("low", "high"))

    def write(frame: DataFrame, batch_id: int) -> None:
        low(frame.where("n < 50"), batch_id)
        high(frame.where("n >= 50"), batch_id)

    run_query(rows, write, tmp_path / "checkpoint")
    assert sorted(numbers_in(base_url, stream)) == list(range(ROWS))


def test_a_batch_that_is_written_again_adds_nothing_in_one_run_and_in_the_next_run(
    rows: DataFrame, base_url: str, tmp_path: Path
) -> None:
    stream = "twice:again"

    def write_twice(frame: DataFrame, batch_id: int) -> None:
        for _ in range(2):
            TailraceSink(base_url, stream)(frame.where("n >= 0"), batch_id)

    def write_and_fail(frame: DataFrame, batch_id: int) -> None:
        write_twice(frame, batch_id)
        raise InterruptedError

    with pytest.raises(StreamingQueryException, match="InterruptedError"):
        run_query(rows, write_and_fail, tmp_path / "checkpoint")
    run_query(rows, write_twice, tmp_path / "checkpoint")
    assert sorted(numbers_in(base_url, stream)) == list(range(ROWS))


def test_an_option_is_refused_by_an_exception_that_programs_can_import() -> None:
    with pytest.raises(BadOption):
        TailraceSink("nowhere", "s")


# --- threads -----------------------------------------------------------------------------------------------


def test_a_thread_writes_with_the_sink_and_once_the_session_is_its_own_with_the_format(
    spark: SparkSession, base_url: str
) -> None:
    frame = spark.range(10).selectExpr("id as n")

    def write() -> None:
        TailraceSink(base_url, "thread:sink", producer_id="thread")(frame, 0)
        writer = frame.write.format("tailrace").mode("append").options(url=base_url, stream="thread:format")
        with pytest.raises(Py4JError, match="DATA_SOURCE_NOT_FOUND"):
            writer.save()
        spark.createDataFrame([], "n int")
        writer.save()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(write).result()
    for stream in ("thread:sink", "thread:format"):
        assert sorted(numbers_in(base_url, stream)) == list(range(10))
