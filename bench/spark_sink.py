"""The Spark sink: a million rows of about 120 bytes on two task threads (row 14 of docs/performance.md).

Five ways alternate over the same cached rows: the sink with each of its commits, into a server with
durability `interval` and into a no-op server, and a Python loop over the rows into the no-op server, with the
sink's number of rows a request. All rows must be in the stream at the end. Run it with ``python -m
bench.spark_sink``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection
from itertools import count
from typing import Final

import msgspec
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import Row as SparkRow

from bench.rows import Effort, Row, command, in_turns, per_s
from bench.server import server_at
from tailrace_client import Tailrace
from tailrace_spark import TailraceSink
from tailrace_spark.sink.options import CommitUnit

ROWS: Final = 1_000_000
ROUNDS: Final = 5
CHUNK_ROWS: Final = 5_000
STREAM: Final = "bench"
COMMITS: Final[tuple[CommitUnit, ...]] = ("batch", "chunk")
GOAL: Final = 0.5
GOAL_ROW_BY_ROW: Final = 1.0


def measure(effort: Effort) -> Iterator[Row]:
    """Yield the rows 14."""
    total, rounds = effort.count(ROWS), effort.rounds(ROUNDS)
    with server_at(None, "interval") as url, swallowing_server() as swallow_url, session() as spark:
        frame = rows_of(spark, total)
        timers = [SinkTimer(to, commit, frame, total) for commit in COMMITS for to in (url, swallow_url)]
        row_by_row = partial(row_by_row_per_s, frame, total, swallow_url)
        ways: list[Callable[[], float]] = [*(timer.rows_per_s for timer in timers), row_by_row]
        said(f"the sink: {rounds} rounds of {total} rows in {len(ways)} ways, and one to warm up")
        for warm_up in ways:
            warm_up()
        ours, ceiling, at_once, ceiling_at_once, one_by_one = in_turns(rounds, *ways)
        check_length(url, 2 * total * (rounds + 1))
    yield _row("Spark sink", "the same sink, a no-op server", ours, ceiling, GOAL)
    yield _row("Spark sink", "row by row, a no-op server", ours, one_by_one, GOAL_ROW_BY_ROW)
    yield _row("Spark sink, commit=chunk", "the same sink, a no-op server", at_once, ceiling_at_once, GOAL)


def said(what: str) -> None:
    """Print the name of the measurement that begins, because a round takes a while."""
    print(what, file=sys.stderr, flush=True)


def _row(sink: str, peer: str, ours: float, theirs: float, goal: float) -> Row:
    ratio = ours / theirs
    what = f"{sink}, local[2,4]; beside {peer}"
    return Row(14, what, "interval", per_s(ours), per_s(theirs), ratio, f">= {goal} x", ratio >= goal)


class SinkTimer:
    """Writes the frame repeatedly, as one batch each time."""

    def __init__(self, url: str, commit: CommitUnit, frame: DataFrame, total: int) -> None:
        self._sink = TailraceSink(url, STREAM, producer_id=commit, commit=commit, chunk_rows=CHUNK_ROWS)
        self._frame = frame
        self._total = total
        self._batch_ids = count()

    def rows_per_s(self) -> float:
        """Return the rate of one more batch."""
        report = self._sink.write(self._frame, next(self._batch_ids))
        assert report.counts.rows == self._total
        return self._total / report.duration_s


def row_by_row_per_s(frame: DataFrame, total: int, url: str) -> float:
    """Return the rate of `foreachPartition` with one Python object for each row."""
    began_s = time.perf_counter()
    frame.foreachPartition(partial(send_row_by_row, url))
    return total / (time.perf_counter() - began_s)


def send_row_by_row(url: str, rows: Iterable[SparkRow]) -> None:
    """Send the rows as a simple hand-written sink does: each row becomes a dict, and each dict a line."""
    encode = msgspec.json.Encoder().encode
    connection = HTTPConnection(url.removeprefix("http://"))
    lines: list[bytes] = []
    for row in rows:
        lines.append(encode({name: str(value) for name, value in row.asDict().items()}))
        if len(lines) == CHUNK_ROWS:
            _post(connection, lines)
            lines.clear()
    if lines:
        _post(connection, lines)
    connection.close()


def _post(connection: HTTPConnection, lines: Iterable[bytes]) -> None:
    headers = {"Content-Type": "application/x-ndjson"}
    connection.request("POST", f"/v1/streams/{STREAM}/entries:import", b"\n".join(lines), headers)
    connection.getresponse().read()


def rows_of(spark: SparkSession, total: int) -> DataFrame:
    """Return two partitions in memory, with about 120 bytes a row as JSON."""
    frame = spark.range(0, total, 1, 2).selectExpr(
        "id as reading",
        "concat('rider-', id % 9973) as rider",
        "(id % 613) / 10D as speed",
        "id % 200 as position",
        "timestamp_millis(1767225600000 + id) as at",
    )
    frame.persist().count()
    return frame


@contextmanager
def session() -> Iterator[SparkSession]:
    """Yield a local Spark session with two task threads."""
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


@contextmanager
def swallowing_server() -> Iterator[str]:
    """Yield the URL of a new `bench.swallow` server, stopped on exit."""
    arguments = [sys.executable, "-m", "bench.swallow"]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield process.stdout.readline().strip()
        process.communicate()


def check_length(url: str, expected: int) -> None:
    """Check that the stream has all rows, so that the rate counts no lost ones."""
    with Tailrace(url) as tailrace:
        length = tailrace.stream(STREAM).length()
    if length != expected:
        raise SystemExit(f"{expected} rows were sent, {length} are there")


if __name__ == "__main__":
    command(measure, __doc__)
