"""Make a batch repeatable: a replay must have the same rows in the same partitions and in the same order.

A replay sends the same chunks with the same keys, and the server adds only the chunks that it does not have.
This works if each partition returns the same rows in the same order each time. A source does so within one
partition. A shuffle gives each partition the same rows in the order of their arrival; then the partition is
sorted.

This module looks at Spark's physical plan without running it. It switches adaptive execution off while it
looks and while the batch is written, because adaptive execution chooses the number of partitions from
measurements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import Column, DataFrame, SparkSession

from tailrace_spark.errors import BadOption
from tailrace_spark.sink.columns import exact_order, id_order, named
from tailrace_spark.sink.layout import layout_of
from tailrace_spark.sink.options import SinkOptions

ADAPTIVE: Final = "spark.sql.adaptive.enabled"
SHUFFLED_OR_FORGOTTEN: Final = ("ShuffledRowRDD", "CheckpointRDD")
"""Names in the lineage of an RDD: rows in the order of arrival, and rows whose origin is no longer known."""


@dataclass(frozen=True, slots=True)
class Repeatable:
    """A DataFrame that returns the same rows in the same order each time, and its number of partitions."""

    frame: DataFrame
    partitions: int
    is_sorted: bool

    def layout(self, options: SinkOptions) -> str:
        """Return the layout of the batch: everything that decides how it is cut into chunks."""
        order = "/".join(("sorted", *options.sort_by)) if self.is_sorted else "source"
        return layout_of(options, order, self.frame.schema, self.partitions)


@contextmanager
def fixed_partitions(session: SparkSession) -> Iterator[None]:
    """Switch adaptive execution off inside the context, so that plans keep their partitions."""
    before = session.conf.get(ADAPTIVE)
    session.conf.set(ADAPTIVE, "false")
    try:
        yield
    finally:
        session.conf.set(ADAPTIVE, str(before))


def repeatable(frame: DataFrame, options: SinkOptions) -> Repeatable:
    """Return `frame` with the partitions and order that the options require. Call it inside
    `fixed_partitions`."""
    if options.keep_ids:
        one = frame.repartition(1).sortWithinPartitions(*id_order())
        return Repeatable(one, 1, is_sorted=True)
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
        raise BadOption(
            f"sort_by: {missing[0]!r} is not a column; the columns are {', '.join(frame.columns)}"
        )
    return frame.sortWithinPartitions(*[named(name) for name in first], *contents)


def _lineage(frame: DataFrame) -> Any:
    """Return the RDD of the plan. The plan is made again, because `frame` may have been planned before."""
    return frame.select("*")._jdf.queryExecution().toRdd()  # noqa: SLF001 - Python has no other access to it
