"""A driver of its own that is interrupted as a notebook is: `python -m tests.spark.interrupt_driver`.

Each step begins a write whose tasks wait, interrupts the main thread (SIGINT), and lets the tasks continue.
It prints one JSON object a step. It owns no assertion.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Final

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession

from tailrace_spark import TailraceSink
from tests.spark.queries import next_page, read_stream, run_query
from tests.spark.sink_driver import session

LOOKS_EVERY_S: Final = 0.1


def main() -> None:
    options = parsed()
    spark = session("local[2,4]", options.conf)
    sink = TailraceSink(options.url, options.target, chunk_rows=100)
    held = Held(options.directory)
    rows = read_stream(spark, options.files)
    say("query", **interrupted_query(held, rows, sink, options.checkpoint))
    direct = TailraceSink(options.url, f"{options.target}:direct", producer_id="direct")
    numbers = spark.range(100).selectExpr("id as n")
    write = partial(direct, held.frame(numbers, "direct"), 1)
    say("direct", is_interrupted=held.interrupts(write, "direct"))
    held.release("direct")
    direct(numbers, 1)
    say("after", **written_after(spark, numbers, options.url, f"{options.target}:after"))
    save = partial(save_to, options.url, f"{options.target}:saved", held.frame(numbers, "saved"))
    say("saved", is_interrupted=held.interrupts(save, "saved"))
    held.release("saved")
    next_page(options.url, f"{options.target}:saved")
    spark.stop()


def interrupted_query(held: Held, rows: DataFrame, sink: TailraceSink, checkpoint: Path) -> dict[str, bool]:
    """Interrupt the wait for a query, stop it, and run it again to its end."""
    writer = held.frame(rows, "query").writeStream.foreachBatch(sink)
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    seen = {"is_interrupted": held.interrupts(query.awaitTermination, "query"), "is_active": query.isActive}
    held.release("query")
    query.stop()
    run_query(rows, sink, checkpoint)
    return seen


def written_after(spark: SparkSession, numbers: DataFrame, url: str, stream: str) -> dict[str, str]:
    """Write with the format in the interrupted thread, first without the line of docs/spark.md."""
    refusal = ""
    try:
        save_to(url, stream, numbers)
    except Py4JError as error:
        refusal = str(error)
    spark.createDataFrame([], "n int")
    save_to(url, stream, numbers)
    return {"refusal": refusal}


def save_to(url: str, stream: str, frame: DataFrame) -> None:
    frame.write.format("tailrace").mode("append").options(url=url, stream=stream).save()


class Held:
    """Frames whose tasks wait until they may continue."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def frame(self, frame: DataFrame, name: str) -> DataFrame:
        return frame.mapInArrow(partial(hold, self._directory, name), frame.schema)

    def interrupts(self, wait: Callable[[], object], name: str) -> bool:
        """Call `wait`, interrupt it when a task waits, and return whether it raised `KeyboardInterrupt`."""
        Thread(target=interrupt_when, args=(self._directory / f"{name}-begun",)).start()
        try:
            wait()
        except KeyboardInterrupt:
            return True
        return False

    def release(self, name: str) -> None:
        (self._directory / f"{name}-released").touch()


def hold(directory: Path, name: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    (directory / f"{name}-begun").touch()
    until(directory / f"{name}-released")
    yield from batches


def interrupt_when(path: Path) -> None:
    until(path)
    os.kill(os.getpid(), signal.SIGINT)


def until(path: Path) -> None:
    while not path.exists():
        time.sleep(LOOKS_EVERY_S)


def say(step: str, **seen: object) -> None:
    print(json.dumps({"step": step, **seen}), flush=True)  # noqa: T201


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--files", type=Path, required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--conf", action="append", default=[])
    return parser.parse_args()


if __name__ == "__main__":
    main()
