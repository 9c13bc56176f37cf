"""The streaming read: decides the range of each micro-batch.

How it works. An offset is the id of an entry, and Spark stores it in the checkpoint. A batch is the range
(start, end]. The first `latestOffset` pins where the query begins, because after a restart Spark asks for the
initial offset again until the first batch is committed. If there are no new entries, `latestOffset` waits at
the server; without this wait Spark would ask some 90 times a second. Failed requests are retried until a
deadline, because an error ends the query.

What can go wrong, and what happens then:

* The driver dies: the restarted query has the same range again and reads the same entries.
* Entries after the offset were trimmed: this is an error, unless `failOnDataLoss` is false; then the query
  continues with the entries that are left. Every `latestOffset` checks this, and each task checks it again
  after its read.
* The stream was deleted and created again: the same applies. If the query continues, it reads the new stream
  from its beginning.
* Spark calls `commit` only after it planned the next batch, and never calls `stop`: this reader does nothing
  there. It moves the group that shows the progress of the query when Spark asks for new entries, idle or not:
  at that time all earlier batches are done. It never trims or acknowledges anything.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from tailrace_spark.errors import BadOption, SourceError, sentence_first
from tailrace_spark.source.columns import Columns
from tailrace_spark.source.offsets import UNPINNED, ZERO_ID, Offset, begun, earlier, later
from tailrace_spark.source.options import ReadOptions
from tailrace_spark.source.parts import parts_of, read_part
from tailrace_spark.source.stream_requests import SourceStream

log: Final = logging.getLogger(__name__)


@sentence_first
class TailraceStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The reader of a streaming query. One object lives on the driver as long as the query runs; each task
    has a copy.

    `_target`: the id where a run with the trigger AvailableNow ends. `_planned`: the id up to which batches
    are planned. `_moved_to`: the current position of the group.
    """

    def __init__(self, options: ReadOptions, columns: Columns) -> None:
        if options.ending.kind != "latest":
            raise BadOption("endingOffsets: a streaming read has no end; remove the option, or use read")
        columns.check()
        self._options = options
        self._columns = columns
        self._stream = SourceStream(options)
        self._target: str | None = None
        self._planned: str | None = None
        self._moved_to: str | None = None

    def initialOffset(self) -> Offset:  # noqa: N802 - Spark's name
        """Return a marker without an id. The offset of the first batch contains the start that replaces
        it."""
        return dict(UNPINNED)

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        """Return the limit that `maxEntriesPerTrigger` sets."""
        entries = self._options.max_entries
        return ReadAllAvailable() if entries is None else ReadMaxRows(entries)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """Pin the end of the run to the last id that exists now."""
        self._target = self._stream.state().last_id

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: N802 - Spark's name
        """Return where the batch that begins at `start` ends; `start` itself if there are no new entries."""
        pinned = start.get("id")
        after = self._start_of_query() if pinned is None else pinned
        self._move_group(after)
        last = self._last_id(after)
        end = self._limited(after, last, limit)
        self._planned = end
        if pinned is None:
            return {"from": after, "id": end}
        return start if end == after else {"id": end}

    def reportLatestOffset(self) -> dict[str, Any] | None:  # noqa: N802 - Spark's name
        """Return the end of the stream and the number of entries that the query is behind, for the progress
        of the query."""
        if self._planned is None:
            return None
        return {"id": self._stream.state().last_id, "entries_behind": self._stream.count(self._planned)}

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """Return the parts of the range (start, end]. If the end is below the start, the stream was created
        again, and the range begins at its first entry."""
        after = begun(start, end)
        if later(after, end["id"]) != end["id"]:
            after = ZERO_ID
        return parts_of(self._stream, after, end["id"])

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read one part, in a task."""
        return read_part(self._options, self._columns, partition)

    def _start_of_query(self) -> str:
        """Return the id just below the first entry that the query reads."""
        starting = self._options.starting
        if starting.kind == "latest":
            return self._stream.state().last_id
        if starting.kind == "id" and self._options.fail_on_data_loss:
            self._stream.check_untrimmed(starting.id)
        return later(self._stream.start_of(), starting.id)

    def _last_id(self, after: str) -> str:
        if self._target is not None:
            self._stream.wait_for_more(after, 0)
            return later(self._target, after)
        self._stream.wait_for_more(after, self._options.poll_ms)
        last = self._stream.state().last_id
        self._stream.check_not_recreated(last, after)
        return last

    def _limited(self, after: str, last: str, limit: ReadLimit) -> str:
        if not isinstance(limit, ReadMaxRows) or later(last, after) != last:
            return last
        page_end = self._stream.page_end(after, limit.max_rows)
        return last if page_end is None else earlier(page_end, last)

    def _move_group(self, done: str) -> None:
        """Move the group to `done`. Spark asks for a next batch only when all earlier batches are done.

        If the first attempt fails, for example because the token lacks the scope, the error ends the query.
        Later failures are only logged, since they affect only the displayed lag.
        """
        group = self._options.group
        if group is None or done == self._moved_to:
            return
        try:
            self._stream.move_group(group, done)
        except SourceError as error:
            if self._moved_to is None:
                raise
            log.warning("the group %r was not moved to %s: %s", group, done, error)
        self._moved_to = done
