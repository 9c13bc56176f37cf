"""Bounds that are powers of two, and their form in the metrics for Prometheus."""

from __future__ import annotations

import pytest

from tailrace.app.observability.counters import DURATION_POWERS, SIZE_POWERS, Histogram, durations

NS = 1e-9


def counted(histogram: Histogram, powers: range, scale: float) -> dict[str, float]:
    return dict(histogram.buckets(powers, scale))


@pytest.mark.parametrize(
    ("value", "bound"), [(1, "1"), (2, "2"), (3, "4"), (4, "4"), (5, "8"), (65_536, "65536")]
)
def test_a_value_counts_in_the_least_bucket_whose_bound_it_does_not_pass(value: int, bound: str) -> None:
    histogram = Histogram()
    histogram.add(value)
    buckets = counted(histogram, SIZE_POWERS, 1)
    assert buckets[bound] == 1
    assert next(name for name, count in buckets.items() if count) == bound


def test_a_duration_on_a_bound_is_below_it_and_a_nanosecond_more_is_not() -> None:
    histogram = durations()
    histogram.add(64_000)
    histogram.add(64_001)
    buckets = counted(histogram, DURATION_POWERS, NS)
    assert (buckets["0.000064"], buckets["0.000128"]) == (1, 2)


def test_values_outside_the_bounds_count_in_the_first_and_in_the_last_bucket() -> None:
    histogram = durations()
    for value in (0, 1, 3600 * 10**9):
        histogram.add(value)
    first, *_, last, rest = histogram.buckets(DURATION_POWERS, NS)
    assert [first, last, rest] == [("0.000064", 2), ("8.388608", 2), ("+Inf", 3)]
    assert (histogram.count, histogram.total) == (3, 3600 * 10**9 + 1)
