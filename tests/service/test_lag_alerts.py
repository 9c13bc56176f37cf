"""The lag of groups in time: its value, and the lines in the log when it crosses the limit."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from tailrace.app.metrics.census import Census
from tailrace.app.store import lag_alerts
from tailrace.app.store.lag_alerts import LagAlerts
from tailrace.core import commands as c
from tests.support.redis_like import R

NOW_MS = 1_700_000_000_000
MOST_MS = 10_000


class Groups:
    """One engine with groups that have a greatest lag, and its alerts."""

    def __init__(self, *keys: str) -> None:
        self.r = R(NOW_MS)
        self.alerts = LagAlerts(lambda: self.r.engine.keyspace)
        for key in keys:
            self.r.run("XGROUP", "CREATE", key, "g", 0, "MKSTREAM")
            self.configure(key, MOST_MS)

    def configure(self, key: str, most_ms: int | None) -> None:
        self.r.engine.execute(c.ConfigureGroup(key.encode(), b"g", max_lag_ms=most_ms), self.r.now_ms)

    def read(self, key: str, count: int) -> None:
        self.r.run("XREADGROUP", "GROUP", "g", "alice", "COUNT", count, "STREAMS", key, ">")

    def tick(self, elapsed_ms: int = 0) -> None:
        self.r.now_ms += elapsed_ms
        self.alerts.tick(self.r.now_ms)


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str, int]]:
    """The lines since the last call: event, key and lag."""
    found = [
        (record.getMessage(), record.fields["key"], record.fields["lag_ms"])  # type: ignore[attr-defined]
        for record in caplog.records
        if record.name == "tailrace.lag"
    ]
    caplog.clear()
    return found


def test_one_line_says_that_a_group_is_behind_and_one_that_it_caught_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    groups = Groups("s")
    for _ in range(3):
        groups.r.run("XADD", "s", "*", "n", 1)
        groups.r.now_ms += 4_000
    groups.tick(-2_001)
    assert lines(caplog) == []
    groups.tick(1)
    assert lines(caplog) == [("group behind", "s", MOST_MS)]
    groups.tick(1_000)
    groups.read("s", 1)
    groups.tick()
    assert lines(caplog) == [], "it is 7 s behind: between the limit and half of it"
    groups.tick(5_000)
    assert lines(caplog) == [], "behind again, without another line"
    groups.read("s", 9)
    groups.tick()
    assert lines(caplog) == [("group caught up", "s", 0)]


def test_other_groups_cost_nothing_and_log_nothing(caplog: pytest.LogCaptureFixture) -> None:
    groups = Groups()
    groups.r.run("XGROUP", "CREATE", "s", "g", 0, "MKSTREAM")
    groups.r.run("XADD", "s", "1-0", "n", 1)
    groups.tick()
    assert lines(caplog) == []
    assert not groups.r.engine.keyspace.watched


@pytest.mark.parametrize("end", ["configure", "destroy", "delete", "flush"])
def test_a_group_that_is_gone_or_has_no_limit_is_not_behind(end: str) -> None:
    groups = Groups("s")
    groups.r.run("XADD", "s", "1-0", "n", 1)
    groups.tick()
    assert groups.alerts.count == 1
    if end == "configure":
        groups.configure("s", None)
    else:
        words = {"destroy": "XGROUP DESTROY s g", "delete": "DEL s", "flush": "FLUSHALL"}
        groups.r.line(words[end])
    groups.tick()
    assert groups.alerts.count == 0


def test_many_groups_take_several_ticks(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lag_alerts, "LINES_MAX", 2)
    monkeypatch.setattr(lag_alerts, "LOOKS_MAX", 3)
    groups = Groups(*"abcdefgh")
    for key in "abcdefgh":
        groups.r.run("XADD", key, "1-0", "n", 1)
    seen = []
    for _ in range(12):
        groups.tick()
        some = lines(caplog)
        assert len(some) <= 2
        seen += [key for _, key, _ in some]
    assert sorted(seen) == [*"abcdefgh"]
    assert groups.alerts.count == 8


def test_the_age_is_that_of_the_first_live_entry_after_the_position() -> None:
    r = R(NOW_MS)
    r.run("CONFIG", "SET", "stream-node-max-entries", 3)
    for number in range(1, 20):
        r.run("XADD", "s", f"{NOW_MS - 10_000 + number * 100}-0", "n", number)
    r.run("XGROUP", "CREATE", "s", "g", 0)
    for position in range(20):
        r.run("XDEL", "s", *(f"{NOW_MS - 10_000 + n * 100}-0" for n in (3, 4, 5, 6, 7, 19)))
        r.run("XGROUP", "SETID", "s", "g", f"{NOW_MS - 10_000 + position * 100}-0")
        left = [n for n in range(1, 19) if n not in range(3, 8) and n > position]
        expected = 10_000 - left[0] * 100 if left else None
        info: Any = r.engine.execute(c.InfoGroups(b"s"), NOW_MS).reply
        assert info[0].lag_ms == expected, position
        census = Census(r.engine.keyspace, NOW_MS, 10)
        assert list(census.steps()) == []
        assert census.named[0].lag_ms == (expected or 0), position


def test_an_empty_stream_has_no_lag() -> None:
    r = R(NOW_MS)
    r.run("XGROUP", "CREATE", "s", "g", 0, "MKSTREAM")
    info: Any = r.engine.execute(c.InfoGroups(b"s"), NOW_MS).reply
    assert info[0].lag_ms is None


def test_a_census_decodes_a_bounded_number_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tailrace.app.metrics.census.DECODED_MAX", 2)  # the lag and its age of one group
    r = R(NOW_MS)
    r.run("CONFIG", "SET", "stream-node-max-entries", 3)
    for key in "ab":
        for number in (1, 5, 9, 13, 17):
            r.run("XADD", key, f"{number}-0", "n", number)
        r.run("XGROUP", "CREATE", key, "g", "2-0")
    census = Census(r.engine.keyspace, NOW_MS, 10)
    assert list(census.steps()) == []
    assert sorted(each.lag_ms for each in census.named) == [-1, NOW_MS - 5]


def test_the_census_says_which_groups_are_behind() -> None:
    groups = Groups("s", "t")
    groups.r.run("XGROUP", "CREATE", "s", "other", 0)
    groups.r.run("XADD", "s", "1-0", "n", 1)
    groups.tick()
    census = Census(groups.r.engine.keyspace, NOW_MS, 10, groups.alerts.is_behind)
    assert list(census.steps()) == []
    assert {(each.key, each.group): each.behind for each in census.named} == {
        (b"s", b"g"): 1,
        (b"s", b"other"): -1,
        (b"t", b"g"): 0,
    }
