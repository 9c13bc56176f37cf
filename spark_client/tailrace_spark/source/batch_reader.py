"""The batch read: plans the range of a stream on the driver, and reads one part in each task.

How it works. The plan pins both ends of the range to ids. The server splits the range by its index into parts
of about equal counts. Each task exports one part and yields Arrow batches.

What can go wrong: entries can be trimmed before their task reads them. With `failOnDataLoss`, each task asks
after reading its part whether entries at or after its start were trimmed, and fails if so. Entries that were
deleted one by one are no data loss. If a connection breaks, the read resumes after the last complete line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from tailrace_spark.errors import BadOption, sentence_first
from tailrace_spark.source.columns import Columns
from tailrace_spark.source.offsets import earlier, later
from tailrace_spark.source.options import ReadOptions
from tailrace_spark.source.parts import parts_of, read_part
from tailrace_spark.source.stream_requests import SourceStream


@sentence_first
class TailraceReader(DataSourceReader):
    """The reader of a batch query."""

    def __init__(self, options: ReadOptions, columns: Columns) -> None:
        if options.max_entries is not None or options.group is not None:
            raise BadOption(
                "maxEntriesPerTrigger, group: a batch read has no such option; remove it, or use readStream"
            )
        if options.starting.kind == "latest":
            raise BadOption(
                "startingOffsets: 'latest' leaves a batch nothing to read; use earliest, an id or a time"
            )
        columns.check()
        self._options = options
        self._columns = columns

    def partitions(self) -> Sequence[InputPartition]:
        """Return the parts of the range as it is now. Entries that are appended later are not part of it."""
        stream = SourceStream(self._options)
        after = stream.start_of()
        starting = self._options.starting
        if starting.kind == "id" and self._options.fail_on_data_loss:
            stream.check_untrimmed(starting.id)
        end = earlier(stream.state().last_id, self._options.ending.id)
        return parts_of(stream, later(after, starting.id), end)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read one part, in a task."""
        return read_part(self._options, self._columns, partition)
