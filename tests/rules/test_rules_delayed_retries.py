"""Retries that come later: nacks with a delay, and the backoff of a group."""

from __future__ import annotations

from typing import Any

import pytest

from tailrace.core import commands as c
from tailrace.core.deliveries import DELIVERIES_MAX
from tailrace.core.effects import Nacked, RetriesDelayed, RetriesReleased
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.handlers import due
from tailrace.core.handlers.backoff import backoff_ms
from tailrace.core.invariants import check
from tailrace.core.limits import BACKOFF_FACTOR_MAX, DELAY_MS_MAX
from tailrace.core.outcome import Outcome, Signal, WakeUp
from tailrace.core.replies import ReadReply
from tailrace.core.storage.state import decode_group, encode_group
from tailrace.core.stream_id import format_id, parse_id
from tests.support.pending_order import ids_in_order
from tests.support.redis_like import R

KEY = b"race"
FAIL, SILENT, FATAL = c.NackMode.FAIL, c.NackMode.SILENT, c.NackMode.FATAL


def run(r: R, command: c.Command) -> Outcome:
    outcome = r.engine.execute(command, r.now_ms)
    check(r.engine.keyspace)
    return outcome


def ids_of(*numbers: int) -> tuple[int, ...]:
    return tuple(number << 64 for number in numbers)


def started(count: int = 3, **settings: Any) -> R:
    """A stream whose entries 1-0 to count-0 alice has read, of the group `g` with these settings."""
    r = R()
    r.run("XGROUP", "CREATE", "race", "g", 0, "MKSTREAM")
    for number in range(1, count + 1):
        r.run("XADD", "race", f"{number}-0", "n", number)
    r.run("XREADGROUP", "GROUP", "g", "alice", "STREAMS", "race", ">")
    if settings:
        run(r, c.ConfigureGroup(KEY, b"g", **settings))
    return r


def backoff(initial_ms: int = 100, factor: float = 2.0, max_ms: int = 1_000) -> dict[str, Any]:
    return {"backoff_initial_ms": initial_ms, "backoff_factor": factor, "backoff_max_ms": max_ms}


def nack(
    r: R, *numbers: int, delay_ms: int | None = None, mode: c.NackMode = FAIL, **options: Any
) -> Outcome:
    command = c.NegativeAcknowledge(KEY, b"g", mode, ids_of(*numbers), delay_ms=delay_ms, **options)
    return run(r, command)


def claimed(r: R, min_idle_ms: int = 0) -> list[str]:
    """The ids that bob gets by a read that claims."""
    streams = (c.ReadFrom(KEY, c.Special.NEW),)
    reply = run(r, c.ReadGroup(b"g", b"bob", streams, claim_min_idle_ms=min_idle_ms)).reply
    assert isinstance(reply, ReadReply)
    return [format_id(value) for value in reply.streams[0].entries.ids]


def claimable_at(r: R, key: bytes = KEY) -> dict[str, int | None]:
    rows: Any = run(r, c.PendingRange(key, b"g", 0, (1 << 128) - 1, 99)).reply
    return {format_id(row.id): row.claimable_at_ms for row in rows}


def advance(r: R, ms: int) -> Outcome:
    r.now_ms += ms
    return run(r, c.DoDue())


# --- a delay ---------------------------------------------------------------------------------


def test_an_entry_can_be_claimed_again_only_after_its_delay() -> None:
    r = started()
    assert nack(r, 2, delay_ms=500).reply == 1
    advance(r, 499)
    r.run("XACK", "race", "g", "1-0", "3-0")
    assert claimed(r) == []
    outcome = advance(r, 1)
    assert outcome.effects == [RetriesReleased(KEY, b"g", list(ids_of(2)))]
    assert outcome.wake_ups == [WakeUp(KEY, Signal.DATA)]
    assert claimed(r, min_idle_ms=1_000_000) == ["2-0"], "as after any nack, whatever the threshold"


