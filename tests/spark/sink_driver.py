"""A driver of its own that writes numbered rows through the sink: `python -m tests.spark.sink_driver`.

It takes the rows twice, each way to a stream of its own: from files, and from a stream through the data
source; `--sources` names one of them. It prints one JSON object a batch. To be killed there, each query stops
between the write of a batch and Spark's commit with `--hold`, and with `--hold_chunks` when the driver has
appended the first chunks of a batch. It owns no assertion.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from tailrace_spark import TailraceSink
from tailrace_spark.sink.appender import Appender
from tailrace_spark.sink.sender import Body
from tests.spark.faults import FAULTS
from tests.spark.queries import CHUNK_ROWS, SCHEMA, follow, read_stream, run_query, target_of


def main() -> None:
    options = parsed()
    logging.basicConfig(level=logging.INFO)
    spark = session(options.master, options.conf)
    if options.hold_chunks:
        hold_chunks()
    frames = {
        "files": read_stream(spark, options.files),
        "stream": follow(spark, options.url, options.stream),
    }
    with ThreadPoolExecutor(options.at_once) as pool:
        queries = [pool.submit(write_all, options, source, frames[source]) for source in options.sources]
        for query in queries:
            query.result()
    spark.stop()


def write_all(options: argparse.Namespace, source: str, frame: DataFrame) -> None:
    target = target_of(options.target, source)
    if options.fault:
        frame = frame.mapInArrow(partial(FAULTS[options.fault], options.url, target), SCHEMA)
    sink = TailraceSink(options.url, target, options.token, chunk_rows=CHUNK_ROWS)
    run_query(frame, partial(write, sink, source, options.hold), options.checkpoint / source)


def write(sink: TailraceSink, source: str, hold: int | None, frame: DataFrame, batch_id: int) -> None:
    report = sink.write(frame, batch_id)
    print(json.dumps({"source": source, "batch": batch_id, **asdict(report.counts)}), flush=True)  # noqa: T201
    if batch_id == hold:
        sys.stdin.read()


def hold_chunks() -> None:
    """Let each thread that appends the chunks of a partition stop after its first chunk."""
    append = Appender.append

    def append_and_stop(self: Appender, stream: str, key: str, body: Body) -> None:
        append(self, stream, key, body)
        sys.stdin.read()

    Appender.append = append_and_stop  # type: ignore[method-assign]


def session(master: str, conf: list[str]) -> SparkSession:
    builder = SparkSession.builder.master(master).appName("tailrace-sink-driver")
    for setting in conf:
        name, _, value = setting.partition("=")
        builder = builder.config(name, value)
    return builder.getOrCreate()


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--master", required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--files", type=Path, required=True)
    parser.add_argument("--stream", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--token")
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--sources", type=lambda names: names.split(","), default=["files", "stream"])
    parser.add_argument("--fault", choices=FAULTS)
    parser.add_argument("--hold", type=int)
    parser.add_argument("--hold_chunks", type=int)
    parser.add_argument(
        "--at_once", type=int, default=1, help="queries; a fault that needs all cores needs 1"
    )
    parser.add_argument("--conf", action="append", default=[])
    return parser.parse_args()


if __name__ == "__main__":
    main()
