"""Reading a range of a stream: how it is planned on the driver, and what a task does.

How it works. The plan pins both ends to ids, cuts the range into parts of about equal counts by the server's
index, and each task exports its part and gives Arrow batches. A part is a range of ids and nothing else, so
a task that is retried, or runs twice, reads the same entries.

What can go wrong: entries can be trimmed away before their task comes by. With `failOnDataLoss` each task
asks, once it has read its part, whether anything at or behind its start was trimmed, and fails if so;
entries that were deleted one by one are nobody's loss. A connection that is cut is taken up behind the last
whole line. It keeps nothing between tasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from tailrace_spark.errors import BadOption
from tailrace_spark.source.columns import Columns
from tailrace_spark.source.offsets import earlier, later
from tailrace_spark.source.options import ReadOptions
from tailrace_spark.source.parts import parts_of, read_part
from tailrace_spark.source.stream_requests import SourceStream


class TailraceReader(DataSourceReader):
    """A batch read."""

    def __init__(self, options: ReadOptions, columns: Columns) -> None:
        if options.max_entries is not None or options.group is not None:
            raise BadOption("maxEntriesPerTrigger, group: they say something to a stream only (readStream)")
        if options.starting.kind == "latest":
            raise BadOption("startingOffsets: 'latest' leaves nothing to read in a batch")
        columns.check()
        self._options = options
        self._columns = columns

    def partitions(self) -> Sequence[InputPartition]:
        """The range as it is now; entries that come later are not part of it."""
        stream = SourceStream(self._options)
        after = stream.start_of()
        starting = self._options.starting
        if starting.kind == "id" and self._options.fail_on_data_loss:
            stream.check_untrimmed(starting.id)
        end = earlier(stream.state().last_id, self._options.ending.id)
        return parts_of(stream, later(after, starting.id), end)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """In a task."""
        return read_part(self._options, self._columns, partition)
