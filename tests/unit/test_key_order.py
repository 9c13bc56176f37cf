"""The order by key of a group in its rare states: many releases, its end, losses, full groups."""

from __future__ import annotations

from typing import Any

import pytest

from tailrace.core import commands as c
from tailrace.core.effects.key_order import forget_missing
from tailrace.core.invariants import check
from tailrace.core.key_order import KeyOrder
from tailrace.core.outcome import Signal, WakeUp
from tailrace.core.waiters import missed
from tests.rules.test_rules_order_by import ack, append, configure, group, held, ids, outcome, r, read, run
from tests.support.redis_like import R

__all__ = ["r"]


def test_the_heap_of_ids_is_made_again_when_most_of_it_is_stale() -> None:
    order = KeyOrder("k")
    for value in range(1, 1_000):
        order.take([value], [b"a"])
        order.release([value])
        assert len(order.heap) <= 66
    order.take([1_000], [b"a"])
    assert order.in_flight_up_to(1_000)[-1] == 1_000


def test_an_order_ends_with_the_last_held_entry_after_its_field_was_removed(r: R) -> None:
    for words in (("XDEL", "s", "2-0"), ("XTRIM", "s", "MAXLEN", 0), ("XGROUP", "SETID", "s", "g", "$")):
        configure(r, "k")
        run(r, "DEL", "s")
        run(r, "XGROUP", "CREATE", "s", "g", 0, "MKSTREAM")
        configure(r, "k")
        append(r, "aa")
        assert read(r) == [1]
        configure(r, None)
        assert held(r) == [2]
        run(r, *words)
        assert group(r).order is None
        assert not r.engine.keyspace.streams[b"s"].ordered


def test_a_group_without_held_entries_has_no_order_once_the_field_is_removed(r: R) -> None:
    configure(r, None)
    assert group(r).order is None
    configure(r, None, max_lag_ms=5)
    assert group(r).order is None


def test_a_group_that_is_full_wakes_a_reader_when_it_is_moved(r: R, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("key_order", "handlers.ordered_delivery"):
        monkeypatch.setattr(f"tailrace.core.{module}.HELD_ENTRIES_MAX", 1)
    append(r, "aaa")
    assert read(r) == [1]
    moved = r.engine.execute(c.SetGroupPosition(b"s", b"g", 2 << 64), r.now_ms)
    assert WakeUp(b"s", Signal.DATA, b"g", 1) in moved.wake_ups


def test_moving_a_group_of_a_stream_that_another_group_orders_changes_only_the_first(r: R) -> None:
    run(r, "XGROUP", "CREATE", "s", "plain", 0)
    append(r, "aa")
    read(r)
    run(r, "XGROUP", "SETID", "s", "plain", "$")
    assert held(r) == [2]


def test_entries_that_a_salvage_lost_are_neither_held_nor_in_flight(r: R) -> None:
    append(r, "aab")
    assert read(r) == [1, 3]
    stream = r.engine.keyspace.streams[b"s"]
    stream.log.remove([1 << 64, 2 << 64])
    forget_missing(stream)
    check(r.engine.keyspace)
    order = group(r).order
    assert order is not None
    assert (held(r), list(order.key_of)) == ([], [3 << 64])


def test_claimed_entries_that_use_up_the_limit_leave_ready_entries_and_wake_a_reader(r: R) -> None:
    append(r, "aab")
    assert read(r, max_count=1) == [1]
    sources = (c.ReadFrom(b"s", c.Special.NEW),)
    command = c.ReadGroup(b"g", b"bob", sources, c.ReadLimits(max_count=1), claim_min_idle_ms=0)
    result = r.engine.execute(command, r.now_ms)
    assert ids(result) == [1]
    assert result.wake_ups == [WakeUp(b"s", Signal.DATA, b"g", 1)]


def test_a_stream_behind_the_limit_of_a_read_wakes_a_reader_for_what_is_ready(r: R) -> None:
    run(r, "XGROUP", "CREATE", "plain", "g", 0, "MKSTREAM")
    run(r, "XADD", "plain", "*", "a", "b")
    append(r, "aa")
    read(r)
    ack(r, 1)
    sources = tuple(c.ReadFrom(key, c.Special.NEW) for key in (b"plain", b"s"))
    result = r.engine.execute(c.ReadGroup(b"g", b"bob", sources, c.ReadLimits(max_count=1)), r.now_ms)
    assert result.wake_ups == [WakeUp(b"s", Signal.DATA, b"g", 1)]


def test_several_commands_together_wake_the_readers_of_what_they_free(r: R) -> None:
    append(r, "aa")
    read(r)
    _, together = r.engine.execute_all([c.Acknowledge(b"s", b"g", (1 << 64,))], r.now_ms)
    assert together.wake_ups == [WakeUp(b"s", Signal.DATA, b"g", 1)]
    assert outcome(r).wake_ups == []


def test_a_reader_that_has_left_hands_its_wake_up_on() -> None:
    sources: Any = (c.ReadFrom(b"s", c.Special.NEW), c.ReadFrom(b"t", c.Special.NEW))
    keys = [(each.key, each.group, each.most) for each in missed(c.ReadGroup(b"g", b"x", sources))]
    assert keys == [(b"s", b"g", None), (b"t", b"g", None)]
    assert missed(c.Read(sources)) == []
