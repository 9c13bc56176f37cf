"""How large a micro-batch is: the limits of `...PerTrigger`, how streams share them, and what is shown."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxBytes, ReadMaxRows, ReadMinRows

from tailrace_spark.errors import BadOption
from tailrace_spark.source.batches import parts_for, shares
from tailrace_spark.source.options import duration_ms
from tests.spark.readers import Query, add, batch_parts, options_for


def ids(first: int, last: int) -> list[str]:
    return [f"{ms}-0" for ms in range(first, last + 1)]


# --- shares --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "waiting", "parts"),
    [
        (10, {"a": 3, "b": 7}, {"a": 3, "b": 7}),
        (10, {"a": 100, "b": 100}, {"a": 5, "b": 5}),
        (10, {"a": 900, "b": 100}, {"a": 8, "b": 2}),
        (10, {"a": 1, "b": 1_000_000}, {"a": 1, "b": 9}),
        (2, {"a": 5, "b": 0, "c": 5, "d": 5}, {"a": 1, "c": 1}),
        (1, {"a": 5}, {"a": 1}),
        (10, {"a": 0}, {}),
    ],
)
def test_streams_share_a_limit_in_proportion_and_none_waits_for_ever(
    limit: int, waiting: dict[str, int], parts: dict[str, int]
) -> None:
    assert shares(limit, waiting) == parts


def test_shares_never_exceed_the_limit_or_what_is_waiting() -> None:
    for limit in range(1, 40):
        for a in range(9):
            for b in range(0, 30, 7):
                waiting = {"a": a, "b": b, "c": 11}
                found = shares(limit, waiting)
                assert sum(found.values()) == min(limit, sum(waiting.values()))
                assert all(found[name] <= waiting[name] for name in found)


def test_parts_are_shared_in_proportion_and_are_no_larger_than_a_partition() -> None:
    assert parts_for(4, 250, 10_000, {"a": 30, "b": 10}) == {"a": 3, "b": 1}
    assert parts_for(4, 250, 10_000, {"a": 2, "b": 0}) == {"a": 2}
    assert parts_for(1, 250, 10_000, {"a": 1_001, "b": 1}) == {"a": 5, "b": 1}
    assert parts_for(1, 1, 3, {"a": 100}) == {"a": 3}


# --- the most of a batch -------------------------------------------------------------------------------


def test_streams_share_the_most_of_a_batch(base_url: str) -> None:
    add(base_url, "most:1", *ids(1, 6))
    add(base_url, "most:2", *ids(1, 2))
    query = Query(base_url, streams="most:1,most:2", maxEntriesPerTrigger=4)
    ends = []
    while query.step():
        ends.append([query.offset["streams"][f"most:{number}"]["id"] for number in (1, 2)])
    assert ends == [["3-0", "1-0"], ["6-0", "2-0"]]
    assert query.plan(ReadAllAvailable()) == query.offset


def test_the_trigger_once_reads_all(base_url: str) -> None:
    add(base_url, "once", *ids(1, 6))
    query = Query(base_url, stream="once", maxEntriesPerTrigger=2, minEntriesPerTrigger=2)
    assert query.run(query.plan(ReadAllAvailable())) == [ids(1, 6)]


def test_a_batch_has_about_as_many_bytes_as_said_and_at_least_one_entry(base_url: str) -> None:
    add(base_url, "bytes", *ids(1, 9))
    line = len('{"id":"1-0","fields":{"n":"1-0"}}\n')
    sizes = [
        len(Query(base_url, stream="bytes", maxBytesPerTrigger=most).ids())
        for most in (1, 4 * line, 100 * line)
    ]
    assert sizes[0] == 1
    assert 2 <= sizes[1] <= 4
    assert sizes[2] == 9
    both = Query(base_url, stream="bytes", maxBytesPerTrigger=4 * line, maxEntriesPerTrigger=1)
    assert both.ids() == ["1-0"]


# --- the least of a batch ------------------------------------------------------------------------------


class Clock:
    """The time in seconds, which passes when a test says so."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_a_batch_waits_for_its_least_entries_or_its_time(base_url: str) -> None:
    clock = Clock()
    add(base_url, "least", "1-0")
    query = Query(base_url, stream="least", clock=clock, minEntriesPerTrigger=3, maxTriggerDelay="10s")
    assert query.ids() == ["1-0"], "the first batch of a run does not wait"
    add(base_url, "least", "2-0", "3-0")
    assert query.plan() == query.offset
    clock.now_s = 9.9
    assert query.plan() == query.offset
    add(base_url, "least", "4-0")
    assert query.ids() == ["2-0", "3-0", "4-0"]
    add(base_url, "least", "5-0")
    clock.now_s = 19.8
    assert query.plan() == query.offset
    clock.now_s = 19.9
    assert query.ids() == ["5-0"]


