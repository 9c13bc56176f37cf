"""The Spark source: counts a million entries and writes them to Parquet on two task threads (row 15 of
docs/performance.md).

The peer is a hand-written source: redis-py reads XRANGE pages inside mapInPandas, from a Redis with the same
entries, partitioned into the same ranges of ids. Both return an id and the fields as a map. They alternate.
The counts must match the number of entries. Another row is the processor time of a read of many small
streams, next to that of one stream with the same entries. Run it with ``python -m bench.spark_source``.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Final

import pandas as pd
import redis
from pyspark.sql import DataFrame, SparkSession

from bench import peers
from bench.rows import Effort, Row, command, in_turns, per_s
from bench.server import server_at
from bench.spark_sink import rows_of, said, session
from tailrace_client import Tailrace
from tailrace_spark import TailraceDataSource, TailraceSink

ENTRIES: Final = 1_000_000
ROUNDS: Final = 3
PAGE_ENTRIES: Final = 10_000
PARTS: Final = 4
STREAM: Final = "bench"
SMALL: Final = [f"small:{number}" for number in range(60)]
SMALL_ENTRIES: Final = 10
SMALL_ROUNDS: Final = 20
GOAL_SMALL: Final = 2.0
GOALS: Final = {"counted": 5.0, "to Parquet": 3.0}
BY_HAND: Final = "_id string, fields map<string,string>"

Read = Callable[[], DataFrame]


def measure(effort: Effort) -> Iterator[Row]:
    """Yield the rows 15."""
    total, rounds = effort.count(ENTRIES), effort.rounds(ROUNDS)
    servers = server_at(None, "interval"), peers.redis("interval")
    with servers[0] as url, servers[1] as port, session() as spark, scratch() as path:
        spark.dataSource.register(TailraceDataSource)
        said(f"the source: {total} entries to both servers")
        TailraceSink(url, STREAM, producer_id="bench").write(rows_of(spark, total), 0)
        copy_to_redis(url, port)
        spark.catalog.clearCache()
        ours = partial(by_source, spark, url)
        theirs = partial(by_hand, spark, port, ranges_of(url))
        for what, rate in (("counted", counted_per_s), ("to Parquet", partial(written_per_s, path))):
            said(f"the source, {what}: {rounds} rounds in two ways, and one to warm up")
            ways = (partial(rate, ours, total), partial(rate, theirs, total))
            for warm_up in ways:
                warm_up()
            yield _row(what, *in_turns(rounds, *ways))
        yield _small(spark, url, effort.rounds(SMALL_ROUNDS))


def _small(spark: SparkSession, url: str, rounds: int) -> Row:
    """Return the row of the small streams."""
    total = len(SMALL) * SMALL_ENTRIES
    said(f"the source, {len(SMALL)} small streams: {rounds} rounds in two ways, and three to warm up")
    with Tailrace(url) as tailrace:
        for number, name in enumerate([*SMALL, "small"]):
            count_of = SMALL_ENTRIES if number < len(SMALL) else total
            tailrace.stream(name).append_many({"rider": f"r{n}", "speed": "30.2"} for n in range(count_of))
    ways = [partial(counted_ms, spark, url, names, total) for names in (SMALL, ["small"])]
    in_turns(3, *ways)
    ours, theirs = in_turns(rounds, *ways)
    what = f"Spark source, {len(SMALL)} streams of {SMALL_ENTRIES} entries, processor time; beside one stream"
    ratio, goal = ours / theirs, f"<= {GOAL_SMALL:g} x"
    return Row(15, what, "interval", f"{ours:.0f} ms", f"{theirs:.0f} ms", ratio, goal, ratio <= GOAL_SMALL)


def counted_ms(spark: SparkSession, url: str, streams: list[str], total: int) -> float:
    """Return the processor time of a count over all columns, of Spark, its workers and the server."""
    reader = spark.read.format("tailrace").options(url=url, streams=",".join(streams))
    before_ms = processor_ms()
    row = reader.load().selectExpr("count(_id)", "count(fields)").head()
    _check(row is not None and row[0] == row[1] == total)
    return processor_ms() - before_ms


def processor_ms() -> float:
    """Return the processor time of this process and its descendants, with those that have ended."""
    parents, times = dict[int, int](), dict[int, float]()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            process_id = int(path.parent.name)
            parents[process_id] = int(fields[1])
            times[process_id] = sum(map(int, fields[11:15])) * 1000 / os.sysconf("SC_CLK_TCK")
    own = {os.getpid()}
    while found := {each for each, parent in parents.items() if parent in own} - own:
        own |= found
    return sum(times.get(each, 0) for each in own)


def _row(what: str, ours: float, theirs: float) -> Row:
    ratio, goal = ours / theirs, GOALS[what]
    what = f"Spark source, local[2,4], {what}; beside redis-py in mapInPandas"
    return Row(15, what, "interval", per_s(ours), per_s(theirs), ratio, f">= {goal} x", ratio >= goal)


def by_source(spark: SparkSession, url: str) -> DataFrame:
    """Return ids and fields through `format("tailrace")`."""
    return spark.read.format("tailrace").options(url=url, stream=STREAM).load().select("_id", "fields")


def by_hand(spark: SparkSession, port: int, ranges: list[tuple[str, str]]) -> DataFrame:
    """Return ids and fields through redis-py, one page at a time."""
    a_task_each = spark.sparkContext.parallelize(ranges, len(ranges))
    frame = spark.createDataFrame(a_task_each, "start string, end string")
    return frame.mapInPandas(partial(pages, port), BY_HAND)


def pages(port: int, frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Yield the pages of a task's ranges."""
    client = redis.Redis(port=port, decode_responses=True)
    for frame in frames:
        for start, end in zip(frame["start"], frame["end"], strict=True):
            after = start
            while entries := client.xrange(STREAM, after, end, PAGE_ENTRIES):
                yield pd.DataFrame(entries, columns=["_id", "fields"])
                after = "(" + str(entries[-1][0])


