"""The parts of a batch: Spark plans one task for each part, and the task reads it.

A part is a range of ids in one incarnation of a stream, or several such ranges in streams with few entries.
So a task that is retried or runs twice reads the same entries. After its read, a task checks each stream:
entries that were trimmed, and a stream that was deleted or created again, are data loss. An earlier
incarnation never comes back, so one check is enough. If a loss is no error, the task looks before it reads
instead, and reads nothing from another incarnation. This module keeps nothing between tasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql.datasource import InputPartition

from tailrace_spark.entry_ids import just_above, just_below
from tailrace_spark.source.checkpoint import Position
from tailrace_spark.source.columns import Columns
from tailrace_spark.source.options import ReadOptions
from tailrace_spark.source.requests import SourceStream


class Range(NamedTuple):
    """The entries of a stream from `start` to `end`, both included. `incarnation`: None if it is unknown."""

    stream: str
    incarnation: str | None
    start: str
    end: str


@dataclass
class Part(InputPartition):
    """The ranges that one task reads, in this order."""

    ranges: tuple[Range, ...]


def parts_of(positions: Mapping[str, Position], after: Mapping[str, str]) -> list[InputPartition]:
    """Return the parts of a batch that ends at `positions`. `after`: the id after which the batch begins in
    each stream; other streams are left out."""
    parts: dict[object, list[Range]] = {}
    for name, begun in after.items():
        position = positions[name]
        ends = position.ends or ()
        for start, end in zip((begun, *ends), ends, strict=False):
            of_part = (name, end) if position.pack is None else position.pack
            parts.setdefault(of_part, []).append(Range(name, position.incarnation, just_above(start), end))
    return [Part(tuple(ranges)) for ranges in parts.values()]


def read_part(options: ReadOptions, columns: Columns, part: InputPartition) -> Iterator[pa.RecordBatch]:
    """Yield the entries of one part. Spark also starts a task if there are no parts; that task reads
    nothing."""
    if isinstance(part, Part):
        for each in part.ranges:
            yield from _read_range(options, columns, each)


def _read_range(options: ReadOptions, columns: Columns, part: Range) -> Iterator[pa.RecordBatch]:
    stream = SourceStream(options.of(part.stream))
    if not options.fail_on_data_loss and not stream.is_still(part.incarnation):
        return
    yield from replace(columns, stream=part.stream).batches(stream.lines(part.start, part.end))
    stream.check_whole(just_below(part.start), part.incarnation)
