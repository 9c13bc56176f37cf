"""The invariants of the pending entries list of a group between any two commands, checked from scratch.

`core.invariants` checks the rest of a keyspace. It costs O(pending entries), so no request runs it. This
module never changes anything.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from tailrace.core.group import Group
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.pending_list import PendingEntriesList
from tailrace.core.pending.rows import HELD_FROM, Batch, Row
from tailrace.core.pending.segment import GONE, Segment


def check_group(group: Group) -> None:
    """Check the pending entries list against the consumers' indexes and the order of delivery."""
    pending = group.pending
    rows: Counter[Row] = Counter()
    owned: dict[Consumer, list[int]] = {consumer: [] for consumer in group.consumers.values()}
    ids: list[int] = []
    for segment in pending.table.segments.segments:
        of_segment = _check_segment(pending, segment)
        ids += of_segment
        rows.update(of_segment.values())
        for value, row in of_segment.items():
            consumer = owner_of(row)
            if consumer is not None:
                assert consumer in owned, "an entry has an owner that is not in the group"
                owned[consumer].append(value)
                batch = row if isinstance(row, Batch) else None
                found = pending.table.owned[consumer]
                assert segment in found.segments or batch in found.moved, "an owner's index lacks a segment"
    assert ids == sorted(ids) == list(pending.ids()), "segments overlap, or are in the wrong order"
    firsts = [segment.first for segment in pending.table.segments.segments]
    assert firsts == pending.table.segments.firsts, "segments are filed under wrong ids"
    assert pending.count == len(ids), "the count of pending entries is wrong"
    nacked = sum(count for row, count in rows.items() if owner_of(row) is None)
    assert pending.nacked_count == nacked, "nacked is wrong"
    _check_order(pending, {row: count for row, count in rows.items() if isinstance(row, Batch)})
    for name, consumer in group.consumers.items():
        assert name == consumer.name, f"consumer {name!r} is called {consumer.name!r}"
        assert consumer.pending_count == len(owned[consumer]), f"consumer {name!r} is miscounted"


def owner_of(row: Row) -> Consumer | None:
    """Return the owner of the entries of `row`."""
    return row.consumer if isinstance(row, Batch) else row[2]


def _check_segment(pending: PendingEntriesList, segment: Segment) -> dict[int, Row]:
    """Check the columns of a segment, and that the order has it before its entries. Return these."""
    ids, rows = segment.entries()
    assert len(segment.ids) == len(segment.marks), "a segment has no mark for an id"
    assert segment.live == len(ids) > 0, "the entries of a segment are miscounted, or it has none"
    assert segment.live == len(segment.marks) - segment.marks.count(GONE), "a mark has no row"
    assert (segment.first, segment.last) == (segment.ids[0], segment.ids[-1]), (
        "the ends of a segment are wrong"
    )
    assert ids == sorted(set(ids)), "the ids of a segment do not rise"
    stamps = list(zip(segment.times, segment.serials, strict=True))
    assert stamps == sorted(stamps), "the rows of a segment are not in order"
    assert len(stamps) == len(segment.kinds) <= GONE, "a segment has too many rows"
    first_shown = stamps[segment.passed] if segment.passed < len(stamps) else None
    for row in rows:
        if not isinstance(row, Batch):
            bound = segment.held_bound if row[0] >= HELD_FROM else segment.bound
            is_passed = first_shown is None or row[:2] < first_shown
            is_filed = bound is not None and bound[:2] <= row[:2]
            assert is_filed or is_passed, "an entry is before its segment in the order"
    for bound in filter(None, (segment.bound, segment.held_bound)):
        assert (*bound, segment) in pending.table.order.bounds, "a segment is not where it is filed"
    return dict(zip(ids, rows, strict=True))


def _check_order(pending: PendingEntriesList, batches: dict[Batch, int]) -> None:
    """Check that the order rises, and has the batches that have entries, and nothing that has none."""
    stamps = [bound[:3] for bound in pending.table.order.bounds]
    assert all(before < after for before, after in pairwise(stamps)), "the order does not rise"
    for batch, count in batches.items():
        assert batch.live == count, "the entries of a batch are miscounted"
        assert set(batch.ids).issuperset(pending.present(batch.ids)), "a batch lacks an id"
        assert batch.bound is None or batch.bound[:2] == (batch.at_ms, batch.serial), (
            "a batch is out of order"
        )
    for *_, item in pending.table.order.bounds:
        is_there = item in batches if isinstance(item, Batch) else item in pending.table.segments
        assert is_there, "the order has something without entries"