@pytest.mark.parametrize("count", [1, 3, 4, 50])
def test_no_claim_of_any_kind_takes_a_delayed_entry(count: int) -> None:
    r = started(count)
    nack(r, *range(1, count + 1), delay_ms=500)
    ids = [f"{number}-0" for number in range(1, count + 1)]
    assert claimed(r) == []
    assert r.run("XCLAIM", "race", "g", "bob", 0, *ids) == []
    assert r.run("XCLAIM", "race", "g", "bob", 0, *ids, "FORCE", "JUSTID") == []
    assert r.run("XAUTOCLAIM", "race", "g", "bob", 0, 0)[1] == []
    assert r.run("XREADGROUP", "GROUP", "g", "alice", "STREAMS", "race", 0)[0][1] == []
    assert r.run("XPENDING", "race", "g", "IDLE", 1, "-", "+", 99) == []
    check(r.engine.keyspace)
    assert len(r.run("XPENDING", "race", "g", "-", "+", 99)) == count
    advance(r, 500)
    assert len(r.run("XPENDING", "race", "g", "IDLE", 1, "-", "+", 99)) == count
    assert r.run("XAUTOCLAIM", "race", "g", "bob", 0, 0)[1] != []


def test_the_pending_entries_show_when_they_can_be_claimed() -> None:
    r = started(2)
    nack(r, 1, delay_ms=500)
    assert claimable_at(r) == {"1-0": r.now_ms + 500, "2-0": None}
    r.run("XNACK", "race", "g", "FAIL", "IDS", 1, "2-0")
    assert claimable_at(r)["2-0"] is None


def test_entries_are_released_in_the_order_of_their_times() -> None:
    r = started(5)
    nack(r, 1, delay_ms=300)
    nack(r, 2, delay_ms=100)
    nack(r, 3, 4, delay_ms=200)
    assert advance(r, 300).effects == [RetriesReleased(KEY, b"g", list(ids_of(2, 3, 4, 1)))]
    r.run("XACK", "race", "g", "5-0")
    assert claimed(r) == ["2-0", "3-0", "4-0", "1-0"]


def test_a_plain_nack_ends_a_delay_and_another_delay_replaces_it() -> None:
    r = started(2)
    nack(r, 1, 2, delay_ms=500)
    r.run("XNACK", "race", "g", "FAIL", "IDS", 1, "1-0")
    nack(r, 2, delay_ms=100)
    assert claimed(r) == ["1-0"]
    advance(r, 100)
    assert claimed(r, min_idle_ms=1_000) == ["2-0"]


def test_a_delay_of_zero_is_a_plain_nack_also_with_a_backoff() -> None:
    r = started(1, **backoff())
    assert nack(r, 1, delay_ms=0).effects == [Nacked(KEY, b"g", list(ids_of(1)), [1])]
    assert claimed(r) == ["1-0"]


def test_a_delay_that_is_too_long_is_refused_before_anything_changes() -> None:
    r = started(1)
    with pytest.raises(StreamError) as caught:
        nack(r, 1, delay_ms=DELAY_MS_MAX + 1)
    assert caught.value.code is ErrorCode.INVALID_ARGUMENT
    assert str(DELAY_MS_MAX) in caught.value.line
    assert claimable_at(r) == {"1-0": None}


def test_a_delayed_entry_can_be_acknowledged_deleted_and_nacked_by_force() -> None:
    r = started(4)
    nack(r, 1, 2, 3, 4, delay_ms=500)
    assert r.run("XACK", "race", "g", "1-0") == 1
    assert r.run("XDELEX", "race", "DELREF", "IDS", 1, "2-0") == [1]
    check(r.engine.keyspace)
    r.run("XDEL", "race", "3-0")
    assert r.run("XCLAIM", "race", "g", "bob", 0, "3-0") == [], "a deleted entry leaves the list"
    check(r.engine.keyspace)
    assert list(claimable_at(r)) == ["4-0"]
    assert r.run("XACK", "race", "g", "4-0") == 1
    assert advance(r, 500).effects == [], "nothing is left to release"
    assert nack(r, 4, delay_ms=100, force=True).reply == 1
    advance(r, 100)
    assert claimed(r) == ["4-0"]


def test_a_second_look_finds_the_entry_that_is_due_next_after_the_first_was_acknowledged() -> None:
    r = started(2)
    nack(r, 1, delay_ms=100)
    nack(r, 2, delay_ms=200)
    r.run("XACK", "race", "g", "1-0")
    assert advance(r, 100).effects == []
    assert advance(r, 100).effects == [RetriesReleased(KEY, b"g", list(ids_of(2)))]


