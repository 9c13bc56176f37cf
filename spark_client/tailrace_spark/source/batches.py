"""Plan a micro-batch: how far it reads each stream, and how its entries are split into parts.

The end of each stream and the ends of its parts become part of the offset, so a replay of the batch has the
same parts. If a limit is smaller than what is waiting, the streams share it in proportion. This module keeps
nothing between batches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from tailrace_spark.entry_ids import earlier, parsed
from tailrace_spark.source.checkpoint import Position
from tailrace_spark.source.looks import Selection
from tailrace_spark.source.options import PARTITIONS_MAX, ReadOptions
from tailrace_spark.source.shares import packs_of, parts_for, shares
from tailrace_spark.source.stream_requests import SourceStream
from tailrace_spark.source.stretches import Stretch, Stretches

ENTRIES_A_PARTITION: Final = 250_000
"""The target size of a partition, about 30 MB. Spark alone needs some tenths of a second to start and end a
task: with partitions of a fifth of this size, writing Parquet took twice as long."""

ENTRIES_SHARED: Final = 10_000
STREAMS_SHARED: Final = 100
"""The most entries and streams of a part that several streams share. To read so many entries takes about as
long as Spark needs to start and end a task; each stream takes some requests of its own."""

Counts: TypeAlias = Mapping[str, int]


def counts_of(selection: Selection, waiting: Stretches) -> Counts:
    """Return how many entries each stretch has, the stretch that is furthest behind first. Raises
    `DataLoss` if all of them were trimmed.

    A stretch with entries becomes part of a batch, whose tasks notice entries that were trimmed.
    """
    counts = {}
    for name, stretch in sorted(waiting.items(), key=lambda item: parsed(item[1].after)):
        if not stretch.is_empty:
            stream = selection.stream(name)
            counts[name] = stream.count(stretch.after, stretch.end)
            if not counts[name]:
                stream.check_whole(stretch.after, stretch.incarnation)
    return counts


def limited(selection: Selection, waiting: Stretches, counts: Counts) -> tuple[Stretches, Counts]:
    """Return the stretches and counts that fit into `maxEntriesPerTrigger` and `maxBytesPerTrigger`."""
    most = _most_entries(selection, waiting, counts)
    if most is None or sum(counts.values()) <= most:
        return waiting, counts
    allowed = shares(most, counts)
    ends = {
        name: _end(selection.stream(name), stretch, counts.get(name, 0), allowed.get(name, 0))
        for name, stretch in waiting.items()
    }
    return {name: replace(stretch, end=ends[name]) for name, stretch in waiting.items()}, allowed


def part_counts(options: ReadOptions, counts: Counts) -> Counts:
    """Return into how many parts the entries of each stream are split."""
    return parts_for(options.min_partitions, ENTRIES_A_PARTITION, PARTITIONS_MAX, counts)


def planned(selection: Selection, batch: Stretches, counts: Counts) -> dict[str, Position]:
    """Return the positions at the end of the batch, with the parts of the batch."""
    parts = part_counts(selection.options, counts)
    packs = _packs(selection.options, counts, parts)
    return {
        name: Position(
            stretch.end,
            stretch.incarnation,
            stretch.after,
            part_ends(selection.stream(name), stretch.after, stretch.end, parts.get(name, 0)),
            pack=packs.get(name),
        )
        for name, stretch in batch.items()
        if not stretch.is_empty
    }


def part_ends(stream: SourceStream, after: str, end: str, parts: int) -> tuple[str, ...]:
    """Return the last id of each of `parts` parts of the range (after, end]. Entries that disappear meanwhile
    leave at least one part, whose task notices that."""
    if parts <= 1:
        return (end,) * parts
    return tuple(stream.part_ends(after, end, parts)) or (end,)


def _packs(options: ReadOptions, counts: Counts, parts: Counts) -> Counts:
    """Return which streams share a part. Parts are shared only so far that `minPartitions` of them remain."""
    small = {name: counts[name] for name, number in parts.items() if number == 1}
    entries_max = max(sum(counts.values()) // options.min_partitions, 1)
    return packs_of(small, min(entries_max, ENTRIES_SHARED), STREAMS_SHARED)


def _most_entries(selection: Selection, waiting: Stretches, counts: Counts) -> int | None:
    """Return how many entries the batch may have; None: any number."""
    limits = selection.options.limits
    if limits.max_bytes is None:
        return limits.max_entries
    sizes = {
        name: count * selection.stream(name).entry_bytes(waiting[name].after)
        for name, count in counts.items()
        if count
    }
    total = sum(sizes.values())
    by_bytes = (
        max(int(sum(counts.values()) * limits.max_bytes / total), 1) if total > limits.max_bytes else None
    )
    bounds = [bound for bound in (limits.max_entries, by_bytes) if bound is not None]
    return min(bounds, default=None)


def _end(stream: SourceStream, stretch: Stretch, count: int, allowed: int) -> str:
    """Return where a stretch ends that may have `allowed` of its `count` entries."""
    if allowed == count:
        return stretch.end
    page_end = stream.page_end(stretch.after, allowed) if allowed else stretch.after
    return stretch.end if page_end is None else earlier(page_end, stretch.end)
