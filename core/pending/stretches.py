"""Stretches: ids given by a caller that follow each other in a run, so that one operation handles them all.

Clients mostly acknowledge and claim what they received, in the order in which they received it. These
functions find out whether they did. They only compare, and never change a run.
"""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core.log.id_sequence import are_same
from tailrace.core.pending.run import Run
from tailrace.core.pending.units import RUN_OR_BUNCH_LENGTH_MIN
from tailrace.core.stream_id import StreamId


def contains_stretch(run: Run, position: int, ids: Sequence[StreamId]) -> bool:
    """Whether `ids` are the live ids of `run` from `position` on, without a gap. O(m) in C."""
    if not run.is_whole(position, len(ids)):
        return False
    return are_same(ids, run.ids[position : position + len(ids)])


def may_begin_stretch(ids: Sequence[StreamId], start: int) -> bool:
    """Whether the four ids from `start` on rise, as those of a stretch do. Costs less than a search."""
    return ids[start] < ids[start + 1] < ids[start + 2] < ids[start + 3]


def stretch_length(
    run: Run, position: int, ids: Sequence[StreamId], deliveries: Sequence[int], start: int
) -> int:
    """Return how many of ``ids[start:]`` follow each other in `run` from `position` on with equal
    `deliveries`.

    The first one must be at `position`, so the result is at least 1. The compared pieces double in length as
    long as they match: ids in no order cost O(1) each, and a stretch of m ids costs O(m) in C.
    """
    most = min(len(ids) - start, run.high - position)
    length = 1
    if most == 1 or run.ids[position + 1] != ids[start + 1]:
        return length
    while length < most:
        piece = min(max(length, RUN_OR_BUNCH_LENGTH_MIN), most - length)
        first, end = start + length, start + length + piece
        if not _continues(run, position + length, ids[first:end], deliveries[first:end], deliveries[start]):
            break
        length += piece
    while (
        length < most
        and deliveries[start + length] == deliveries[start]
        and run.is_live(position + length)
        and run.ids[position + length] == ids[start + length]
    ):
        length += 1
    return length


def _continues(
    run: Run, position: int, ids: Sequence[StreamId], deliveries: Sequence[int], count: int
) -> bool:
    """Whether `ids` are in `run` from `position` on, and all `deliveries` equal `count`. O(m) in C."""
    return contains_stretch(run, position, ids) and all(map(count.__eq__, deliveries))
