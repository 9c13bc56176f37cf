"""The page on large deployments shows what the planner computes, and the planner keeps its own rules."""

from __future__ import annotations

from bench.scale import FIGURES, LOADS, Load, needs_of, report, spread
from tests.support.pages import ROOT

PAGE = ROOT / "docs/scale.md"
BEGIN, END = "<!-- bench.scale -->\n\n", "\n\n<!-- end of bench.scale -->"


def test_the_page_has_the_tables_that_the_command_prints() -> None:
    assert PAGE.read_text().partition(BEGIN)[2].partition(END)[0] == report()


def test_more_load_never_takes_fewer_processes() -> None:
    for factor in (1, 3, 10):
        small = needs_of(Load("", appends=100_000 * factor, readers=100_000 * factor, wakes=1_000 * factor))
        large = needs_of(Load("", appends=200_000 * factor, readers=200_000 * factor, wakes=2_000 * factor))
        assert small.gateway_count <= large.gateway_count
        assert small.master_count <= large.master_count


def test_the_last_load_takes_at_least_what_each_other_batched_load_takes() -> None:
    everything = needs_of(LOADS[-1])
    for load in LOADS[1:-1]:
        assert needs_of(load).gateway_count <= everything.gateway_count
        assert needs_of(load).master_count <= everything.master_count


def test_no_load_at_all_takes_three_of_each_so_that_one_may_fail() -> None:
    needs = needs_of(Load("nothing"))
    assert (needs.gateway_count, needs.master_count) == (3, 3)


def test_every_figure_has_a_source() -> None:
    assert all(figure.source and figure.value > 0 for figure in FIGURES.values())


def test_equal_streams_spread_evenly_and_a_divided_hot_stream_spreads_better() -> None:
    assert spread(20_000, 0, 8).hottest_master < 1.1
    alone, divided = spread(500, 1, 8), spread(500, 1, 8, parts=32)
    assert alone.hottest_master > 1.5 > divided.hottest_master
    assert abs(alone.hottest_stream - divided.hottest_stream) < 1e-9
