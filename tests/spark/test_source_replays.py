"""A batch that Spark replays, with entries deleted or trimmed in between: no row is written twice, and no
loss is silent.

With `commit="chunk"` the sink writes while tasks run: then a replay depends on how the source cuts its parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx
import pyarrow as pa
import pytest
from pyspark import TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from tailrace_spark import TailraceDataSource, TailraceSink
from tests.spark.queries import next_page, run_query
from tests.spark.readers import add, delete, trim

NUMBERS = range(1, 9)
PARTS = 4


@pytest.fixture(scope="module")
def source(spark: SparkSession) -> SparkSession:
    spark.dataSource.register(TailraceDataSource)
    return spark


def rows_of(spark: SparkSession, url: str, stream: str) -> DataFrame:
    reader = spark.readStream.format("tailrace").schema("n string")
    return reader.options(url=url, stream=stream, minPartitions=PARTS, maxEntriesPerTrigger=8).load()


def fail_in_the_first_part(
    url: str, out: str, fault: Path, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """While the file of the fault exists, the first part fails once the second one is written."""
    context = TaskContext.get()
    assert context
    if context.partitionId() == 0 and fault.exists():
        next_page(url, out)
        raise RuntimeError("the first part failed")
    yield from batches


def copy(spark: SparkSession, url: str, stream: str, directory: Path) -> None:
    """Run the query that copies the stream, exactly once, over all that is there."""
    out = f"{stream}:out"
    fault = partial(fail_in_the_first_part, url, out, directory / "fault")
    frame = rows_of(spark, url, stream).mapInArrow(fault, "n string")
    run_query(frame, TailraceSink(url, out, commit="chunk"), directory / "checkpoint")


@pytest.fixture
def replay(source: SparkSession, base_url: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """A stream of which a batch of four parts was written in part: its first part was not, its second was."""
    stream = f"replays:{request.node.name}"
    add(base_url, stream, *(f"{n}-0" for n in NUMBERS))
    (tmp_path / "fault").touch()
    with pytest.raises(PySparkException, match="the first part failed"):
        copy(source, base_url, stream, tmp_path)
    (tmp_path / "fault").unlink()
    return stream


def test_entries_that_were_deleted_before_the_replay_move_no_row_to_another_part(
    replay: str, source: SparkSession, base_url: str, tmp_path: Path
) -> None:
    delete(base_url, replay, "1-0", "2-0")
    copy(source, base_url, replay, tmp_path)
    assert sorted(written(base_url, replay)) == [f"{n}-0" for n in NUMBERS if n > 2]


def test_a_replay_without_an_entry_that_was_written_is_refused_and_writes_nothing_twice(
    replay: str, source: SparkSession, base_url: str, tmp_path: Path
) -> None:
    delete(base_url, replay, "3-0")
    with pytest.raises(PySparkException, match="IDEMPOTENCY_MISMATCH"):
        copy(source, base_url, replay, tmp_path)
    found = written(base_url, replay)
    assert len(found) == len(set(found))


def test_a_replay_of_trimmed_entries_is_data_loss_although_its_range_is_empty(
    replay: str, source: SparkSession, base_url: str, tmp_path: Path
) -> None:
    trim(base_url, replay, "99-0")
    with pytest.raises(PySparkException, match="entries were trimmed before they were read"):
        copy(source, base_url, replay, tmp_path)


def test_a_replay_without_an_entry_that_was_staged_writes_the_others_once(
    source: SparkSession, base_url: str, tmp_path: Path
) -> None:
    stream, out = "replays:staged", "replays:staged:out"
    add(base_url, stream, *(f"{n}-0" for n in NUMBERS))
    fails = True

    def fail_after_staging(frame: DataFrame, batch_id: int) -> None:
        staged = frame.mapInArrow(partial(pass_all_but, PARTS - 1 if fails else None), "n string")
        TailraceSink(base_url, out)(staged, batch_id)

    with pytest.raises(PySparkException, match="the last part failed"):
        run_query(rows_of(source, base_url, stream), fail_after_staging, tmp_path / "checkpoint")
    assert written(base_url, "replays:staged") == []
    fails = False
    delete(base_url, stream, "3-0")
    run_query(rows_of(source, base_url, stream), fail_after_staging, tmp_path / "checkpoint")
    assert sorted(written(base_url, stream)) == [f"{n}-0" for n in NUMBERS if n != 3]


def pass_all_but(failing: int | None, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    context = TaskContext.get()
    assert context
    if context.partitionId() == failing:
        raise RuntimeError("the last part failed")
    yield from batches


def written(url: str, stream: str) -> list[str]:
    response = httpx.get(f"{url}/v1/streams/{stream}:out/entries").json()
    return [entry["fields"]["n"] for entry in response["entries"]]
