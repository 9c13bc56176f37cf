"""Totals and named groups, counted in slices while other commands are served."""

from __future__ import annotations

from typing import Any

import pytest

from tailrace.app.metrics.census import SLICE, Census, GroupState
from tailrace.core import commands as c
from tailrace.core.engine import Engine

NOW_MS = 1_692_632_086_370
FRAGMENT = b'{"rider":"Castilla"}'


def counted(engine: Engine, named_max: int = 10, now_ms: int = NOW_MS) -> Census:
    census = Census(engine.keyspace, now_ms, named_max)
    for _ in census.steps():
        pass
    return census


def with_group(engine: Engine, key: bytes, group: bytes, entries: int, delivered: int) -> None:
    """A group that was given `delivered` of `entries` entries."""
    commands: list[c.Command] = [c.CreateGroup(key, group, 0, create_stream=True)]
    if entries:
        commands.append(c.Append(key, [FRAGMENT] * entries))
    if delivered:
        position = c.ReadFrom(key, c.Special.NEW)
        commands.append(c.ReadGroup(group, b"alice", (position,), c.ReadLimits(count=delivered)))
    for command in commands:
        engine.execute(command, NOW_MS)


def names(states: list[GroupState]) -> set[bytes]:
    return {state.group for state in states}


def test_an_empty_keyspace_has_nothing() -> None:
    census = counted(Engine())
    assert (census.streams, census.entries, census.groups, census.pending) == (0, 0, 0, 0)
    assert (census.named, census.rest) == ([], None)


def test_a_group_s_state_is_its_pending_entries_its_lag_and_the_age_of_its_oldest_one() -> None:
    engine = Engine()
    with_group(engine, b"s", b"g", entries=5, delivered=2)
    census = counted(engine, now_ms=NOW_MS + 3000)
    assert census.named == [GroupState(2, 3, 3000, b"s", b"g", lag_ms=3000)]
    assert (census.streams, census.entries, census.groups, census.pending) == (1, 5, 1, 2)


def test_entries_that_were_given_back_have_no_owner_and_no_age() -> None:
    engine = Engine()
    with_group(engine, b"s", b"g", entries=2, delivered=2)
    first, second = engine.keyspace.streams[b"s"].groups[b"g"].pending.ids()
    nack: Any = lambda value: c.NegativeAcknowledge(b"s", b"g", c.NackMode.FAIL, (value,))  # noqa: E731
    engine.execute(nack(first), NOW_MS)
    assert counted(engine, now_ms=NOW_MS + 50).named[0].oldest_ms == 50
    engine.execute(nack(second), NOW_MS)
    assert counted(engine, now_ms=NOW_MS + 50).named[0].oldest_ms == 0


def test_those_with_the_most_pending_entries_are_named_and_the_rest_are_one() -> None:
    engine = Engine()
    for number in range(6):
        with_group(engine, b"s%d" % number, b"g%d" % number, entries=7, delivered=number)
    census = counted(engine, named_max=2)
    assert names(census.named) == {b"g4", b"g5"}
    assert census.rest == GroupState(0 + 1 + 2 + 3, 7 + 6 + 5 + 4, 0, b"", b"other")
    assert census.pending == 15


def test_among_groups_without_pending_entries_those_that_lag_most_are_named() -> None:
    engine = Engine()
    for number in range(4):
        with_group(engine, b"s%d" % number, b"g%d" % number, entries=number, delivered=0)
    assert names(counted(engine, named_max=1).named) == {b"g3"}


def test_where_no_group_may_be_named_all_are_one() -> None:
    engine = Engine()
    with_group(engine, b"s", b"g", entries=3, delivered=1)
    census = counted(engine, named_max=0)
    assert census.named == []
    assert census.rest == GroupState(1, 2, 0, b"", b"other")


def test_a_lag_that_xinfo_does_not_know_is_counted() -> None:
    engine = Engine()
    with_group(engine, b"s", b"g", entries=3, delivered=1)
    last = list(engine.keyspace.streams[b"s"].groups[b"g"].pending.ids())[-1]
    engine.execute(c.DeleteEntries(b"s", (last + 1,)), NOW_MS)
    assert counted(engine).named[0].lag == 1


def test_a_lag_that_is_not_known_counts_as_nothing_in_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tailrace.app.metrics.census.DECODED_MAX", 0)
    engine = Engine()
    engine.execute(c.SetConfig((("stream-node-max-entries", 3),)), NOW_MS)
    ids = tuple(number << 64 for number in range(1, 5))
    engine.execute(c.Append(b"s", (b'{"n":"1"}',) * 4, ids), NOW_MS)
    engine.execute(c.CreateGroup(b"s", b"g", ids[1]), NOW_MS)
    assert counted(engine).named[0].lag == -1
    rest = counted(engine, named_max=0).rest
    assert rest is not None
    assert rest.lag == 0


def test_no_step_looks_at_more_than_a_slice() -> None:
    engine = Engine()
    for number in range(3 * SLICE):
        engine.execute(c.CreateGroup(b"many", b"g%d" % number, 0, create_stream=True), NOW_MS)
        engine.execute(c.CreateStream(b"s%d" % number), NOW_MS)
    census = Census(engine.keyspace, NOW_MS, 10)
    seen = 0
    for _ in census.steps():
        assert census.streams + census.groups - seen <= SLICE
        seen = census.streams + census.groups
    assert (census.streams, census.groups) == (3 * SLICE + 1, 3 * SLICE)


def test_streams_and_groups_that_come_and_go_between_steps_are_counted_or_not_and_the_others_are() -> None:
    engine = Engine()
    for number in range(4 * SLICE):
        with_group(engine, b"s%05d" % number, b"g", entries=0, delivered=0)
    census = Census(engine.keyspace, NOW_MS, 10)
    for step, _ in enumerate(census.steps()):
        engine.execute(c.DeleteKeys((b"s%05d" % (4 * SLICE - 1 - step), b"s%05d" % step)), NOW_MS)
        with_group(engine, b"z%05d" % step, b"g", entries=0, delivered=0)
    assert 4 * SLICE - 20 <= census.streams <= 4 * SLICE + 20
    assert abs(census.groups - census.streams) <= 1
