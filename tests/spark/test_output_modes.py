"""Queries that do not only append, before the sink and the data source's writer: output modes, and state that
survives a restart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from tailrace_client import Tailrace
from tailrace_spark import TailraceDataSource, TailraceSink
from tests.spark.queries import read_stream, settings, write_input

ROWS: Final = 200
RIDERS: Final = 97
ROCKS_DB: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@pytest.fixture
def rows(spark: SparkSession, tmp_path: Path) -> DataFrame:
    """Two batches of half of the rows."""
    spark.dataSource.register(TailraceDataSource)
    return read_stream(spark, write_input(spark, tmp_path / "rows", ROWS, batches=2))


def run(frame: DataFrame, write: Callable[[DataFrame, int], None], mode: str, directory: Path) -> None:
    writer = frame.writeStream.foreachBatch(write).outputMode(mode)
    writer = writer.option("checkpointLocation", str(directory / "checkpoint")).trigger(availableNow=True)
    writer.start().awaitTermination()


def totals_in(url: str, stream: str) -> Counter[tuple[str, str]]:
    with Tailrace(url) as tailrace:
        return Counter((fields["rider"], fields["total"]) for _, fields in tailrace.stream(stream).read())


def totals(batches: int = 2) -> list[Counter[tuple[str, str]]]:
    """After each batch: the total of each rider of the batch."""
    counted: Counter[str] = Counter()
    found = []
    for batch in range(batches):
        numbers = range(batch * ROWS // 2, (batch + 1) * ROWS // 2)
        riders = [f"rider-{number % RIDERS}" for number in numbers]
        counted.update(riders)
        found.append(Counter((rider, str(counted[rider])) for rider in set(riders)))
    return found


def test_the_sink_appends_each_changed_row_of_the_output_mode_update(
    rows: DataFrame, base_url: str, tmp_path: Path
) -> None:
    counted = rows.groupBy("rider").count().withColumnRenamed("count", "total")
    run(counted, TailraceSink(base_url, "modes:update"), "update", tmp_path)
    first, second = totals()
    assert totals_in(base_url, "modes:update") == first + second


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [
        ("update", "tailrace does not support Update mode"),
        ("complete", "the output mode 'complete'.* would delete the stream"),
    ],
)
def test_a_mode_that_the_format_cannot_write_is_refused_before_the_first_batch(
    rows: DataFrame, base_url: str, tmp_path: Path, mode: str, sentence: str
) -> None:
    writer = rows.groupBy("rider").count().writeStream.format("tailrace").outputMode(mode)
    writer = writer.options(url=base_url, stream=f"modes:{mode}:refused")
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
    query: StreamingQuery = writer.start()
    with pytest.raises(StreamingQueryException, match=sentence):
        query.awaitTermination()
    assert query.lastProgress is None
    with Tailrace(base_url) as tailrace:
        assert list(tailrace.streams(f"modes:{mode}:refused")) == []


class Total(StatefulProcessor):
    """The number of rows of each rider, in all batches."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._total = handle.getValueState("total", "total bigint")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: ARG002, N802, N803
        found = self._total.get()
        total = (found[0] if found else 0) + sum(1 for _ in rows)
        self._total.update((total,))
        yield Row(rider=key[0], total=total)

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def counted(rows: DataFrame) -> Iterator[DataFrame]:
    """The total of each rider of a batch."""
    with settings(rows.sparkSession, {"spark.sql.streaming.stateStore.providerClass": ROCKS_DB}):
        yield rows.groupBy("rider").transformWithState(
            Total(), "rider string, total bigint", outputMode="Append", timeMode="None"
        )


@pytest.mark.long
@pytest.mark.parametrize("failing", [0, 1])
def test_a_restart_with_state_before_the_sink_adds_no_row_twice_and_counts_none_twice(
    counted: DataFrame, base_url: str, tmp_path: Path, failing: int
) -> None:
    stream = f"modes:state:{failing}"
    sink = TailraceSink(base_url, stream)
    written = []

    def write_and_fail(frame: DataFrame, batch_id: int) -> None:
        sink(frame, batch_id)
        written.append(batch_id)
        if batch_id == failing:
            raise InterruptedError

    with pytest.raises(StreamingQueryException):
        run(counted, write_and_fail, "append", tmp_path)
    assert written == list(range(failing + 1))
    run(counted, sink, "append", tmp_path)
    first, second = totals()
    assert totals_in(base_url, stream) == first + second


@pytest.mark.long
def test_a_restart_with_state_before_the_format_adds_no_row_twice(
    counted: DataFrame, base_url: str, tmp_path: Path
) -> None:
    checkpoint = tmp_path / "checkpoint"
    writer = counted.writeStream.format("tailrace").options(url=base_url, stream="modes:state:format")
    writer = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
    first, second = totals()
    for _ in range(2):
        writer.start().awaitTermination()
        assert totals_in(base_url, "modes:state:format") == first + second
        for name in ("1", ".1.crc"):  # as if the driver had died before Spark's commit
            (checkpoint / "commits" / name).unlink()
