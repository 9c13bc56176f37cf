"""Make a batch repeatable: a replay must have the same rows in the same partitions and in the same order.

A replay sends the same chunks with the same keys, and the server adds only the chunks that it does not have.
This works if each partition returns the same rows in the same order each time. A source does so within one
partition. A shuffle gives each partition the same rows in the order of their arrival; then the partition is
sorted.

This module decides on partitions and order. `planning` looks at Spark's physical plan, and fixes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame

from tailrace_spark.errors import BadOption
from tailrace_spark.sink.columns import exact_order, id_order, named
from tailrace_spark.sink.layout import layout_of
from tailrace_spark.sink.options import SinkOptions
from tailrace_spark.sink.planning import Planned, planned


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


def repeatable(frame: DataFrame, options: SinkOptions) -> Repeatable:
    """Return `frame` with the partitions and order that the options require."""
    if options.keep_ids:
        one = frame.repartition(1).sortWithinPartitions(*id_order())
        return Repeatable(one, 1, is_sorted=True)
    contents = exact_order(frame)
    if options.partitions is not None:
        spread = frame.repartition(options.partitions, *contents)
        fixed = planned(_sorted(spread, options.sort_by, contents))
        return Repeatable(fixed.frame, options.partitions, is_sorted=True)
    fixed = planned(frame)
    is_sorted = _must_be_sorted(options, fixed)
    ordered = _sorted(fixed.frame, options.sort_by, contents) if is_sorted else fixed.frame
    return Repeatable(ordered, fixed.partitions, is_sorted)


def _must_be_sorted(options: SinkOptions, fixed: Planned) -> bool:
    if options.order != "auto" or options.sort_by:
        return options.order != "source"
    return fixed.is_reordered


def _sorted(frame: DataFrame, first: Sequence[str], contents: Sequence[Column]) -> DataFrame:
    missing = [name for name in first if name not in frame.columns]
    if missing:
        raise BadOption(
            f"sort_by: {missing[0]!r} is not a column; the columns are {', '.join(frame.columns)}"
        )
    return frame.sortWithinPartitions(*[named(name) for name in first], *contents)
