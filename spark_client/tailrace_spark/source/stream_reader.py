"""The streaming read: decides the range of each micro-batch, and reports how far the query is.

How it works. An offset contains, for each stream, the id where the batch ends and how the batch is split
into parts; Spark stores it in the checkpoint. The first `latestOffset` pins where the query begins, because
after a restart Spark asks for the initial offset again until the first batch is committed. If there are no
new entries, `latestOffset` waits at the server; without this wait Spark would ask some 90 times a second.
Failed requests are retried until a deadline, because an error ends the query.

What can go wrong, and what happens then:

* The driver dies: the restarted query has the same parts again and reads the same entries, except those that
  were deleted one by one in between.
* Entries after the offset were trimmed: this is an error, unless `failOnDataLoss` is false; then the query
  continues with the entries that are left. `partitions` checks this, and each task checks it again after its
  read; `latestOffset` checks it only if no entry is left.
* A stream was deleted, or created again: the same applies. If the query continues, it reads the new stream
  from its beginning.

Spark calls `commit` of a source only after it planned the next batch, and never calls `stop`, so neither of
them moves the group of the options. Spark asks for the next batch when all earlier batches are done: then the
group moves. This reader never trims or acknowledges anything.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)

from tailrace_spark.entry_ids import later, parsed
from tailrace_spark.errors import BadOption, SourceError, sentence_first
from tailrace_spark.source.batches import (
    Counts,
    Stretches,
    counts_of,
    limited,
    part_counts,
    part_ends,
    planned,
    stretches_after,
)
from tailrace_spark.source.checkpoint import UNPINNED, Offset, Position, Positions, offset_of, positions_of
from tailrace_spark.source.columns import Columns
from tailrace_spark.source.options import MS_PER_S, ReadOptions
from tailrace_spark.source.parts import parts_of, read_part
from tailrace_spark.source.requests import Look, Looks, Place, Selection

log: Final = logging.getLogger(__name__)


@sentence_first
class TailraceStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The reader of a streaming query. One object exists on the driver as long as the query runs; each task
    has a copy.

    `_targets`: where a run with the trigger AvailableNow ends. `_looks`: the streams as they were seen last.
    `_planned`: up to where batches are planned. `_batch_at_s`: when the last batch was planned.
    """

    def __init__(
        self, options: ReadOptions, columns: Columns, clock: Callable[[], float] = time.monotonic
    ) -> None:
        if not (options.ending.common.kind == "latest" and not options.ending.by_stream):
            raise BadOption("endingOffsets: a streaming read has no end; remove the option, or use read")
        columns.check()
        self._options = options
        self._columns = columns
        self._clock = clock
        self._selection = Selection(options)
        self._groups = GroupMover(self._selection)
        self._targets: Looks | None = None
        self._looks: Looks = {}
        self._planned: Positions = {}
        self._batch_at_s: float | None = None

    def initialOffset(self) -> Offset:  # noqa: N802 - Spark's name
        """Return a marker without an id. The offset of the first batch contains the start that replaces
        it."""
        return dict(UNPINNED)

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        """Return one of the limits that the options set. Spark returns it to `latestOffset`, which then
        applies all of them."""
        limits = self._options.limits
        if limits.max_entries is not None:
            return ReadMaxRows(limits.max_entries)
        if limits.max_bytes is not None:
            return ReadMaxBytes(limits.max_bytes)
        return ReadAllAvailable() if limits.min_entries is None else ReadMinRows(limits.min_entries)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """Pin the end of the run to the streams as they are now."""
        self._targets = self._selection.look({})

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: N802 - Spark's name
        """Return where the batch that begins at `start` ends; `start` itself if there is no batch to run."""
        known = positions_of(start, self._options.streams)
        is_limited = not isinstance(limit, ReadAllAvailable)
        waiting, counts = self._waiting(known)
        self._groups.move(known or {}, self._looks)
        gone = self._gone(known or {})
        if known is not None and not gone:
            delay_ms = self._delay_ms(waiting, counts, is_limited=is_limited)
            if delay_ms is not None:
                self._selection.wait({name: each.reach for name, each in waiting.items()}, delay_ms)
                waiting, counts = self._waiting(known)
                delay_ms = self._delay_ms(waiting, counts, is_limited=is_limited)
            if delay_ms is not None:
                self._planned = known
                return start
        batch = planned(
            self._selection, *(limited(self._selection, waiting, counts) if is_limited else (waiting, counts))
        )
        self._planned = {**(_pinned(waiting) if known is None else _reached(known, gone)), **batch}
        if batch:
            self._batch_at_s = self._clock()
        return offset_of(self._planned) if batch or gone or known is None else start

    def reportLatestOffset(self) -> dict[str, Any] | None:  # noqa: N802 - Spark's name
        """Return the ends of the streams, and how far the query is behind them, for its progress."""
        return progress(self._selection, self._planned, self._looks) if self._looks else None

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """Return the parts of the batch from `start` to `end`. Raises `DataLoss` if entries of the batch
        were trimmed, or their stream is gone."""
        before = positions_of(start, self._options.streams) or {}
        after = positions_of(end, self._options.streams) or {}
        batch = {name: each for name, each in after.items() if each.ends != () and each != before.get(name)}
        begun = {name: each.begun(before.get(name)) for name, each in batch.items()}
        ends = {name: self._ends(name, begun[name], position) for name, position in batch.items()}
        self._selection.check_whole(
            [Place(name, begun[name], position.incarnation) for name, position in batch.items()]
        )
        return parts_of({name: replace(batch[name], ends=ends[name]) for name in batch}, begun)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read one part, in a task."""
        return read_part(self._options, self._columns, partition)

    def _waiting(self, known: Positions | None) -> tuple[Stretches, Counts]:
        """Return what no batch contains yet, and how many entries that is."""
        self._looks = self._selection.look(known or {})
        waiting = stretches_after(self._selection, known, self._looks, self._targets)
        return waiting, counts_of(self._selection, waiting)

    def _gone(self, known: Positions) -> list[str]:
        """Return the streams of a pattern that were deleted after the last batch. Their positions leave the
        offset, because a stream that is created under such a name is a new one. Without that, the query could
        never run with `failOnDataLoss` again; with it, the look has raised `DataLoss`."""
        if self._options.pattern is None:
            return []
        gone = [name for name in known if name in self._looks and self._looks[name] is None]
        for name in gone:
            log.warning("the stream %r was deleted; the query continues without it", name)
        return gone

    def _delay_ms(self, waiting: Stretches, counts: Counts, *, is_limited: bool) -> int | None:
        """Return how long to wait for more entries; None: not at all.

        A batch without entries waits, and one below `minEntriesPerTrigger` until its time has come. The first
        batch of a run has no minimum, and a run with the trigger AvailableNow never waits.
        """
        if self._targets is not None:
            return None
        if all(stretch.is_empty for stretch in waiting.values()):
            return self._options.poll_ms
        least = self._options.limits.min_entries
        if least is None or not is_limited or self._batch_at_s is None or sum(counts.values()) >= least:
            return None
        passed_ms = (self._clock() - self._batch_at_s) * MS_PER_S
        left_ms = int(self._options.limits.delay_ms - passed_ms)
        return min(left_ms, self._options.poll_ms) if left_ms > 0 else None

    def _ends(self, name: str, after: str, position: Position) -> tuple[str, ...]:
        """Return the ends of the parts of a stream; if an earlier release planned the batch, it has none
        yet."""
        if position.ends is not None:
            return position.ends
        stream = self._selection.stream(name)
        parts = part_counts(self._options, {name: stream.count(after, position.id)}).get(name, 0)
        return part_ends(stream, after, position.id, parts)


def _pinned(waiting: Stretches) -> Positions:
    """Return where a query begins."""
    return {
        name: Position(stretch.after, stretch.incarnation, is_start=True) for name, stretch in waiting.items()
    }


def _reached(known: Positions, gone: Sequence[str]) -> Positions:
    return {name: position.reached() for name, position in known.items() if name not in gone}


# --- what a query shows of its progress -------------------------------------------------------------------


class GroupMover:
    """Moves the group of the options in each stream. `_moved_to`: the current position of the group."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._moved_to: dict[str, str] = {}

    def move(self, done: Positions, looks: Looks) -> None:
        """Move the group to the positions that are `done`, in each stream that is still the same.

        If the first attempt in a stream fails, for example because the token lacks the scope, the error ends
        the query. Later failures are only logged, since they affect only the displayed lag.
        """
        group = self._selection.options.group
        if group is None:
            return
        for name, position in done.items():
            if _is_same(position, looks.get(name)) and self._moved_to.get(name) != position.id:
                self._move(group, name, position.id)

    def _move(self, group: str, name: str, done: str) -> None:
        try:
            self._selection.stream(name).move_group(group, done)
        except SourceError as error:
            if name not in self._moved_to:
                raise
            log.warning("the group %r of %r was not moved to %s: %s", group, name, done, error)
        self._moved_to[name] = done


def progress(selection: Selection, planned: Positions, looks: Looks) -> dict[str, Any]:
    """Return the end of each stream, how many entries are in no batch yet, and for how many seconds the
    oldest of them has been waiting, by the driver's clock."""
    streams = {
        name: _progress_of(selection, name, planned[name], look)
        for name, look in looks.items()
        if look is not None and name in planned
    }
    return {
        "entries_behind": sum(stream["entries_behind"] for stream in streams.values()),
        "lag_seconds": max((stream["lag_seconds"] for stream in streams.values()), default=0.0),
        "streams": streams,
    }


def _progress_of(selection: Selection, name: str, position: Position, look: Look) -> dict[str, Any]:
    behind, lag_s = 0, 0.0
    if later(look.last_id, position.id) != position.id:
        stream = selection.stream(name)
        behind = stream.count(position.id)
        oldest = stream.page_end(position.id, 1)
        lag_s = 0.0 if oldest is None else max(time.time() - parsed(oldest)[0] / MS_PER_S, 0.0)
    return {"id": look.last_id, "entries_behind": behind, "lag_seconds": round(lag_s, 3)}


def _is_same(position: Position, look: Look | None) -> bool:
    return look is not None and position.incarnation in (None, look.incarnation)
