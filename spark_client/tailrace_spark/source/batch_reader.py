"""The batch read: plans the range of each stream on the driver, and reads one part in each task.

How it works. The plan pins both ends of each range to ids. The server splits the range by its index into
parts of about equal counts. Each task exports one part and yields Arrow batches.

What can go wrong: entries can be trimmed, or their stream deleted, before their task reads them. With
`failOnDataLoss`, each task asks after reading its part whether entries at or after its start were trimmed,
and fails if so. Entries that were deleted one by one are no data loss. If a connection breaks, the read
resumes after the last complete line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition

from tailrace_spark.entry_ids import earlier
from tailrace_spark.errors import BadOption, sentence_first
from tailrace_spark.source.batches import Stretch, Stretches, counts_of, planned, stretches_after
from tailrace_spark.source.columns import Columns
from tailrace_spark.source.options import LIMITING, ReadOptions
from tailrace_spark.source.parts import parts_of, read_part
from tailrace_spark.source.pushdown import narrowed
from tailrace_spark.source.requests import Selection


@sentence_first
class TailraceReader(DataSourceReader):
    """The reader of a batch query."""

    def __init__(self, options: ReadOptions, columns: Columns) -> None:
        if options.group is not None or not options.limits.is_empty:
            raise BadOption(
                f"group, {', '.join(LIMITING)}: a batch read has no such option; remove it, or use readStream"
            )
        if options.starting.has("latest"):
            raise BadOption(
                "startingOffsets: 'latest' leaves a batch nothing to read; use earliest, an id or a time"
            )
        columns.check()
        self._options = options
        self._columns = columns
        self._filters: list[Filter] = []

    def partitions(self) -> Sequence[InputPartition]:
        """Return the parts of the ranges as they are now. Entries that are appended later are not part of
        them."""
        selection = Selection(self._options)
        ranges = self._bounded(stretches_after(selection, None, selection.look({}), None))
        batch = planned(selection, ranges, counts_of(selection, ranges))
        return parts_of(batch, {name: ranges[name].after for name in batch})

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read one part, in a task."""
        return read_part(self._options, self._columns, partition)

    def _bounded(self, ranges: Stretches) -> Stretches:
        """Return the ranges up to `endingOffsets`, without ids that the filters exclude."""
        return {name: self._bounded_range(name, stretch) for name, stretch in ranges.items()}

    def _bounded_range(self, name: str, stretch: Stretch) -> Stretch:
        whole = stretch.after, earlier(stretch.end, self._options.ending.of(name).id)
        after, end = narrowed(self._filters, name, whole)
        return stretch.cut(after, end)


class FilteringReader(TailraceReader):
    """The reader of a batch query with `pushDownPredicate`.

    It is a class of its own, because Spark refuses every reader with the method `pushFilters` while
    `spark.sql.python.filterPushdown.enabled` is off.
    """

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802 - Spark's name
        """Keep the filters for the plan, and return all of them: Spark filters the rows itself."""
        self._filters = filters
        return filters
