"""A batch that comes back through `writeStream.format("tailrace")`: every row once, after any end of the
first run, and in any partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

import httpx
import pyarrow as pa
import pytest
from pyspark import TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tailrace_client import Tailrace
from tailrace_spark import TailraceDataSource
from tailrace_spark.sink.staging import places_of
from tests.spark.queries import (
    CHUNK_ROWS,
    ROWS,
    SCHEMA,
    assert_each_once,
    next_page,
    once_started,
    read_stream,
    write_input,
)
from tests.support.server_process import running_server

FILES: Final = 4
PORTION_ROWS: Final = "spark.sql.execution.arrow.maxRecordsPerBatch"
HANDED_ON: Final = 30
"""Portions of the six chunks of a partition: the first chunk is written then."""
OPEN_COST: Final = "spark.sql.files.openCostInBytes"
Batches = Iterator[pa.RecordBatch]


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> Iterator[SparkSession]:
    """The session, which reads each file as a partition of its own meanwhile, in small portions."""
    spark.dataSource.register(TailraceDataSource)
    spark.conf.set(OPEN_COST, str(128 << 20))
    spark.conf.set(PORTION_ROWS, CHUNK_ROWS // 10)
    yield spark
    spark.conf.unset(OPEN_COST)
    spark.conf.unset(PORTION_ROWS)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(tmp_path_factory.mktemp("server")) as server:
        yield server.base_url


@pytest.fixture(scope="module")
def files(session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All rows in four files, which are one batch."""
    return write_input(session, tmp_path_factory.mktemp("input") / "rows", ROWS, batches=FILES // 2)


class Replayed:
    """One query that writes a batch to `stream`, in one run after another. `options`: of the writer."""

    def __init__(
        self, session: SparkSession, url: str, files: Path, directory: Path, stream: str, **options: object
    ) -> None:
        self.url = url
        self.stream = stream
        self._rows = read_stream(session, files, FILES)
        self._checkpoint = directory / "checkpoint"
        self._options = {"url": url, "stream": stream, "chunkRows": CHUNK_ROWS, **options}

    def run(
        self, partitions: int, fault: Callable[[str, str, Batches], Batches] | None = None, **options: object
    ) -> None:
        """Run the query to its end, over as many partitions."""
        rows = self._rows.coalesce(partitions)
        if fault is not None:
            rows = rows.mapInArrow(partial(fault, self.url, self.stream), SCHEMA)
        write(rows, self._checkpoint, {**self._options, **options})

    def forget_the_commit(self) -> None:
        """As if the driver had died between the write and the commit."""
        for path in (self._checkpoint / "commits").iterdir():
            path.unlink()

    def state(self) -> tuple[int, int]:
        """How many entries and how many idempotency keys the stream has."""
        state = httpx.get(f"{self.url}/v1/streams/{self.stream}").raise_for_status().json()
        return state["length"], state["idempotency"]["keys"]


def write(rows: DataFrame, checkpoint: Path, options: dict[str, object]) -> None:
    writer = rows.writeStream.format("tailrace").options(**options)  # type: ignore[arg-type]
    writer = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
    once_started(writer, StreamingQuery.awaitTermination)


def only_the_second(url: str, stream: str, batches: Batches) -> Batches:
    """Of the second partition some chunks are staged. Then all tasks fail."""
    context = TaskContext.get()
    assert context
    if context.partitionId() == 1:
        yield from islice(batches, HANDED_ON)
    query_id = context.getLocalProperty("sql.streaming.queryId")
    assert query_id
    next_page(url, places_of(stream, query_id).chunks)
    raise RuntimeError("this run writes no more")


@pytest.fixture
def replayed(
    session: SparkSession, url: str, files: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> Replayed:
    return Replayed(session, url, files, tmp_path, f"writer:{request.node.name}")


def test_a_batch_begun_over_four_partitions_ends_over_two_and_was_seen_by_nobody_before(
    replayed: Replayed,
) -> None:
    with pytest.raises(Exception, match="this run writes no more"):
        replayed.run(4, only_the_second)
    with pytest.raises(httpx.HTTPStatusError, match="404"):
        replayed.state()
    replayed.run(2)
    assert_each_once(replayed.url, replayed.stream)


def test_a_batch_that_was_written_before_its_driver_died_adds_nothing_in_any_partitions(
    replayed: Replayed,
) -> None:
    replayed.run(4)
    before = replayed.state()
    for partitions in (4, 3):
        replayed.forget_the_commit()
        replayed.run(partitions)
        assert replayed.state() == before
    assert_each_once(replayed.url, replayed.stream)


def test_a_write_without_a_producer_of_its_own_leaves_no_stream_behind(
    session: SparkSession, url: str
) -> None:
    writer = session.range(10).write.format("tailrace").mode("append").options(url=url, stream="alone")
    writer.save()
    with Tailrace(url) as tailrace:
        assert [item.key for item in tailrace.streams("alone")] == ["alone"]


def test_a_batch_write_with_a_producer_needs_the_number_of_the_batch(session: SparkSession, url: str) -> None:
    writer = session.range(10).write.format("tailrace").mode("append").options(url=url, stream="numbered")
    writer = writer.option("producerId", "nightly")
    with pytest.raises(PySparkException, match="producerId: set batchId as well"):
        writer.save()
    for _ in range(2):
        writer.option("batchId", "1").save()
    assert len(ids_in(url, "numbered")) == 10


def ids_in(url: str, stream: str) -> list[str]:
    with Tailrace(url) as tailrace:
        return [entry_id for entry_id, _ in tailrace.stream(stream).read()]