def test_a_group_that_moves_back_delivers_a_delayed_entry_as_new() -> None:
    r = started(1)
    nack(r, 1, delay_ms=500)
    r.run("XGROUP", "SETID", "race", "g", 0)
    assert claimed(r) == ["1-0"]
    assert advance(r, 500).effects == []


@pytest.mark.parametrize("count", [2, 40, 1_100])
def test_a_trim_with_its_references_removes_delayed_entries_of_every_form(count: int) -> None:
    r = started(count)
    nack(r, *range(1, count + 1), delay_ms=500)
    keep = count // 2
    r.run("XTRIM", "race", "MAXLEN", "=", keep, "DELREF")
    check(r.engine.keyspace)
    assert len(claimable_at(r)) == min(keep, 99)
    released = [effect for effect in advance(r, 500).effects if isinstance(effect, RetriesReleased)]
    assert sum(len(effect.ids) for effect in released) == keep


def test_a_step_releases_whole_units_until_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due, "DUE_ENTRIES_PER_STEP", 3)
    r = started(9)
    for number in (1, 2):
        nack(r, number, delay_ms=1)
    nack(r, 3, 4, 5, 6, delay_ms=1)
    nack(r, 7, delay_ms=1)
    outcome = advance(r, 1)
    assert [len(effect.ids) for effect in outcome.effects if isinstance(effect, RetriesReleased)] == [6]
    assert outcome.reply == 1
    assert advance(r, 0).reply == 0


# --- keys, groups, storage -------------------------------------------------------------------


def test_delays_move_and_are_copied_with_the_stream_and_go_with_group_and_stream() -> None:
    r = started(1)
    nack(r, 1, delay_ms=500)
    at_ms = r.now_ms + 500
    r.run("COPY", "race", "copy")
    r.run("RENAME", "race", "other")
    check(r.engine.keyspace)
    assert claimable_at(r, b"copy") == claimable_at(r, b"other") == {"1-0": at_ms}
    r.run("XGROUP", "DESTROY", "copy", "g")
    r.run("XGROUP", "CREATE", "copy", "g", 0)
    outcome = advance(r, 500)
    assert outcome.effects == [RetriesReleased(b"other", b"g", list(ids_of(1)))]
    run(r, c.NegativeAcknowledge(b"other", b"g", FAIL, ids_of(1), delay_ms=5))
    r.run("DEL", "other")
    assert advance(r, 5).effects == []


@pytest.mark.parametrize("count", [2, 9])
def test_a_group_is_read_back_with_its_delays(count: int) -> None:
    r = started(count)
    nack(r, *range(1, count), delay_ms=500)
    group = r.engine.keyspace.streams[KEY].groups[b"g"]
    again = decode_group(encode_group(group))
    assert again.pending.first_held_ms == r.now_ms + 500
    assert again.pending.due_ids(r.now_ms + 500, 99) == group.pending.due_ids(r.now_ms + 500, 99)
    assert ids_in_order(again.pending) == ids_in_order(group.pending)


# --- the backoff of a group ------------------------------------------------------------------


def test_a_nack_delays_each_retry_longer_up_to_the_maximum() -> None:
    r = started(1, **backoff(100, 3.0, 500))
    delays = []
    for _ in range(5):
        at_ms = nack(r, 1).effects[0].claimable_at_ms  # type: ignore[attr-defined]
        delays.append(at_ms - r.now_ms)
        advance(r, delays[-1])
        assert claimed(r) == ["1-0"]
    assert delays == [100, 300, 500, 500, 500]


def test_entries_of_one_nack_are_delayed_by_their_own_counts() -> None:
    r = started(2, **backoff())
    r.run("XCLAIM", "race", "g", "bob", 0, "2-0", "RETRYCOUNT", 3)
    effects = nack(r, 1, 2).effects
    assert [(effect.ids, effect.claimable_at_ms - r.now_ms) for effect in effects] == [  # type: ignore[attr-defined]
        (list(ids_of(1)), 100),
        (list(ids_of(2)), 400),
    ]


