"""What a batch came to: counted by each partition, added up on the driver, logged and kept.

It owns the counts' names, their way from the tasks to the driver (an Arrow row a partition), and the listener
that joins them to Spark's own progress. A task that cannot go on says so in its row, and does not fail: Spark
would try it again at once, and every attempt would run into the same.
"""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class PartitionCounts:
    """`rows` of the partition, dead letters among them; `bytes` sent, once each; `requests` carried out,
    `replayed` of them in an earlier attempt; `retries` of requests by the attempt of the task that ended
    well."""

    rows: int = 0
    bytes: int = 0
    requests: int = 0
    replayed: int = 0
    retries: int = 0
    dead_letters: int = 0


FAILURE: Final = "failure"
REPORT_SCHEMA: Final = (
    ", ".join(f"{field.name} bigint" for field in fields(PartitionCounts)) + f", {FAILURE} string"
)
"""Of what a task gives to the driver: its counts, and why it failed, if it did."""

_ARROW_SCHEMA: Final = pa.schema(
    [*((field.name, pa.int64()) for field in fields(PartitionCounts)), (FAILURE, pa.string())]
)


def report_row(counts: PartitionCounts, failure: str | None = None) -> pa.RecordBatch:
    """One row of `REPORT_SCHEMA`."""
    return pa.RecordBatch.from_pylist([{**asdict(counts), FAILURE: failure}], _ARROW_SCHEMA)


@dataclass(frozen=True, slots=True)
class BatchReport:
    """One batch, whole: `counts` over its `partitions`, and how long writing took."""

    query_id: str
    batch_id: int
    partitions: int
    counts: PartitionCounts
    duration_s: float

    def __str__(self) -> str:
        counts = ", ".join(f"{name} {count}" for name, count in asdict(self.counts).items())
        rate = self.counts.rows / self.duration_s
        return (
            f"batch {self.batch_id} of {self.query_id}: {counts}; {self.duration_s:.2f} s, {rate:.0f} rows/s"
        )


def added_up(rows: Sequence[Row] | Sequence[dict[str, Any]]) -> PartitionCounts:
    """The counts of all partitions together. Raises `SinkError` where one of them failed."""
    failures = [row[FAILURE] for row in rows if row[FAILURE] is not None]
    if failures:
        raise SinkError(f"{failures[0]} ({len(failures)} of {len(rows)} partitions failed)")
    return PartitionCounts(
        **{field.name: sum(row[field.name] for row in rows) for field in fields(PartitionCounts)}
    )


class SinkProgressListener(StreamingQueryListener):
    """Hands each progress of Spark's on together with the sink's report of the same batch.

    `report_of` finds the report by query and batch; a progress without one (another query's, an idle
    trigger's) is passed over.
    """

    def __init__(
        self,
        report_of: Callable[[str, int], BatchReport | None],
        on_batch: Callable[[StreamingQueryProgress, BatchReport], None],
    ) -> None:
        self._report_of = report_of
        self._on_batch = on_batch

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 - Spark's name
        """Nothing was written yet."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802 - Spark's name
        """A batch was committed."""
        report = self._report_of(str(event.progress.id), event.progress.batchId)
        if report is not None:
            self._on_batch(event.progress, report)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802 - Spark's name
        """Nothing was written."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802 - Spark's name
        """Nothing more is written."""
