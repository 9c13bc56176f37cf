"""Reading a stream as it grows: which range each micro-batch has.

How it works. An offset is an entry's id, in Spark's checkpoint; a batch is the range (start, end]. The
first `latestOffset` pins where the query begins, since Spark asks for the initial offset again after a
restart while the first batch is not committed. Where nothing is new, `latestOffset` waits at the server for
a while: Spark would ask some 90 times a second. It repeats what fails until a deadline, as an error ends the
query.

What can go wrong, and what then holds:

* The driver dies: the restarted query has the same range again, and reads the same entries.
* Entries behind the offset were trimmed: an error, unless `failOnDataLoss` is false; then the query goes on
  with what is left. It is asked for with every `latestOffset`, and again by each task after it has read.
* The stream was deleted and made anew: the same. Going on, the query reads it from its beginning.
* Spark's `commit` comes only when a next batch has been planned, and `stop` not at all: nothing is done
  there. The group that shows the query's progress is moved when Spark asks for what is new, idle or not: by
  then all batches before are done. Nothing is ever trimmed or acknowledged.
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

from tailrace_spark.errors import BadOption, SourceError
from tailrace_spark.source.columns import Columns
from tailrace_spark.source.offsets import UNPINNED, ZERO_ID, Offset, begun, earlier, later
from tailrace_spark.source.options import ReadOptions
from tailrace_spark.source.parts import parts_of, read_part
from tailrace_spark.source.stream_requests import SourceStream

log: Final = logging.getLogger(__name__)


class TailraceStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """A streaming read; one object on the driver as long as the query runs, and a copy in each task.

    `_target`: where a run that takes what is there ends. `_planned`: up to where batches were planned.
    `_moved_to`: where the group stands.
    """

    def __init__(self, options: ReadOptions, columns: Columns) -> None:
        if options.ending.kind != "latest":
            raise BadOption("endingOffsets: a stream has no end; it says something to a batch only (read)")
        columns.check()
        self._options = options
        self._columns = columns
        self._stream = SourceStream(options)
        self._target: str | None = None
        self._planned: str | None = None
        self._moved_to: str | None = None

    def initialOffset(self) -> Offset:  # noqa: N802 - Spark's name
        """A mark. The first batch's end says what it stands for."""
        return dict(UNPINNED)

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        """What `maxEntriesPerTrigger` says."""
        entries = self._options.max_entries
        return ReadAllAvailable() if entries is None else ReadMaxRows(entries)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """From here on, what is there now is all."""
        self._target = self._stream.state().last_id

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: N802 - Spark's name
        """Where the batch that begins at `start` ends; `start` itself where there is nothing new."""
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
        """The stream's end and how many entries the query is behind, for its progress."""
        if self._planned is None:
            return None
        return {"id": self._stream.state().last_id, "entries_behind": self._stream.count(self._planned)}

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """The range (start, end] for tasks. An end below its start is that of a stream made anew."""
        after = begun(start, end)
        if later(after, end["id"]) != end["id"]:
            after = ZERO_ID
        return parts_of(self._stream, after, end["id"])

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """In a task."""
        return read_part(self._options, self._columns, partition)

    def _start_of_query(self) -> str:
        """Just below the first entry that the query is to read."""
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
        self._stream.check_not_made_anew(last, after)
        return last

    def _limited(self, after: str, last: str, limit: ReadLimit) -> str:
        if not isinstance(limit, ReadMaxRows) or later(last, after) != last:
            return last
        page_end = self._stream.page_end(after, limit.max_rows)
        return last if page_end is None else earlier(page_end, last)

    def _move_group(self, done: str) -> None:
        """Spark asks for a next batch when all before it are done. The first failure is an error, such as a
        token that may not do this; later ones are a line in a log, since only a figure suffers."""
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
