"""The sink and other users of its session: threads that write at the same time, two writes of one batch."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from tailrace_spark import BadOption, TailraceSink
from tests.spark.queries import numbered_rows, numbers_in, read_stream, run_query, write_input

ADAPTIVE: Final = "spark.sql.adaptive.enabled"
PARTITIONS: Final = "spark.sql.shuffle.partitions"
ROWS: Final = 100
REFUSED: Final = "producer_id: batch 0 writes two DataFrames"


# --- threads ---------------------------------------------------------------------------------------------


def pass_after(gate: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Say that the task runs, and return its rows when the test opens the gate."""
    for suffix, mode in ((".runs", "w"), (".opens", "r")):
        with Path(gate + suffix).open(mode):  # Opening a pipe waits for the other side.
            pass
    yield from batches


def gated(spark: SparkSession, gate: Path) -> DataFrame:
    """Rows that stay in their task until the gate opens."""
    for suffix in (".runs", ".opens"):
        os.mkfifo(f"{gate}{suffix}")
    return spark.range(0, 1, 1, 1).mapInArrow(partial(pass_after, str(gate)), "id bigint")


def wait_until_it_runs(gate: Path) -> None:
    Path(f"{gate}.runs").open().close()


def let_pass(gate: Path) -> None:
    Path(f"{gate}.opens").open("w").close()


def test_a_session_keeps_its_settings_while_several_threads_write_with_it(
    spark: SparkSession, base_url: str, tmp_path: Path
) -> None:
    session = spark.newSession()
    session.conf.set(ADAPTIVE, "true")
    gates = [tmp_path / name for name in ("first", "second")]
    sinks = [TailraceSink(base_url, f"threads:{gate.name}", producer_id="threads") for gate in gates]
    with ThreadPoolExecutor(2) as pool:
        writes = []
        for sink, gate in zip(sinks, gates, strict=True):
            writes.append(pool.submit(sink.write, gated(session, gate), 0))
            wait_until_it_runs(gate)
            assert session.conf.get(ADAPTIVE) == "true"
        for write, gate in zip(writes, gates, strict=True):
            let_pass(gate)
            assert write.result().counts.rows == 1
            assert session.conf.get(ADAPTIVE) == "true"


def test_threads_write_with_the_settings_of_their_sessions(spark: SparkSession, base_url: str) -> None:
    def partitions_of(count: int) -> int:
        session = spark.newSession()
        session.conf.set(PARTITIONS, count)
        rows = numbered_rows(session, 0, ROWS).groupBy("rider").count()
        return TailraceSink(base_url, "threads:settings", producer_id=str(count)).write(rows, 0).partitions

    counts = [3, 5, 7, 9]
    with ThreadPoolExecutor(len(counts)) as pool:
        assert list(pool.map(partitions_of, counts)) == counts


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


def test_the_servers_refusal_of_a_second_write_names_producer_id(spark: SparkSession, base_url: str) -> None:
    sink = TailraceSink(base_url, "twice:refused", producer_id="batches")
    sink.write(numbered_rows(spark, 0, 10), 0)
    for other_rows in (numbered_rows(spark, 10, 20), numbered_rows(spark, 0, 20).coalesce(1)):
        with pytest.raises(RuntimeError, match="give each of them its own `producer_id`"):
            sink.write(other_rows, 0)


def test_an_option_is_refused_by_an_exception_that_programs_can_import() -> None:
    with pytest.raises(BadOption):
        TailraceSink("nowhere", "s")
