"""The sink and the data source's writer under chaos: batches that come back cut otherwise, at every point of
a write. `SPARK_CHAOS_SEEDS` sets the number of seeds; `make spark-chaos` uses more."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's documentation has it
from pyspark.sql.streaming.query import StreamingQuery

from tailrace_client import Tailrace, TailraceError
from tailrace_spark import TailraceDataSource, TailraceSink
from tests.spark.faulty_proxy import Fault, faulty_proxy
from tests.spark.queries import once_started, run_query, settings
from tests.support.server_process import ServerProcess

SEEDS: Final = int(os.environ.get("SPARK_CHAOS_SEEDS", "2"))
SIZES: Final = (500, 100, 100)
"""Rows of the three files of a batch: Spark packs them as [a, b], [c] for two cores, as [a], [b, c] for
three."""
ROWS: Final = sum(SIZES)
ATTEMPTS: Final = 3
"""Attempts that fail, before the one that nothing disturbs."""
DELETED: Final = 0.3
"""How often the target is deleted after an attempt, if that loses no row."""
CUTS: Final[dict[str, Callable[[DataFrame], DataFrame]]] = {
    "as it is": lambda frame: frame,
    "coalesce": lambda frame: frame.coalesce(1),
    "repartition": lambda frame: frame.repartition(3),
    "by key": lambda frame: frame.repartition(2, "n"),
    "orderBy": lambda frame: frame.orderBy("text"),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One batch of three JSON files."""
    directory = tmp_path_factory.mktemp("files")
    start = 0
    for number, size in enumerate(SIZES):
        rows = [json.dumps({"n": n, "text": f"row {n % 7}"}) for n in range(start, start + size)]
        (directory / f"{number}.json").write_text("\n".join(rows))
        start += size
    return directory


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    spark.dataSource.register(TailraceDataSource)
    return spark


def rows_of(session: SparkSession, files: Path) -> DataFrame:
    return session.readStream.schema("n bigint, text string").json(str(files))


def assert_all_once(url: str, stream: str, did: object = None) -> None:
    with Tailrace(url) as tailrace:
        found = Counter((fields["n"], fields["text"]) for _, fields in tailrace.stream(stream).read())
    assert found == Counter((str(n), f"row {n % 7}") for n in range(ROWS)), did


def partition_sizes(frame: DataFrame) -> list[int]:
    rows = frame.groupBy(F.spark_partition_id().alias("partition")).count().orderBy("partition").collect()
    return [row["count"] for row in rows]


class StoppedError(Exception):
    """The driver is gone between the write and Spark's commit."""


@pytest.mark.parametrize("cut_off_at", [5, 8, 10])
def test_a_replay_with_as_many_partitions_and_another_packing_adds_no_row_twice(
    session: SparkSession, server: ServerProcess, files: Path, tmp_path: Path, cut_off_at: int
) -> None:
    stream = f"packed:{cut_off_at}"

    def fault(number: int) -> Fault:
        return Fault.CUT if number >= cut_off_at else Fault.NONE

    def write(url: str) -> None:
        sink = TailraceSink(url, stream, chunk_rows=500, retry_deadline_s=0)
        run_query(rows_of(session, files), sink, tmp_path / "checkpoint")

    with settings(session, {"spark.sql.files.minPartitionNum": "2"}):
        frame = session.read.schema("n bigint, text string").json(str(files))
        assert partition_sizes(frame) == [600, 100]
        with faulty_proxy(server.port, fault) as proxy, pytest.raises(Exception, match="SinkError"):
            write(proxy.url)
    with settings(session, {"spark.sql.files.minPartitionNum": "3"}):
        frame = session.read.schema("n bigint, text string").json(str(files))
        assert partition_sizes(frame) == [500, 200]
        write(server.base_url)
    assert_all_once(server.base_url, stream)


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("way", ["sink", "format"])
def test_every_row_arrives_once_though_attempts_end_anywhere_and_replays_are_cut_otherwise(
    session: SparkSession, server: ServerProcess, files: Path, tmp_path: Path, seed: int, way: str
) -> None:
    dice = random.Random(seed)
    stream = f"chaos:{way}:{seed}"
    did: list[str] = []
    for attempt in range(ATTEMPTS + 1):
        is_last = attempt == ATTEMPTS
        end = "written" if is_last else dice.choice(("cut off", "cut off", "cut off", "not committed"))
        cut_off_at = dice.randint(0, 40) if end == "cut off" else 1 << 30
        noise = dice.choice([fault for fault in Fault if fault is not Fault.CUT])

        def fault(number: int, cut_off_at: int = cut_off_at, noise: Fault = noise) -> Fault:
            if number >= cut_off_at:
                return Fault.CUT
            return noise if number % 5 == 3 else Fault.NONE

        cut = dice.choice([name for name in CUTS if way == "sink" or name != "orderBy"])
        if way == "format" and end == "not committed":
            end = "written"
        did.append(f"{end} {cut_off_at} {cut} {noise.name}")
        chosen = {
            "spark.sql.files.minPartitionNum": str(dice.randint(1, 4)),
            "spark.sql.files.maxPartitionBytes": dice.choice(("2000b", "8000b", "128m")),
            "spark.sql.adaptive.enabled": dice.choice(("true", "false")),
        }
        with settings(session, chosen), faulty_proxy(server.port, fault) as proxy:
            frame = CUTS[cut](rows_of(session, files)) if way == "format" else rows_of(session, files)
            rows_per_chunk = dice.choice((30, 100, 1000))
            try:
                if way == "sink":
                    _through_sink(frame, cut, proxy.url, stream, rows_per_chunk, end, tmp_path)
                else:
                    _through_format(frame, proxy.url, stream, rows_per_chunk, tmp_path)
            except Exception:
                if is_last:
                    raise
        did += deletions(dice, server.base_url, stream)
    assert_all_once(server.base_url, stream, did)


def deletions(dice: random.Random, url: str, stream: str) -> list[str]:
    """Delete the target now and then if the batch has begun and is not done: then it gets all rows again."""
    with Tailrace(url) as tailrace:
        names = [item.key for item in tailrace.streams(f"{stream}:staged:") if item.key.endswith(":commit")]
        states = [fields["state"] for name in names for _, fields in tailrace.stream(name).last()]
        if dice.random() > DELETED or states not in (["begun"], ["chosen"]):
            return []
        with suppress(TailraceError):
            tailrace.stream(stream).delete()
    return ["deleted"]


def _through_sink(
    frame: DataFrame, cut: str, url: str, stream: str, chunk_rows: int, end: str, directory: Path
) -> None:
    sink = TailraceSink(url, stream, chunk_rows=chunk_rows, retry_deadline_s=0 if end == "cut off" else 30)

    def write(batch: DataFrame, batch_id: int) -> None:
        sink(CUTS[cut](batch), batch_id)
        if end == "not committed":
            raise StoppedError

    run_query(frame, write, directory / "checkpoint")


def _through_format(frame: DataFrame, url: str, stream: str, chunk_rows: int, directory: Path) -> None:
    writer = frame.where(F.col("n") >= 0).writeStream.format("tailrace")
    writer = writer.options(url=url, stream=stream, chunkRows=chunk_rows, retryDeadlineMs=2000)
    writer = writer.option("checkpointLocation", str(directory / "checkpoint")).trigger(availableNow=True)
    once_started(writer, StreamingQuery.awaitTermination)
