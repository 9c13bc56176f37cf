"""What makes a batch the same batch when it is written again: its rows in the same partitions and order,
and a name for how it is cut up.

A replay sends the same chunks under the same keys, and the server adds those that it does not have. That
holds where each partition gives the same rows in the same order each time. Sources do, within one
partition. A shuffle gives each partition the same rows, in the order in which they happen to arrive: then
each partition is sorted.

It looks at Spark's physical plan, without running it. Adaptive execution is off while it looks and while
the batch is written: it chooses the number of partitions by what it measures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import Column, DataFrame, SparkSession

from tailrace_spark.errors import BadOption
from tailrace_spark.sink.columns import exact_order, named
from tailrace_spark.sink.layout import layout_of
from tailrace_spark.sink.options import SinkOptions

ADAPTIVE: Final = "spark.sql.adaptive.enabled"
SHUFFLED_OR_FORGOTTEN: Final = ("ShuffledRowRDD", "CheckpointRDD")
"""In an RDD's lineage: rows in the order of arrival; rows whose way here is no longer known."""


@dataclass(frozen=True, slots=True)
class Repeatable:
    """A frame that gives the same rows in the same order each time, and the number of its partitions."""

    frame: DataFrame
    partitions: int
    is_sorted: bool

    def layout(self, options: SinkOptions) -> str:
        """The layout of the batch: everything that decides how it is cut into chunks."""
        order = "/".join(("sorted", *options.sort_by)) if self.is_sorted else "source"
        return layout_of(options, order, self.frame.schema, self.partitions)


@contextmanager
def fixed_partitions(session: SparkSession) -> Iterator[None]:
    """Within it, plans have the partitions that they were made with."""
    before = session.conf.get(ADAPTIVE)
    session.conf.set(ADAPTIVE, "false")
    try:
        yield
    finally:
        session.conf.set(ADAPTIVE, str(before))


def repeatable(frame: DataFrame, options: SinkOptions) -> Repeatable:
    """`frame` in such partitions and order as the options say. Call it within `fixed_partitions`."""
    contents = exact_order(frame)
    if options.partitions is not None:
        spread = frame.repartition(options.partitions, *contents)
        return Repeatable(_sorted(spread, options.sort_by, contents), options.partitions, is_sorted=True)
    lineage = _lineage(frame)
    is_sorted = _must_be_sorted(options, lineage)
    ordered = _sorted(frame, options.sort_by, contents) if is_sorted else frame
    return Repeatable(ordered, lineage.getNumPartitions(), is_sorted)


def _must_be_sorted(options: SinkOptions, lineage: Any) -> bool:
    if options.order != "auto" or options.sort_by:
        return options.order != "source"
    return any(word in lineage.toDebugString() for word in SHUFFLED_OR_FORGOTTEN)


def _sorted(frame: DataFrame, first: Sequence[str], contents: Sequence[Column]) -> DataFrame:
    missing = [name for name in first if name not in frame.columns]
    if missing:
        raise BadOption(f"sort_by: there is no column {missing[0]!r}; there are {', '.join(frame.columns)}")
    return frame.sortWithinPartitions(*[named(name) for name in first], *contents)


def _lineage(frame: DataFrame) -> Any:
    """The RDD that the frame's plan makes. Planned anew, since `frame` may have been planned before."""
    return frame.select("*")._jdf.queryExecution().toRdd()  # noqa: SLF001 - Python has no other way to it
