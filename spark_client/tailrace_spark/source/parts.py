"""The parts of a batch: Spark plans one task for each part, and the task reads it.

A part is a range of ids in one incarnation of a stream, or several such ranges in streams with few entries.
So a task that is retried or runs twice reads the same entries. After its reads, a task checks the streams:
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
from tailrace_spark.source.requests import Place, Selection, SourceStream


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
    if not isinstance(part, Part):
        return
    for each in part.ranges:
        stream = SourceStream(options.of(each.stream))
        if options.fail_on_data_loss or stream.is_still(each.incarnation):
            yield from replace(columns, stream=each.stream).batches(stream.lines(each.start, each.end))
    Selection(options).check_whole(
        [Place(each.stream, just_below(each.start), each.incarnation) for each in part.ranges]
    )
