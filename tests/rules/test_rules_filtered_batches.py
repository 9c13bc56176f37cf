"""Reads that gather entries for a group with a filter: only entries that match count."""

from __future__ import annotations

from typing import Any

import pytest

from tailrace.core import commands as c
from tailrace.core.filters import compile_filter
from tailrace.core.filters.filter import FILTERS_KEPT, Filter
from tailrace.core.limits import FILTER_STEP_ENTRIES
from tailrace.core.outcome import Outcome
from tests.rules.test_rules_batches import LINGER_MS, again, count, grouped, run, with_group
from tests.support.redis_like import START_MS, R


def filtered(*keys: str, **more: Any) -> R:
    r = with_group(*keys)
    for key in keys:
        run(r, c.ConfigureGroup(key.encode(), b"g", filter="fields.kind == 'a'", **more))
    return r


def add(r: R, kinds: str, key: str = "s") -> None:
    """Append an entry for each letter."""
    for kind in kinds:
        r.run("XADD", key, "*", "kind", kind)


def counted(outcome: Outcome) -> list[int]:
    assert isinstance(outcome.retry, c.ReadGroup)
    assert outcome.retry.batch is not None
    return [0 if each is None else each.matching for each in outcome.retry.batch.counted]


def test_entries_that_the_filter_hides_do_not_count() -> None:
    r = filtered("s")
    add(r, "bbbb")
    outcome = run(r, grouped("s"))
    add(r, "abab")
    outcome = again(r, outcome)
    assert (count(outcome), counted(outcome)) == (None, [2])
    add(r, "ba")
    assert count(again(r, outcome)) == 3


def test_lingering_begins_with_the_first_entry_that_matches() -> None:
    r = filtered("s")
    add(r, "b")
    outcome = run(r, grouped("s"))
    assert outcome.wait is not None
    assert outcome.wait.claim_at_ms is None
    r.now_ms += 10 * LINGER_MS
    add(r, "a")
    outcome = again(r, outcome)
    assert outcome.wait is not None
    assert outcome.wait.claim_at_ms == START_MS + 11 * LINGER_MS
    r.now_ms += LINGER_MS
    assert count(again(r, outcome)) == 1


def test_the_entries_of_groups_with_and_without_a_filter_count_together() -> None:
    r = filtered("s")
    r.run("XGROUP", "CREATE", "t", "g", 0, "MKSTREAM")
    add(r, "ab")
    add(r, "b", "t")
    outcome = run(r, grouped("s", "t"))
    assert (count(outcome), counted(outcome)) == (None, [1, 0])
    add(r, "b", "t")
    assert count(again(r, outcome)) == 3


def test_no_entry_is_examined_twice_while_the_read_gathers(monkeypatch: pytest.MonkeyPatch) -> None:
    r = filtered("s")
    examined: list[int] = []
    flags = Filter.flags

    def noted(wanted: Filter, fragments: Any) -> list[bool]:
        examined.append(len(fragments))
        return flags(wanted, fragments)

    monkeypatch.setattr(Filter, "flags", noted)
    outcome = run(r, grouped("s"))
    for kinds in ("ab", "b", "bb"):
        add(r, kinds)
        outcome = again(r, outcome)
        assert (count(outcome), counted(outcome)) == (None, [1])
    assert examined == [2, 1, 2]


def test_the_count_begins_again_after_another_consumer_has_read_and_with_another_filter() -> None:
    r = filtered("s")
    add(r, "aa")
    outcome = run(r, grouped("s"))
    assert counted(outcome) == [2]
    r.run("XREADGROUP", "GROUP", "g", "bob", "COUNT", 1, "STREAMS", "s", ">")
    outcome = again(r, outcome)
    assert counted(outcome) == [1]
    run(r, c.ConfigureGroup(b"s", b"g", filter="fields.kind == 'b'"))
    outcome = again(r, outcome)
    assert counted(outcome) == [0]
    run(r, c.ConfigureGroup(b"s", b"g", filter=None))
    add(r, "bb")
    assert count(again(r, outcome)) == 3


def test_a_count_of_many_entries_continues_by_itself_in_steps() -> None:
    r = filtered("s")
    fragments = [b'{"kind":"b"}'] * (2 * FILTER_STEP_ENTRIES + 1)
    run(r, c.Append(b"s", fragments, [(number + 1) << 64 for number in range(len(fragments))]))
    outcome = run(r, grouped("s"))
    for _ in range(2):
        assert outcome.wait is not None
        assert (outcome.wait.is_behind, outcome.wait.keys) == (True, ())
        outcome = again(r, outcome)
    assert outcome.wait is not None
    assert (outcome.wait.is_behind, outcome.wait.keys) == (False, (b"s",))


def test_a_held_entry_that_is_ready_and_new_ones_that_match_count_together() -> None:
    r = filtered("s", order_by="k")
    for kind, key in ("ax", "ax", "by", "ay"):
        r.run("XADD", "s", "*", "kind", kind, "k", key)
    [[_, [[first, _], _]]] = r.run("XREADGROUP", "GROUP", "g", "bob", "STREAMS", "s", ">")
    r.run("XACK", "s", "g", first)
    r.run("XADD", "s", "*", "kind", "b", "k", "z")
    outcome = run(r, grouped("s"))
    assert (count(outcome), counted(outcome)) == (None, [0])
    for key in "uv":
        r.run("XADD", "s", "*", "kind", "a", "k", key)
    assert count(again(r, outcome)) == 3


def test_each_group_compiles_its_filter_once_however_many_groups_there_are() -> None:
    r = R()
    names = [b"g%d" % number for number in range(FILTERS_KEPT + 5)]
    for name in names:
        r.run("XGROUP", "CREATE", "s", name, 0, "MKSTREAM")
        run(r, c.ConfigureGroup(b"s", name, filter=f"fields.kind == '{name.decode()}'"))
    add(r, "x")
    for expected in (len(names), 0):
        before = compile_filter.cache_info().misses
        for name in names:
            r.engine.execute(c.ReadGroup(name, b"alice", (c.ReadFrom(b"s", c.Special.NEW),)), r.now_ms)
        assert compile_filter.cache_info().misses - before <= expected
        add(r, "x")
