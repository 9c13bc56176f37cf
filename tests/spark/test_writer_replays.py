"""A batch that comes back through `writeStream.format("tailrace")`: every row once, after any end of
the first run, and a refusal that adds nothing if the rows are cut into other partitions."""

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
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tailrace_spark import TailraceDataSource
from tests.spark.queries import (
    CHUNK_ROWS,
    ROWS,
    SCHEMA,
    assert_each_once,
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
    """Of the second partition some chunks are written. Then all tasks fail."""
    context = TaskContext.get()
    assert context
    if context.partitionId() == 1:
        yield from islice(batches, HANDED_ON)
    wait_for_any(url, stream)
    raise RuntimeError("this run writes no more")


def wait_for_any(url: str, stream: str) -> None:
    """Wait until the stream has an entry."""
    query: dict[str, str | int] = {"after": "0-0", "wait_ms": 60_000}
    page = httpx.get(f"{url}/v1/streams/{stream}/entries", params=query, timeout=90).json()
    assert page["entries"], "nothing arrived"


@pytest.fixture
def replayed(
    session: SparkSession, url: str, files: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> Replayed:
    return Replayed(session, url, files, tmp_path, f"writer:{request.node.name}")


def test_a_batch_begun_over_four_partitions_is_refused_over_two_and_ends_over_four(
    replayed: Replayed,
) -> None:
    with pytest.raises(Exception, match="this run writes no more"):
        replayed.run(4, only_the_second)
    before = replayed.state()
    assert 0 < before[0] < ROWS
    for _ in range(2):
        with pytest.raises(Exception, match=r"SinkError: LAYOUT_CHANGED: .*then it continues"):
            replayed.run(2)
        assert replayed.state() == before
    replayed.run(4)
    assert_each_once(replayed.url, replayed.stream)


def test_a_batch_ends_over_other_partitions_that_agree_with_the_chunks_that_are_written(
    replayed: Replayed,
) -> None:
    with pytest.raises(Exception, match="this run writes no more"):
        replayed.run(4, only_the_second)
    # Over three partitions, the third and the fourth become one, and the second is as it was.
    replayed.run(3)
    assert_each_once(replayed.url, replayed.stream)


def test_a_batch_whose_driver_died_amid_it_ends_in_the_same_partitions(replayed: Replayed) -> None:
    with pytest.raises(Exception, match="this run writes no more"):
        replayed.run(4, only_the_second)
    replayed.run(4)
    assert_each_once(replayed.url, replayed.stream)


def test_a_batch_that_was_written_before_its_driver_died_adds_nothing_in_the_same_partitions(
    replayed: Replayed,
) -> None:
    replayed.run(4)
    before = replayed.state()
    replayed.forget_the_commit()
    replayed.run(4)
    assert replayed.state() == before
    assert_each_once(replayed.url, replayed.stream)
