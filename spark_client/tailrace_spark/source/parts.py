"""The parts of a range: Spark plans one task for each part, and the task reads it.

A part is a range of ids in one incarnation of a stream, so a task that is retried or runs twice reads the
same entries. A task looks at the stream before and after it reads: entries that were trimmed, and a stream
that was deleted or created again, are data loss. This module keeps nothing between tasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.sql.datasource import InputPartition

from tailrace_spark.source.columns import Columns
from tailrace_spark.source.offsets import just_above, just_below
from tailrace_spark.source.options import ReadOptions
from tailrace_spark.source.stream_requests import SourceStream


@dataclass
class Part(InputPartition):
    """The entries of a stream from `start` to `end`, both included. `incarnation`: None if it is unknown."""

    stream: str
    incarnation: str | None
    start: str
    end: str


def parts_between(
    stream: str, incarnation: str | None, after: str, ends: Sequence[str]
) -> list[InputPartition]:
    """Return the parts of the range that begins after the id `after`, by the last id of each."""
    starts = [just_above(before) for before in (after, *ends[:-1])]
    return [Part(stream, incarnation, start, end) for start, end in zip(starts, ends, strict=True)]


def read_part(options: ReadOptions, columns: Columns, part: InputPartition) -> Iterator[pa.RecordBatch]:
    """Yield the entries of one part. Spark also starts a task if there are no parts; that task reads
    nothing."""
    if not isinstance(part, Part):
        return
    stream = SourceStream(options.of(part.stream))
    if not stream.is_still(part.incarnation):
        return
    yield from replace(columns, stream=part.stream).batches(stream.lines(part.start, part.end))
    if stream.is_still(part.incarnation):
        stream.check_untrimmed(just_below(part.start))
