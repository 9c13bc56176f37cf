from __future__ import annotations

from tailrace.core.deliveries import DELIVERIES_MAX, each_one_more, one_more


def test_a_count_of_deliveries_grows_by_one_and_ends_at_the_greatest() -> None:
    counts = [0, 1, DELIVERIES_MAX - 1, DELIVERIES_MAX]
    expected = [1, 2, DELIVERIES_MAX, DELIVERIES_MAX]
    assert each_one_more(counts) == [one_more(count) for count in counts] == expected
