"""The reports of batches: each task counts its partition, and the driver adds the counts up, logs them and
keeps them.

This module owns the names of the counts, the form in which tasks return them to the driver (one Arrow row for
each partition), and the listener that joins them to Spark's own progress. A task that fails for good reports
the failure in its row and does not raise: Spark would try it again at once, with the same result each time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
    StreamingQueryProgress,
)

from tailrace_spark.errors import SinkError
from tailrace_spark.sink.staging import Chunk


@dataclass(frozen=True, slots=True)
class PartitionCounts:
    """The counts of one partition.

    `rows`: rows of the partition, including dead letters. `bytes`: bytes that were appended, as they were
    sent, without repetitions. `requests`: appends to the stream that succeeded. `replayed`: how many of these
    the server had already carried out in an earlier attempt. `retries`: repeated requests. `dead_letters`:
    refused rows.
    """

    rows: int = 0
    bytes: int = 0
    requests: int = 0
    replayed: int = 0
    retries: int = 0
    dead_letters: int = 0


FAILURE: Final = "failure"
STAGED: Final = "staged"
REPORT_SCHEMA: Final = (
    ", ".join(f"{field.name} bigint" for field in fields(PartitionCounts))
    + f", {FAILURE} string, {STAGED} string"
)
"""The schema of the row that a task returns to the driver: its counts, the failure if there was one, and the
chunks that it staged, as JSON."""

_ARROW_SCHEMA: Final = pa.schema(
    [
        *((field.name, pa.int64()) for field in fields(PartitionCounts)),
        (FAILURE, pa.string()),
        (STAGED, pa.string()),
    ]
)


def report_row(
    counts: PartitionCounts, staged: Sequence[Chunk], failure: str | None = None
) -> pa.RecordBatch:
    """Return the counts as one row of `REPORT_SCHEMA`."""
    row = {**asdict(counts), FAILURE: failure, STAGED: json.dumps(staged, separators=(",", ":"))}
    return pa.RecordBatch.from_pylist([row], _ARROW_SCHEMA)


def staged_in(rows: Sequence[Row] | Sequence[dict[str, Any]]) -> list[list[Chunk]]:
    """Return the chunks that the tasks staged, one list for each partition."""
    return [[Chunk(*chunk) for chunk in json.loads(row[STAGED])] for row in rows]


@dataclass(frozen=True, slots=True)
class BatchReport:
    """The report of one complete batch: `counts` of all its `partitions`, and the duration of the write.
    `is_replay`: an earlier run had committed the batch. The rows of this run were not written; `partitions`
    is 0."""

    query_id: str
    batch_id: int
    partitions: int
    counts: PartitionCounts
    duration_s: float
    is_replay: bool = False

    def __str__(self) -> str:
        counts = ", ".join(f"{name} {count}" for name, count in asdict(self.counts).items())
        rate = self.counts.rows / self.duration_s
        return (
            f"batch {self.batch_id} of {self.query_id}: {counts}; {self.duration_s:.2f} s, {rate:.0f} rows/s"
        )


def added_up(rows: Sequence[Row] | Sequence[dict[str, Any]]) -> PartitionCounts:
    """Return the sum of the counts of all partitions. Raises `SinkError` if a partition failed."""
    failures = [row[FAILURE] for row in rows if row[FAILURE] is not None]
    if failures:
        raise SinkError(f"{failures[0]} ({len(failures)} of {len(rows)} partitions failed)")
    names = [field.name for field in fields(PartitionCounts)]
    return summed([PartitionCounts(**{name: row[name] for name in names}) for row in rows])


def summed(counts: Sequence[PartitionCounts]) -> PartitionCounts:
    """Return the sum of the counts."""
    return PartitionCounts(
        **{field.name: sum(getattr(each, field.name) for each in counts) for field in fields(PartitionCounts)}
    )


class SinkProgressListener(StreamingQueryListener):
    """A listener that passes each progress event of Spark, with the sink's report of the same batch, to
    `on_batch`.

    `report_of` finds the report by query id and batch id. A progress event without a report (of another
    query, or of an idle trigger) is ignored.
    """

    def __init__(
        self,
        report_of: Callable[[str, int], BatchReport | None],
        on_batch: Callable[[StreamingQueryProgress, BatchReport], None],
    ) -> None:
        self._report_of = report_of
        self._on_batch = on_batch

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 - Spark's name
        """Ignore the event: no batch is written yet."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802 - Spark's name
        """Pass the progress on if it belongs to a batch of this sink."""
        report = self._report_of(str(event.progress.id), event.progress.batchId)
        if report is not None:
            self._on_batch(event.progress, report)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802 - Spark's name
        """Ignore the event: no batch was written."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802 - Spark's name
        """Ignore the event: no further batch is written."""
