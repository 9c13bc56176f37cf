"""The parts of a pending entries list one by one: what no program of commands is certain to reach."""

from __future__ import annotations

import pytest

from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.order import Order
from tailrace.core.pending.rows import HELD_FROM, UNOWNED, Batch
from tailrace.core.pending.segment import Segment
from tailrace.core.pending.segment_index import SegmentIndex
from tailrace.core.storage.damage import Damage
from tailrace.core.storage.journal import seq_bytes


def segment_of(first: int, at_ms: int, count: int = 4) -> Segment:
    """A segment of some entries that were delivered at `at_ms`."""
    return Segment(range(first, first + count), (at_ms, 0, Consumer(b"c", 1), 1))


def order_of(*segments: Segment) -> Order:
    order = Order()
    for segment in segments:
        order.file(segment)
    return order


def test_a_segment_without_entries_in_the_order_is_passed_over_without_a_search() -> None:
    segment, order = segment_of(1, 5), Order()
    order.pass_over(segment, 1)
    assert (segment.passed, order.bounds) == (1, [])


def test_a_batch_that_all_have_left_is_not_looked_at_again() -> None:
    segment = segment_of(1, 5)
    left, used = (Batch([1, 2], None, at_ms, 1, 1) for at_ms in (7, 8))
    left.live = 0
    segment.batches += [left, used]
    order = Order()
    order.look_again([segment])
    assert [each for *_, each in order.bounds] == [segment, used]


def test_the_oldest_time_leaves_out_unowned_and_delayed_entries() -> None:
    unowned, owned = segment_of(1, UNOWNED), segment_of(11, 5)
    later, held = segment_of(21, 9), segment_of(31, HELD_FROM + 1)
    assert order_of(unowned, owned, later, held).oldest_owned_ms == 5
    assert order_of(unowned, held).oldest_owned_ms is None
    assert order_of(unowned).oldest_owned_ms is None


def test_a_batch_has_one_count_for_all_of_its_entries_or_one_for_each() -> None:
    assert Batch([1, 2], None, 5, 1, 3).count_of(2) == 3
    each = Batch([1, 2], None, 5, 1, [3, 4])
    assert [each.count_of(value) for value in (1, 2, 1)] == [3, 4, 3]


def test_a_batch_has_one_mark_in_a_segment() -> None:
    segment, batch = segment_of(1, 5), Batch([1, 2], None, 7, 1, 1)
    assert segment.add_row(batch) == segment.add_row(batch)
    assert segment.batches == [batch]


def test_a_segment_that_an_index_does_not_have_is_not_removed() -> None:
    index = SegmentIndex([segment_of(1, 5)])
    assert not index.discard(segment_of(11, 5))
    assert not index.discard(segment_of(1, 5))
    assert len(index) == 1


def test_a_row_whose_number_is_no_number_is_damaged() -> None:
    with pytest.raises(Damage, match="wrong type"):
        seq_bytes("1")
