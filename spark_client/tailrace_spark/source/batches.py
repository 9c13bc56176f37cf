"""Plan a batch: which entries no batch contains yet, how far the next batch reads each stream, and how its
entries are split into parts.

A stretch is the range of a stream from the position of the query to the end of the stream. These cases are an
error, unless `failOnDataLoss` is false; then the query reads the new stream from its beginning:

* The stream was deleted, or deleted and created again.
* The stream ends below the position of the query.

The end of each stream and the ends of its parts become part of the offset, so a replay of the batch has the
same parts. If a limit is smaller than what is waiting, the streams share it in proportion. This module keeps
nothing between batches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from tailrace_spark.entry_ids import earlier, later, parsed
from tailrace_spark.source.checkpoint import Position, Positions
from tailrace_spark.source.options import PARTITIONS_MAX, ReadOptions
from tailrace_spark.source.requests import RECREATED, Look, Looks, Selection, SourceStream, no_such_stream
from tailrace_spark.source.selection import Bound


@dataclass(frozen=True, slots=True)
class Stretch:
    """The ids of a stream from after one id up to and including another one. `count`: how many entries it
    has, if it is the whole stream; None if that has to be asked for."""

    after: str
    end: str
    incarnation: str | None
    count: int | None = None

    @property
    def is_empty(self) -> bool:
        """Return whether there is no id in the stretch."""
        return self.reach == self.after

    def cut(self, after: str, end: str) -> Stretch:
        """Return the part from after one id up to another one."""
        is_whole = (after, end) == (self.after, self.end)
        return self if is_whole else Stretch(after, end, self.incarnation)

    @property
    def reach(self) -> str:
        """Return the greatest id that was seen. New entries come after it."""
        return later(self.after, self.end)


Stretches: TypeAlias = Mapping[str, Stretch]


def stretches_after(
    selection: Selection, known: Positions | None, looks: Looks, targets: Looks | None
) -> Stretches:
    """Return the stretch of each stream that can be read. `known`: the positions of the query; None before
    its first batch. `targets`: the streams as they were when a run with the trigger AvailableNow began.

    Raises `DataLoss`, and `SourceError` for a stream that never existed.
    """
    found = {name: _stretch(selection, name, known, look) for name, look in looks.items()}
    stretches = {name: stretch for name, stretch in found.items() if stretch is not None}
    if targets is None:
        return stretches
    return {
        name: stretch.cut(stretch.after, earlier(stretch.end, target.last_id))
        for name, stretch in stretches.items()
        if (target := targets.get(name)) is not None and _is_reached(selection.stream(name), stretch, target)
    }


def _stretch(selection: Selection, name: str, known: Positions | None, look: Look | None) -> Stretch | None:
    stream = selection.stream(name)
    if known is not None and name in known:
        return _continued(stream, known[name], look)
    if look is None:
        if selection.options.pattern is not None:
            return None
        raise no_such_stream(stream.where)
    if known is not None:
        return _whole(look)
    after = _start_of_query(stream, look, selection.options.starting.of(name))
    return _whole(look).cut(after, look.last_id)


def _whole(look: Look) -> Stretch:
    return Stretch(look.start, look.last_id, look.incarnation, look.length)


def _start_of_query(stream: SourceStream, look: Look, bound: Bound) -> str:
    """Return the id just below the first entry that the query reads."""
    if bound.kind == "latest":
        return look.last_id
    if bound.kind == "id" and later(bound.id, look.last_id) != bound.id:
        stream.check_whole(bound.id, look.incarnation)
    return later(look.start, bound.id)


def _continued(stream: SourceStream, position: Position, look: Look | None) -> Stretch | None:
    if look is None:
        stream.lose("the stream was deleted")
        return None
    if position.incarnation not in (None, look.incarnation):
        stream.lose(RECREATED)
        return _whole(look)
    if position.is_start or later(look.last_id, position.id) == look.last_id:
        return Stretch(position.id, look.last_id, look.incarnation)
    stream.check_not_recreated(look.last_id, position.id)
    return _whole(look)


def _is_reached(stream: SourceStream, stretch: Stretch, target: Look) -> bool:
    """Return whether the stream is still the one that the run is to read."""
    if stretch.incarnation != target.incarnation:
        stream.lose(RECREATED)
    return stretch.incarnation == target.incarnation


# --- the batch --------------------------------------------------------------------------------------------


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
            known = stretch.count
            counts[name] = stream.count(stretch.after, stretch.end) if known is None else known
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
    return {name: stretch.cut(stretch.after, ends[name]) for name, stretch in waiting.items()}, allowed


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


# --- shares -----------------------------------------------------------------------------------------------


def shares(limit: int, waiting: Mapping[str, int]) -> dict[str, int]:
    """Divide `limit` among streams with `waiting` entries each, at most `limit` in sum and none more than it
    has waiting.

    Each stream gets at least one, so that none waits forever; if `limit` is too small for that, the first
    streams of `waiting` get one each.
    """
    some = {name: count for name, count in waiting.items() if count}
    total = sum(some.values())
    if total <= limit:
        return some
    if limit <= len(some):
        return dict.fromkeys(list(some)[:limit], 1)
    spare, more = limit - len(some), total - len(some)
    exact = {name: spare * (count - 1) for name, count in some.items()}
    parts = {name: 1 + product // more for name, product in exact.items()}
    by_rest = sorted(exact, key=lambda name: exact[name] % more, reverse=True)
    for name in by_rest[: limit - sum(parts.values())]:
        parts[name] += 1
    return parts


def parts_for(least: int, entries_per_part: int, most: int, counts: Mapping[str, int]) -> dict[str, int]:
    """Return into how many parts the entries of each stream are split: at least `least` in sum, in proportion
    to the counts, and none of them above `entries_per_part` entries."""
    total = sum(counts.values())
    return {
        name: min(max(-(-least * count // total), -(-count // entries_per_part)), count, most)
        for name, count in counts.items()
        if count
    }


def packs_of(counts: Mapping[str, int], entries_max: int, streams_max: int) -> dict[str, int]:
    """Return the number of the pack of each stream: streams with one number share a part, which has at most
    `entries_max` entries of `streams_max` streams. A stream that shares with no other has no number."""
    packs: list[list[str]] = [[]]
    entries = 0
    for name in sorted(counts, key=lambda name: (counts[name], name)):
        if len(packs[-1]) == streams_max or entries + counts[name] > entries_max:
            packs.append([])
            entries = 0
        packs[-1].append(name)
        entries += counts[name]
    return {name: number for number, pack in enumerate(packs) if len(pack) > 1 for name in pack}
