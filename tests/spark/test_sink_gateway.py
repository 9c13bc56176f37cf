"""The sink and the data source's writer at a gateway in front of Redis: every row once, though the gateway is
killed and started again during a batch, and the query runs again from its checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tailrace_spark import TailraceDataSource, TailraceSink
from tests.spark.chaos_load import KilledServer
from tests.spark.queries import (
    CHUNK_ROWS,
    ROWS,
    assert_each_once,
    next_page,
    once_started,
    read_stream,
    run_query,
    write_input,
)
from tests.support.engines import RedisOnPort, executable_of
from tests.support.redis_server import required

BATCHES = 4


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[KilledServer]:
    executable = executable_of("redis-8.10.2")
    if executable is None and not required():
        pytest.skip("redis-8.10.2 is not installed")
    assert executable is not None
    with RedisOnPort(executable) as redis:
        server = KilledServer(tmp_path, redis.url)
        yield server
        server.end()


@pytest.mark.parametrize("way", ["sink", "format"])
def test_every_row_is_there_once_though_the_gateway_is_killed_and_the_query_runs_again(
    spark: SparkSession, gateway: KilledServer, tmp_path: Path, way: str
) -> None:
    spark.dataSource.register(TailraceDataSource)
    files = write_input(spark, tmp_path / "input", ROWS, BATCHES)
    rows, checkpoint, stream = read_stream(spark, files), tmp_path / "checkpoint", f"gateway:{way}"

    def kill() -> None:
        next_page(gateway.url, stream)
        gateway.kill()

    with ThreadPoolExecutor() as pool:
        killed = pool.submit(kill)
        write(way, rows, gateway.url, stream, checkpoint)
        killed.result()
    assert gateway.kills == 1
    assert_each_once(gateway.url, stream)
    # As if the driver had died between the last write and Spark's commit.
    for path in (checkpoint / "commits").iterdir():
        path.unlink()
    write(way, rows.coalesce(1), gateway.url, stream, checkpoint)
    assert_each_once(gateway.url, stream)


def write(way: str, rows: DataFrame, url: str, stream: str, checkpoint: Path) -> None:
    if way == "sink":
        run_query(rows, TailraceSink(url, stream, chunk_rows=CHUNK_ROWS // 4), checkpoint)
        return
    writer = rows.writeStream.format("tailrace").options(url=url, stream=stream, chunkRows=CHUNK_ROWS // 4)
    writer = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
    once_started(writer, StreamingQuery.awaitTermination)