def counted_per_s(read: Read, total: int) -> float:
    """Return the rate of a count over all columns."""
    began_s = perf_counter()
    row = read().selectExpr("count(_id)", "count(fields)").head()
    taken_s = perf_counter() - began_s
    _check(row is not None and row[0] == row[1] == total)
    return total / taken_s


def written_per_s(path: Path, read: Read, total: int) -> float:
    """Return the rate of writing all columns to Parquet."""
    target = str(path / str(next(_NUMBERS)))
    began_s = perf_counter()
    read().write.parquet(target)
    taken_s = perf_counter() - began_s
    _check(SparkSession.active().read.parquet(target).count() == total)
    return total / taken_s


def copy_to_redis(url: str, port: int) -> None:
    """Copy the entries with their ids."""
    with Tailrace(url) as tailrace, redis.Redis(port=port) as client:
        pipeline = client.pipeline(transaction=False)
        for number, (entry_id, fields) in enumerate(tailrace.stream(STREAM).read(), start=1):
            pipeline.xadd(STREAM, fields, id=entry_id)
            if number % PAGE_ENTRIES == 0:
                pipeline.execute()
        pipeline.execute()


def ranges_of(url: str) -> list[tuple[str, str]]:
    """Ranges of ids with equal counts, computed by Tailrace for both sides."""
    with Tailrace(url) as tailrace:
        return [(part.start, part.end) for part in tailrace.stream(STREAM).split(PARTS).parts]


@contextmanager
def scratch() -> Iterator[Path]:
    """Yield a temporary directory for the output."""
    with tempfile.TemporaryDirectory() as directory:
        yield Path(directory)


def _check(is_whole: bool) -> None:  # noqa: FBT001 - a condition is what it checks
    """Raise if some entries were not read, so that the rate counts no missing ones."""
    if not is_whole:
        raise SystemExit("some entries were not read")


_NUMBERS: Final = count()


if __name__ == "__main__":
    command(measure, __doc__)
