"""Delivery counts as the library stores them on an engine without XNACK."""

from __future__ import annotations

from itertools import pairwise

from tailrace.app.remote.functions.pending import stored_deliveries, visible_deliveries
from tailrace.core.deliveries import DELIVERIES_MAX

LOW_MAX = 9_006_969_999_999_999
NEAR_MAX = DELIVERIES_MAX - 30_000_000_000
EXACT = (0, 1, 1_000, LOW_MAX - 1, LOW_MAX, NEAR_MAX, NEAR_MAX + 1, DELIVERIES_MAX - 1, DELIVERIES_MAX)


def test_low_counts_and_those_near_the_greatest_are_kept() -> None:
    assert [visible_deliveries(stored_deliveries(count)) for count in EXACT] == list(EXACT)


def test_counts_between_are_one_count() -> None:
    for count in (LOW_MAX + 1, 1 << 53, 1 << 62, NEAR_MAX - 1):
        assert visible_deliveries(stored_deliveries(count)) == NEAR_MAX


def test_a_function_has_each_stored_count_and_the_next_one_exactly() -> None:
    stored = list(map(stored_deliveries, EXACT))
    assert all(int(float(count + 1)) == count + 1 for count in stored)
    assert all(before < after for before, after in pairwise(stored))


def test_numbers_above_the_greatest_stored_count_stand_for_the_greatest_count() -> None:
    greatest = stored_deliveries(DELIVERIES_MAX)
    for stored in (greatest, greatest + 1, greatest + 10**6):
        assert visible_deliveries(stored) == DELIVERIES_MAX


def test_counts_of_an_engine_that_stores_them_as_they_are_are_shown_so() -> None:
    for count in (1 << 53, 1 << 60, DELIVERIES_MAX - 1, DELIVERIES_MAX):
        assert visible_deliveries(count) == count