def test_a_run_that_ends_waits_for_no_least_entries(base_url: str) -> None:
    add(base_url, "least:now", *ids(1, 5))
    query = Query(base_url, stream="least:now", minEntriesPerTrigger=3, maxEntriesPerTrigger=3)
    query.reader.prepareForTriggerAvailableNow()
    assert [query.ids(), query.ids(), query.ids()] == [ids(1, 3), ids(4, 5), []]


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        ({}, ReadAllAvailable()),
        ({"minEntriesPerTrigger": 2}, ReadMinRows(2)),
        ({"maxBytesPerTrigger": 3}, ReadMaxBytes(3)),
        ({"minEntriesPerTrigger": 2, "maxBytesPerTrigger": 3, "maxEntriesPerTrigger": 4}, ReadMaxRows(4)),
    ],
)
def test_spark_is_told_of_a_limit(given: dict[str, Any], limit: object) -> None:
    query = Query("http://127.0.0.1:1", stream="s", **given)
    assert query.reader.getDefaultReadLimit() == limit


@pytest.mark.parametrize(
    ("value", "ms"),
    [("15m", 900_000), ("90 seconds", 90_000), ("500", 500), ("2 h", 7_200_000), ("1D", 86_400_000)],
)
def test_a_delay_is_a_duration(value: str, ms: int) -> None:
    assert duration_ms("maxTriggerDelay", value) == ms


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"minEntriesPerTrigger": "0"}, "minEntriesPerTrigger: '0' is not an integer from 1"),
        ({"maxBytesPerTrigger": "1k"}, "maxBytesPerTrigger: '1k' is not an integer from 1"),
        ({"maxTriggerDelay": "5m"}, "maxTriggerDelay: it has no effect without minEntriesPerTrigger"),
        (
            {"minEntriesPerTrigger": "1", "maxTriggerDelay": "soon"},
            "maxTriggerDelay: 'soon' is not a duration, such as 15m",
        ),
        (
            {"minEntriesPerTrigger": "5", "maxEntriesPerTrigger": "4"},
            "minEntriesPerTrigger: 5 is greater than maxEntriesPerTrigger, 4",
        ),
    ],
)
def test_a_limit_that_cannot_be_is_refused(given: dict[str, str], sentence: str) -> None:
    with pytest.raises(BadOption) as refusal:
        options_for("http://127.0.0.1:1", stream="s", **given)
    assert str(refusal.value).startswith(sentence)


@pytest.mark.parametrize(
    "name", ["minEntriesPerTrigger", "maxEntriesPerTrigger", "maxBytesPerTrigger", "group"]
)
def test_a_batch_read_has_no_trigger(name: str) -> None:
    with pytest.raises(BadOption, match="a batch read has no such option"):
        batch_parts("http://127.0.0.1:1", stream="s", **{name: "1"})


# --- progress ------------------------------------------------------------------------------------------


def test_the_progress_shows_how_far_the_query_is_behind(base_url: str) -> None:
    add(base_url, "behind:1", *ids(1, 5))
    add(base_url, "behind:2", "1-0")
    query = Query(base_url, streams="behind:1,behind:2", maxEntriesPerTrigger=3)
    assert query.reader.reportLatestOffset() is None
    query.step()
    shown = query.reader.reportLatestOffset()
    assert shown is not None
    assert shown["entries_behind"] == 3
    assert shown["streams"]["behind:1"]["id"] == "5-0"
    assert shown["streams"]["behind:1"]["entries_behind"] == 3
    assert shown["streams"]["behind:2"] == {"id": "1-0", "entries_behind": 0, "lag_seconds": 0.0}
    assert shown["lag_seconds"] == shown["streams"]["behind:1"]["lag_seconds"] > 1e9, "these ids are of 1970"
    query.step()
    query.plan()
    shown = query.reader.reportLatestOffset()
    assert shown is not None
    assert (shown["entries_behind"], shown["lag_seconds"]) == (0, 0.0)