def test_a_silent_nack_and_an_expired_consumer_delay_nothing() -> None:
    r = started(2, **backoff(), consumer_expiry_ms=5_000)
    assert [type(effect) for effect in nack(r, 1, mode=SILENT).effects] == [Nacked]
    r.now_ms += 5_000
    kinds = [type(effect) for effect in run(r, c.ExpireConsumers(0)).effects]
    assert Nacked in kinds
    assert RetriesDelayed not in kinds


def test_a_delay_of_the_nack_wins_over_the_backoff() -> None:
    r = started(1, **backoff())
    [effect] = nack(r, 1, delay_ms=7).effects
    assert effect.claimable_at_ms == r.now_ms + 7  # type: ignore[attr-defined]


def test_xnack_uses_the_backoff_of_the_group_because_consumers_need_not_agree() -> None:
    r = started(1, **backoff())
    assert r.run("XNACK", "race", "g", "FAIL", "IDS", 1, "1-0") == 1
    assert claimable_at(r) == {"1-0": r.now_ms + 100}


def test_a_fatal_nack_without_dead_letters_waits_for_the_maximum() -> None:
    r = started(1, **backoff())
    nack(r, 1, mode=FATAL)
    assert claimable_at(r) == {"1-0": r.now_ms + 1_000}


def test_an_entry_that_was_delivered_too_often_becomes_a_dead_letter_at_once() -> None:
    r = started(2, **backoff(), max_deliveries=1, dead_letter_stream=b"dead")
    assert nack(r, 1).reply == 1
    assert nack(r, 2, delay_ms=500).reply == 1
    assert r.run("XLEN", "dead") == 2
    assert claimable_at(r) == {}


@pytest.mark.parametrize(
    ("deliveries", "initial_ms", "factor", "max_ms", "expected"),
    [
        (0, 100, 2.0, 1_000, 100),
        (1, 100, 2.0, 1_000, 100),
        (2, 100, 2.0, 1_000, 200),
        (4, 100, 2.0, 1_000, 800),
        (5, 100, 2.0, 1_000, 1_000),
        (3, 100, 1.5, 1_000, 225),
        (9, 100, 1.0, 1_000, 100),
        (9, 100, 1.0, 100, 100),
        (1, 100, 2.0, 100, 100),
        (DELIVERIES_MAX, 1, 100.0, DELAY_MS_MAX, DELAY_MS_MAX),
        (DELIVERIES_MAX, 1, 1.0, DELAY_MS_MAX, 1),
    ],
)
def test_the_backoff_is_the_initial_delay_times_the_factor_for_each_further_delivery(
    deliveries: int, initial_ms: int, factor: float, max_ms: int, expected: int
) -> None:
    assert backoff_ms(deliveries, initial_ms, factor, max_ms) == expected


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"backoff_initial_ms": 5}, "all three"),
        ({"backoff_factor": 2.0, "backoff_max_ms": 5}, "all three"),
        (backoff(0), "at least 1"),
        (backoff(100, 0.5), "at least 1"),
        (backoff(100, BACKOFF_FACTOR_MAX + 1), str(BACKOFF_FACTOR_MAX)),
        (backoff(100, float("nan")), str(BACKOFF_FACTOR_MAX)),
        (backoff(100, 2.0, 99), "at least initial_ms, 100"),
        (backoff(100, 2.0, DELAY_MS_MAX + 1), str(DELAY_MS_MAX)),
    ],
)
def test_a_backoff_that_makes_no_sense_is_refused(settings: dict[str, Any], words: str) -> None:
    r = started(1)
    with pytest.raises(StreamError) as caught:
        run(r, c.ConfigureGroup(KEY, b"g", **settings))
    assert caught.value.code is ErrorCode.INVALID_ARGUMENT
    assert words in caught.value.line


def test_a_backoff_is_removed_by_none() -> None:
    r = started(1, **backoff())
    run(r, c.ConfigureGroup(KEY, b"g", **dict.fromkeys(backoff())))
    assert r.engine.keyspace.streams[KEY].groups[b"g"].settings is None
    assert [type(effect) for effect in nack(r, 1).effects] == [Nacked]


def test_the_ids_of_a_delay_are_those_of_entries() -> None:
    assert ids_of(2) == (parse_id(b"2-0"),)
