"""Packed ids give the same results as a list of the same ids."""

from __future__ import annotations

from bisect import bisect_left

from hypothesis import given
from hypothesis import strategies as st

from tailrace.core.log.id_sequence import PackedIds, count_below, ids_within, pack_ids, position_of
from tailrace.core.stream_id import MAX_ID, U64_MAX, make_id

rising_ids = st.lists(st.integers(1, MAX_ID), min_size=1, max_size=40, unique=True).map(sorted)
clock_ids = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=30, unique=True
).map(lambda pairs: sorted(make_id(*pair) for pair in pairs))


def test_consecutive_ids_become_a_range_and_others_do_not() -> None:
    assert pack_ids([7, 8, 9]) == range(7, 10)
    assert isinstance(pack_ids([7, 9]), PackedIds)


def test_a_range_may_carry_from_the_sequence_into_the_time() -> None:
    ids = [make_id(1, U64_MAX), make_id(2, 0)]
    assert pack_ids(ids) == range(ids[0], ids[1] + 1)


@given(rising_ids | clock_ids)
def test_packed_ids_are_the_same_ids(ids: list[int]) -> None:
    packed = pack_ids(ids)
    assert list(packed) == ids
    assert len(packed) == len(ids)
    assert packed[0] == ids[0]
    assert packed[-1] == ids[-1]
    assert list(packed[1:]) == ids[1:]
    for low, high in ((0, len(ids)), (1, len(ids)), (0, len(ids) // 2), (1, 1)):
        assert list(ids_within(packed, low, high)) == ids[low:high]


@given(clock_ids)
def test_packed_ids_survive_their_bytes(ids: list[int]) -> None:
    assert list(PackedIds.from_bytes(PackedIds.of(ids).to_bytes())) == ids


@given(rising_ids | clock_ids, st.integers(0, MAX_ID) | st.integers(0, make_id(6, 6)))
def test_counting_and_finding_agree_with_a_sorted_list(ids: list[int], wanted: int) -> None:
    for form in (ids, pack_ids(ids), PackedIds.of(ids)):
        for value in (wanted, ids[0], ids[-1]):
            assert count_below(form, value) == bisect_left(ids, value)
            assert position_of(form, value) == (ids.index(value) if value in ids else -1)


def test_an_id_in_the_last_millisecond_is_found() -> None:
    ids = [make_id(U64_MAX, 3), make_id(U64_MAX, 9)]
    assert position_of(PackedIds.of(ids), ids[1]) == 1
