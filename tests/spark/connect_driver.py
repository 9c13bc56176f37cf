"""A client of a real Spark Connect server: `python -m tests.spark.connect_driver`.

The server runs in a Java process of this driver and listens on loopback only. The driver reads a stream,
copies it to two others, by a batch query and by a streaming query, and tries what a Connect session cannot
do. It prints one JSON object for each step. It owns no assertion.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable

# Spark takes a free port then, so that several servers can run on one machine.
os.environ["SPARK_TESTING"] = "1"

from pyspark.sql import SparkSession

from tailrace_spark import BadOption, TailraceSink, archive_stream, read_history


def main() -> None:
    options = parsed()
    spark = session(options.conf)
    told("session", module=type(spark).__module__)
    stream = {"url": options.url, "stream": options.stream}
    frame = spark.read.format("tailrace").options(**stream).load()
    told("read", ids=[row._id for row in frame.sort("_id").collect()])
    spark.sql(
        f"CREATE TEMPORARY VIEW seen USING tailrace OPTIONS (url '{options.url}', stream '{options.stream}')"
    )
    told("view", counts=[row.n for row in spark.sql("SELECT count(*) AS n FROM seen").collect()])
    frame.write.format("tailrace").mode("append").options(url=options.url, stream=options.batch).save()
    follow = spark.readStream.format("tailrace").options(**stream, startingOffsets="earliest").load()
    target = {"url": options.url, "stream": options.streaming, "checkpointLocation": options.checkpoint}
    query = follow.writeStream.format("tailrace").options(**target).trigger(availableNow=True).start()
    query.awaitTermination()
    told("sink", refusal=refusal_of(lambda: TailraceSink(options.url, "s").write(spark.range(1), 0)))
    told("archive", refusal=refusal_of(lambda: archive_stream(spark, options.url, "s", "/a")))
    told("history", refusal=refusal_of(lambda: read_history(spark, options.url, "s", "/a")))
    spark.stop()


def session(settings: list[str]) -> SparkSession:
    builder = SparkSession.builder.remote("local[2]")
    for setting in settings:
        name, _, value = setting.partition("=")
        builder = builder.config(name, value)
    return builder.getOrCreate()


def refusal_of(call: Callable[[], object]) -> str | None:
    try:
        call()
    except BadOption as error:
        return str(error)
    return None


def told(step: str, **seen: object) -> None:
    print(json.dumps({"step": step, **seen}), flush=True)  # noqa: T201


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("url", "stream", "batch", "streaming", "checkpoint"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--conf", action="append", default=[])
    return parser.parse_args()


if __name__ == "__main__":
    main()
