"""The parts of a range: Spark plans one task for each part, and the task reads it.

A part is only a range of ids, so a task that is retried or runs twice reads the same entries. This module
keeps nothing between tasks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import InputPartition

from tailrace_spark.source.columns import Columns
from tailrace_spark.source.offsets import just_below
from tailrace_spark.source.options import ReadOptions
from tailrace_spark.source.stream_requests import SourceStream


@dataclass
class Part(InputPartition):
    """The entries from `start` to `end`, both included."""

    start: str
    end: str


def parts_of(stream: SourceStream, after: str, end: str) -> list[Part]:
    """Split the range (after, end] into parts for tasks."""
    return [Part(part.start, part.end) for part in stream.parts(after, end)]


def read_part(options: ReadOptions, columns: Columns, part: InputPartition) -> Iterator[pa.RecordBatch]:
    """Yield the entries of one part. Spark also starts a task if there are no parts; that task reads
    nothing."""
    if not isinstance(part, Part):
        return
    stream = SourceStream(options)
    yield from columns.batches(stream.lines(part.start, part.end))
    if options.fail_on_data_loss:
        stream.check_untrimmed(just_below(part.start))
