"""Streaming queries for tests of the sink: numbered rows in Parquet files or a stream, and what arrived.

It owns how input is laid out and how the outcome is counted. Faults are the tests' own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import httpx
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tailrace_client import Tailrace
from tailrace_spark import TailraceDataSource

ROWS: Final = int(os.environ.get("SPARK_ROWS", "12000"))
"""Of each case; the slow target has 120 000."""
CHUNK_ROWS: Final = ROWS // 24
"""Six chunks to each of two partitions of two micro-batches."""

WITHIN_S: Final = 600
"""How long a driver may take to start, to print something, or to end."""
A_MINUTE_S: Final = 60
"""The longest wait of one request."""

NOT_STARTED: Final = "Python worker failed to connect back"
SCHEMA: Final = "n bigint, rider string, speed double, at timestamp"


def numbered_rows(spark: SparkSession, start: int, end: int) -> DataFrame:
    """Two partitions of rows, distinguished by `n`."""
    return spark.range(start, end, 1, 2).selectExpr(
        "id as n",
        "concat('rider-', id % 97) as rider",
        "id % 613 / 10D as speed",
        "timestamp_millis(1767225600000 + id) as at",
    )


def write_input(spark: SparkSession, directory: Path, count: int, batches: int) -> Path:
    """`count` rows, two files a micro-batch, in the order in which a query reads them."""
    bounds = [count * batch // batches for batch in range(batches + 1)]
    for start, end in pairwise(bounds):
        numbered_rows(spark, start, end).write.mode("append").parquet(str(directory))
    return directory


@contextmanager
def settings(session: SparkSession, values: Mapping[str, str]) -> Iterator[None]:
    """The session with these settings, which then has its own again."""
    before = {name: session.conf.get(name, None) for name in values}
    for name, value in values.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, earlier in before.items():
            session.conf.unset(name) if earlier is None else session.conf.set(name, earlier)


def run_query(frame: DataFrame, write: Callable[[DataFrame, int], None], checkpoint: Path) -> None:
    """Run the query over all input that is there. Raises `StreamingQueryException`."""
    writer = frame.writeStream.foreachBatch(write).option("checkpointLocation", str(checkpoint))
    once_started(writer.trigger(availableNow=True), StreamingQuery.awaitTermination)


def once_started(writer: DataStreamWriter, wait: Callable[[StreamingQuery], object]) -> StreamingQuery:
    """A query that `wait` has waited for. Spark gives a stream source's Python ten seconds to start, and a
    machine that is busy with other tests may take longer: nothing was read then, and it is started again."""
    while True:
        query = writer.start()
        try:
            wait(query)
        except StreamingQueryException as error:
            if NOT_STARTED not in str(error):
                raise
        else:
            return query


def read_stream(spark: SparkSession, directory: Path, files_per_batch: int = 2) -> DataFrame:
    """The input as a stream."""
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", files_per_batch)
    return reader.parquet(str(directory))


def follow(spark: SparkSession, url: str, stream: str) -> DataFrame:
    """The same from a stream through the data source, in as many batches and partitions as from the files."""
    spark.dataSource.register(TailraceDataSource)
    reader = spark.readStream.format("tailrace").schema(SCHEMA).options(url=url, stream=stream)
    return reader.options(maxEntriesPerTrigger=ROWS // 2, minPartitions=2).load()


def target_of(name: str, source: str) -> str:
    """Where the rows from one of the sources go."""
    return f"{name}:{source}"


def numbers_in(base_url: str, stream: str) -> list[int]:
    """`n` of every entry of the stream, in its order."""
    with Tailrace(base_url) as tailrace:
        return [int(fields["n"]) for _, fields in tailrace.stream(stream).read()]


def assert_each_once(base_url: str, stream: str, count: int = ROWS) -> None:
    """All rows arrived, and none of them twice."""
    numbers = numbers_in(base_url, stream)
    assert len(numbers) == count
    assert sorted(numbers) == list(range(count))


def wait_for_number(base_url: str, stream: str, number: int) -> None:
    """Until the stream has the row of that `n`."""
    after = "0-0"
    while True:
        page = next_page(base_url, stream, after)
        if any(entry["fields"]["n"] == str(number) for entry in page["entries"]):
            return
        after = page["next"]


def next_page(base_url: str, stream: str, after: str = "0-0") -> dict[str, Any]:
    """The entries after an id, once the stream has some. A busy machine takes a minute to start a driver."""
    query: dict[str, str | int] = {"after": after, "wait_ms": A_MINUTE_S * 1000}
    for _ in range(WITHIN_S // A_MINUTE_S):
        answer = httpx.get(f"{base_url}/v1/streams/{stream}/entries", params=query, timeout=2 * A_MINUTE_S)
        page: dict[str, Any] = answer.raise_for_status().json()
        if page["entries"]:
            return page
    raise AssertionError(f"nothing arrived in {stream} after {after} within {WITHIN_S} s")
