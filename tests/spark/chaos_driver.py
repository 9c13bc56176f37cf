"""The Spark program of a chaos run: `python -m tests.spark.chaos_driver`.

    files      ──sink──▶ SUNK ──┐
    INPUT ──source──sink──▶ COPY ──┴─archive──▶ Parquet

All three run at the same time until the process is killed. With `--finish` they do what is left, one after
the other, and the process ends. It prints one JSON object for each way that ends: what it did, or its error.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from threading import Event
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)
from pyspark.sql.streaming.query import StreamingQuery

from tailrace_client import Tailrace
from tailrace_spark import TailraceDataSource, TailraceSink, archive_stream, read_history
from tests.spark.chaos_plan import COPY, GROUP, INPUT, SUNK
from tests.spark.queries import once_started
from tests.spark.sink_driver import session

SCHEMA: Final = "n bigint, rider string"
PAUSE_S: Final = 2
"""Between two runs of the archive job."""
SHOWN: Final = 6_000
NEVER: Final = Event()


def main() -> None:
    options = parsed()
    logging.basicConfig(level=logging.WARNING)
    spark = session(options.master, options.conf)
    ways: dict[str, Callable[[], object]] = {
        "sink": partial(sink, spark, options),
        "copy": partial(copy, spark, options),
        "archive": partial(archive, spark, options),
    }
    chosen = {name: ways[name] for name in options.ways.split(",")}
    if options.finish:
        failed = [name for name, way in chosen.items() if not finished(name, way)]
        spark.stop()
        raise SystemExit(1 if failed else 0)
    run_until_one_fails(spark, chosen)


def run_until_one_fails(spark: SparkSession, ways: dict[str, Callable[[], object]]) -> None:
    """Spark gives the Python of a stream source ten seconds to start, so the copy starts alone."""
    first_look = FirstLook()
    spark.streams.addListener(first_look)
    with ThreadPoolExecutor(len(ways)) as pool:
        copying = pool.submit(finished, "copy", ways["copy"])
        copying.add_done_callback(lambda _: first_look.came.set())
        first_look.came.wait()
        others = [pool.submit(finished, name, way) for name, way in ways.items() if name != "copy"]
        wait([copying, *others], return_when=FIRST_COMPLETED)
        os._exit(1)


class FirstLook(StreamingQueryListener):
    """`came` is set once a query has asked its source for entries."""

    def __init__(self) -> None:
        self.came = Event()

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 - Spark's name
        pass

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: ARG002, N802
        self.came.set()

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: ARG002, N802
        self.came.set()

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        pass


def finished(name: str, way: Callable[[], object]) -> bool:
    """Whether it ended without an error, which is printed."""
    try:
        print(json.dumps({"way": name, "did": way()}), flush=True)  # noqa: T201
    except Exception as error:  # noqa: BLE001 - the program that started this one judges it
        said = {"way": name, "error": type(error).__name__, "text": str(error)[:SHOWN]}
        print(json.dumps(said), flush=True)  # noqa: T201
        return False
    return True


def sink(spark: SparkSession, options: argparse.Namespace) -> None:
    files = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 2)
    write(files.parquet(str(options.directory / "files")), SUNK, options)


def copy(spark: SparkSession, options: argparse.Namespace) -> None:
    spark.dataSource.register(TailraceDataSource)
    reader = spark.readStream.format("tailrace").schema(SCHEMA).options(url=options.url, stream=INPUT)
    limits = {"maxEntriesPerTrigger": options.batch_rows, "minPartitions": 3, "group": GROUP}
    write(reader.options(**limits).load(), COPY, options)


def write(frame: DataFrame, target: str, options: argparse.Namespace) -> None:
    into = TailraceSink(options.url, target, chunk_rows=options.chunk_rows)
    checkpoint = options.directory / "checkpoints" / target.replace(":", "-")
    writer = frame.writeStream.foreachBatch(into).option("checkpointLocation", str(checkpoint))
    trigger = {"availableNow": True} if options.finish else {"processingTime": "0 seconds"}
    once_started(writer.trigger(**trigger), StreamingQuery.awaitTermination)


def archive(spark: SparkSession, options: argparse.Namespace) -> dict[str, int]:
    """Archive both streams again and again. To finish, archive three quarters of what is left, once, and
    return how many entries the histories have."""
    while not options.finish:
        for stream in (SUNK, COPY):
            archive_one(spark, options, stream, "latest")
        NEVER.wait(PAUSE_S)
    for stream in (SUNK, COPY):
        with Tailrace(options.url) as tailrace:
            live = tailrace.stream(stream)
            until = live.seek(max(live.length() * 3 // 4, 1)).end
        archive_one(spark, options, stream, until or "latest")
    return {
        stream: read_history(spark, options.url, stream, str(archive_of(options.directory, stream))).count()
        for stream in (SUNK, COPY)
    }


def archive_one(spark: SparkSession, options: argparse.Namespace, stream: str, until: str) -> None:
    path = archive_of(options.directory, stream)
    archive_stream(spark, options.url, stream, str(path), until=until, entries_per_step=options.step_entries)


def archive_of(directory: Path, stream: str) -> Path:
    """Where the archive of a stream is."""
    return directory / "archives" / stream.replace(":", "-")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--master", required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--batch_rows", type=int, required=True)
    parser.add_argument("--chunk_rows", type=int, required=True)
    parser.add_argument("--step_entries", type=int, required=True)
    parser.add_argument("--ways", default="sink,copy,archive")
    parser.add_argument("--finish", type=int, default=0)
    parser.add_argument("--conf", action="append", default=[])
    return parser.parse_args()


if __name__ == "__main__":
    main()
