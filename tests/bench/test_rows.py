"""The rows of the benches: how they are printed and written, chosen on the command line, and compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.__main__ import as_json, as_markdown, goals_of
from bench.core.compare import TREE, laid_out, table, timed_us
from bench.documents import renew, renew_rows
from bench.growth import sizes
from bench.latencies import Latencies
from bench.machine import configured, described
from bench.profiles import by_function, by_layer, stacks_of
from bench.rows import Effort, Row, at_least, in_turns, short, shown

MET = at_least(3, "bulk", "interval", (500.0, 100.0), 5)
SHORT = at_least(4, "range", "interval", (200.0, 100.0), 3)
SHOWN = Row(None, "look", "none", "1 us", "", None, "", None)


def test_a_row_of_rates_is_met_from_the_goal_on() -> None:
    assert (MET.verdict, SHORT.verdict, SHOWN.verdict) == ("met", "short", "shown")
    assert short([MET, SHORT, SHOWN]) == [SHORT]


def test_rows_are_printed_as_they_come(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(shown([MET])) == [MET]
    assert capsys.readouterr().out.splitlines() == [
        "| # | what | durability | ours | peer | ratio | goal |  |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        "| 3 | bulk | interval | 500/s | 100/s | 5.00 | >= 5 x | met |",
    ]


def test_a_run_is_written_with_what_it_was_measured_on() -> None:
    assert as_markdown({"load": "1.0"}, [SHOWN]).startswith("- load: 1.0\n\n| #")
    written = json.loads(as_json({"load": "1.0"}, [MET]))
    assert written["measured_on"] == {"load": "1.0"}
    assert (written["rows"][0]["number"], written["rows"][0]["verdict"]) == (3, "met")


def test_goals_are_named_by_numbers_and_spans() -> None:
    assert goals_of("1-3,9") == {1, 2, 3, 9}
    with pytest.raises(ValueError, match="invalid literal"):
        goals_of("all")


def test_measures_take_turns_and_the_median_counts() -> None:
    order: list[str] = []
    figures = iter([3.0, 1.0, 2.0])

    def ours() -> float:
        order.append("ours")
        return next(figures)

    def theirs() -> float:
        order.append("theirs")
        return 7.0

    assert in_turns(3, ours, theirs) == [2.0, 7.0]
    assert order == ["ours", "theirs"] * 3


def test_less_effort_is_fewer_rounds_and_entries_but_never_none() -> None:
    assert (Effort().rounds(5), Effort(0.1).rounds(5), Effort(0.001).rounds(5)) == (5, 3, 1)
    assert (Effort().count(100), Effort(0.1).count(100), Effort(0.001).count(100)) == (100, 10, 1)


def test_a_stream_grows_tenfold_up_to_its_size() -> None:
    assert sizes(10_000_000) == [10_000, 100_000, 1_000_000, 10_000_000]
    assert sizes(20_000) == [10_000, 20_000]


def test_latencies_are_counted_within_a_bound() -> None:
    latencies = Latencies([3_000_000, 1_000_000, 2_000_000, 2_000_001])
    assert latencies.within_percent(2) == 50
    assert (latencies.percentile_ms(50), latencies.percentile_ms(100)) == (2.000001, 3)


def test_how_python_was_configured_is_read_off_its_options() -> None:
    assert configured("'--enable-optimizations' '--with-lto'") == "with PGO, with LTO"
    assert configured("'--enable-shared'") == "without PGO, without LTO"
    assert {"processor", "memory", "kernel", "load before", "Python", "redis-server"} <= set(described())


def test_a_profile_is_counted_by_function_and_by_layer() -> None:
    root = Path.cwd()
    stacks = stacks_of(
        [
            f"main ({root}/app/server.py:3);execute ({root}/core/engine.py:9) 3",
            f"main ({root}/app/server.py:3);execute ({root}/core/engine.py:12) 2",
            f"execute ({root}/tailrace/core/engine.py:9) 4",
            "run (/usr/lib/python3/asyncio/runners.py:7) 5",
        ]
    )
    assert by_function(stacks)[f"{root}/core/engine.py execute"] == 5
    assert by_layer(stacks) == {"core": 9, "uvicorn, asyncio and the standard library": 5}


def test_a_case_that_one_side_cannot_run_has_no_ratio() -> None:
    rows = list(table(["append", "new"], "us", {"append": 10.0}, {"append": 5.0, "new": 1.0}))
    assert rows[2:] == ["| append | 10.00 | 5.00 | 0.500 |", "| new | - | 1.00 | - |"]


def test_a_revision_that_is_not_there_is_named() -> None:
    with pytest.raises(SystemExit, match="Needed a single revision"):
        laid_out("no-such-revision")


def test_the_suite_is_timed_and_says_which_core(tmp_path: Path) -> None:
    figures = timed_us(TREE, tmp_path / "figures.json", ["parse_xadd"])
    assert list(figures) == ["parse_xadd"]
    assert figures["parse_xadd"] > 0


def test_chosen_rows_are_renewed_in_their_place_and_the_others_stay(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    table = ["| # | what |", "| --- | --- |", "| 1 | old |", "| 2 | kept |", "| 9 | old |"]
    page.write_text(
        "\n".join(["<!-- bench: goals -->", "", "- load: 1", "", *table, "", "<!-- /bench -->", ""])
    )
    for load in ("2", "3"):
        renew_rows(page, "goals", {1, 9}, load, ["| 9 | new |", "| 1 | first |", "| 1 | second |"])
    assert page.read_text().splitlines()[2:-1] == [
        "- load: 1",
        "- measured again: rows 1, 9 at a load of 3",
        "",
        "| # | what |",
        "| --- | --- |",
        "| 1 | first |",
        "| 1 | second |",
        "| 2 | kept |",
        "| 9 | new |",
        "",
    ]


def test_figures_in_a_page_are_renewed_and_nothing_else(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "before\n<!-- bench: one -->\nold\n<!-- /bench -->\n<!-- bench: two -->\n<!-- /bench -->\n"
    )
    renew(page, "one", ["new"])
    assert page.read_text() == (
        "before\n<!-- bench: one -->\n\nnew\n\n<!-- /bench -->\n<!-- bench: two -->\n<!-- /bench -->\n"
    )


def test_a_page_without_a_place_for_the_figures_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("nothing\n")
    with pytest.raises(SystemExit, match="0 places for the bench 'one'"):
        renew(page, "one", ["new"])
    assert page.read_text() == "nothing\n"
