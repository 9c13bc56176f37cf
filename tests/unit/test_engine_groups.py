"""Consumers, pending entries and invariants in cases that the commands of Redis do not reach."""

from __future__ import annotations

import random
from typing import Any

import pytest
from msgspec.structs import replace

from tailrace.core import commands as c
from tailrace.core.errors import ErrorCode
from tailrace.core.invariants import check
from tailrace.core.replies import DeleteResult
from tests.support.engine_calls import Calls, at, texts
from tests.support.pending_order import ids_in_order
from tests.support.seeds import seeds

IDS = [f"{number}-0" for number in range(1, 101)]


@pytest.fixture
def calls() -> Calls:
    """A stream of a hundred entries with spaced ids, all pending for `alice` in group `g`."""
    calls = Calls()
    calls.add(b"s", *IDS)
    calls.reply(c.CreateGroup(b"s", b"g", 0))
    calls.read_new(b"s", b"g", b"alice")
    return calls


def pending(calls: Calls, consumer: bytes | None = None, **options: Any) -> list[tuple[str, bytes, int]]:
    found = calls.reply(c.PendingRange(b"s", b"g", consumer=consumer, count=1000, **options))
    return [(texts([each.id])[0], each.consumer, each.deliveries) for each in found]


def test_a_consumer_with_pending_entries_is_deleted_only_where_that_is_meant(calls: Calls) -> None:
    refused = calls.refused(c.DeleteConsumer(b"s", b"g", b"alice", refuse_pending=True))
    assert (refused.code, refused.details) == (ErrorCode.CONSUMER_HAS_PENDING, {"pending": "100"})
    assert calls.reply(c.DeleteConsumer(b"s", b"g", b"alice")) == 100
    assert calls.reply(c.DeleteConsumer(b"s", b"g", b"alice")) is None
    assert pending(calls) == []


def test_a_consumer_without_pending_entries_is_deleted_without_asking(calls: Calls) -> None:
    calls.reply(c.CreateConsumer(b"s", b"g", b"idle"))
    assert calls.reply(c.DeleteConsumer(b"s", b"g", b"idle", refuse_pending=True)) == 0


def test_pending_entries_can_be_handed_over_with_times_and_counts_unchanged(calls: Calls) -> None:
    calls.reply(c.Claim(b"s", b"g", b"bob", c.ClaimOptions(0, (at("7"), at("50")), idle_ms=500)))
    before = calls.reply(c.PendingRange(b"s", b"g", count=1000))
    assert calls.reply(c.DeleteConsumer(b"s", b"g", b"alice", transfer_to=b"bob")) == 0
    check(calls.engine.keyspace)
    assert calls.reply(c.DeleteConsumer(b"s", b"g", b"bob", transfer_to=b"carol")) == 0
    check(calls.engine.keyspace)
    after = calls.reply(c.PendingRange(b"s", b"g", count=1000))
    assert {each.consumer for each in after} == {b"carol"}
    assert [(e.id, e.delivered_at_ms, e.deliveries) for e in after] == [
        (e.id, e.delivered_at_ms, e.deliveries) for e in before
    ]


def test_handing_over_to_oneself_deletes(calls: Calls) -> None:
    assert calls.reply(c.DeleteConsumer(b"s", b"g", b"alice", transfer_to=b"alice")) == 100
    assert pending(calls) == []


def test_a_stretch_claimed_from_a_delivery_stays_in_one_piece(calls: Calls) -> None:
    calls.now_ms += 100
    read = c.ReadGroup(
        b"g", b"bob", (c.ReadFrom(b"s", c.Special.NEW),), c.ReadLimits(count=40), claim_min_idle_ms=50
    )
    calls.reply(read)
    calls.reply(read)
    check(calls.engine.keyspace)
    group = calls.engine.keyspace.group(b"s", b"g")
    assert group is not None
    assert len(group.pending.table.segments) == 1
    assert {consumer for _, consumer, _ in pending(calls)[:80]} == {b"bob"}
    assert pending(calls)[80:] == [(each, b"alice", 1) for each in IDS[80:]]


@pytest.mark.parametrize("seed", seeds(20))
def test_scattered_entries_stay_as_they_are_whatever_is_claimed_nacked_and_acknowledged_of_them(
    calls: Calls, seed: int
) -> None:
    chance = random.Random(seed)
    expected: dict[int, tuple[bytes | None, int]] = {at(each): (b"alice", 1) for each in IDS}
    order = [at(each) for each in IDS]
    for _ in range(12):
        calls.now_ms += 1
        some = tuple(chance.sample(sorted(expected), min(chance.choice([2, 5, 40]), len(expected))))
        owner = chance.choice([b"alice", b"bob", b"carol"])
        match chance.choice(["claim", "again", "nack", "ack"]):
            case "nack":
                calls.reply(c.NegativeAcknowledge(b"s", b"g", c.NackMode.FAIL, some))
                nacked = [value for value in order if expected[value][0] is None and value not in some]
                expected.update({value: (None, expected[value][1]) for value in some})
                order = [*nacked, *some, *(v for v in order if v not in some and v not in nacked)]
            case "ack":
                calls.reply(c.Acknowledge(b"s", b"g", some[:3]))
                order = [value for value in order if value not in some[:3]]
                expected = {value: expected[value] for value in order}
            case kind:
                count = len(some)
                for _ in range(2 if kind == "again" else 1):
                    calls.reply(c.Claim(b"s", b"g", owner, c.ClaimOptions(0, some)))
                    expected.update({value: (owner, expected[value][1] + 1) for value in some})
                order = [*(value for value in order if value not in some), *some]
                assert len(some) == count
        check(calls.engine.keyspace)
        group = calls.engine.keyspace.group(b"s", b"g")
        assert group is not None
        assert ids_in_order(group.pending) == order
        assert {at(each): (owner, count) for each, owner, count in pending(calls)} == expected


@pytest.mark.parametrize("seed", seeds(20))
def test_acknowledging_in_any_order_and_stretch_leaves_exactly_the_rest(calls: Calls, seed: int) -> None:
    chance = random.Random(seed)
    left = [at(each) for each in IDS]
    while left:
        start = chance.randrange(len(left))
        some = left[start : start + chance.choice([1, 3, 30])]
        if chance.random() < 0.3:
            calls.reply(c.Claim(b"s", b"g", b"bob", c.ClaimOptions(0, tuple(some))))
        else:
            assert calls.reply(c.Acknowledge(b"s", b"g", (*some, *some, 5))) == len(some)
            left = [value for value in left if value not in some]
        check(calls.engine.keyspace)
        assert [at(each) for each, _, _ in pending(calls)] == left
    summary = calls.reply(c.PendingSummary(b"s", b"g"))
    assert (summary.count, summary.min_id, summary.max_id, summary.consumers) == (0, None, None, [])


def test_a_stretch_claimed_from_a_run_with_gaps_leaves_the_gaps_where_they_were(calls: Calls) -> None:
    calls.reply(c.Acknowledge(b"s", b"g", tuple(at(each) for each in IDS[4::10])))
    for low, high in ((71, 79), (11, 14), (41, 44)):
        stretch = tuple(at(each) for each in IDS[low - 1 : high])
        calls.reply(c.Claim(b"s", b"g", b"bob", c.ClaimOptions(0, stretch)))
        check(calls.engine.keyspace)
    assert [each for each, owner, _ in pending(calls) if owner == b"bob"][:8] == [
        *(f"{number}-0" for number in (11, 12, 13, 14)),
        *(f"{number}-0" for number in (41, 42, 43, 44)),
    ]
    assert len(pending(calls)) == 90


def test_what_was_claimed_from_here_and_there_goes_on_to_another_as_one(calls: Calls) -> None:
    scattered = ["3", "40", "41", "77", "9"]
    for number, consumer in enumerate([b"bob", b"bob", b"carol"], start=1):
        calls.now_ms += 10
        options = c.ClaimOptions(0, tuple(map(at, scattered)))
        calls.reply(c.Claim(b"s", b"g", consumer, options))
        check(calls.engine.keyspace)
        owned = [(f"{each}-0", consumer, 1 + number) for each in sorted(scattered, key=int)]
        assert pending(calls, consumer) == owned
    assert pending(calls, b"bob") == []
    assert len(pending(calls)) == len(IDS)


def test_a_consumer_that_was_given_nothing_was_never_active(calls: Calls) -> None:
    calls.reply(c.CreateConsumer(b"s", b"g", b"idle"))
    alice, idle = calls.reply(c.InfoConsumers(b"s", b"g"))
    assert (alice.inactive_ms, idle.inactive_ms) == (0, -1)


def test_consumers_of_a_missing_group_or_stream_cannot_be_shown(calls: Calls) -> None:
    assert calls.refused(c.InfoConsumers(b"s", b"none")).code is ErrorCode.NOGROUP
    assert calls.refused(c.InfoConsumers(b"none", b"g")).code is ErrorCode.NO_SUCH_STREAM


def test_the_history_of_nobody_is_empty(calls: Calls) -> None:
    assert pending(calls, b"nobody") == []
    assert pending(calls, b"alice", start=at("99"), end=at("99")) == [("99-0", b"alice", 1)]


def test_a_run_that_the_group_is_moved_back_into_is_delivered_anew(calls: Calls) -> None:
    calls.reply(c.DeleteEntries(b"s", (at("50"),)))
    calls.reply(c.SetGroupPosition(b"s", b"g", at("40")))
    assert len(calls.read_new(b"s", b"g", b"bob")) == 59
    check(calls.engine.keyspace)
    owners = {each: owner for each, owner, _ in pending(calls)}
    assert owners["50-0"] == b"alice"
    assert owners["49-0"] == owners["51-0"] == b"bob"


def test_a_check_names_the_stream_that_contradicts_itself(calls: Calls) -> None:
    group = calls.engine.keyspace.group(b"s", b"g")
    assert group is not None
    group.pending.table.count += 1
    with pytest.raises(AssertionError, match="stream b's': the count of pending entries is wrong"):
        check(calls.engine.keyspace)


def test_a_byte_budget_counts_deleted_entries_of_a_history_too(calls: Calls) -> None:
    calls.reply(c.DeleteEntries(b"s", (at("1"), at("2"))))
    read = c.ReadGroup(b"g", b"alice", (c.ReadFrom(b"s", 0),), c.ReadLimits(max_bytes=60))
    assert 1 < len(calls.reply(read).streams[0].entries) < 5


# --- a clock that stepped back ----------------------------------------------------------------------


@pytest.fixture
def stepped_back(calls: Calls) -> Calls:
    """All was delivered a day from now."""
    calls.now_ms += 86_400_000
    calls.reply(c.Claim(b"s", b"g", b"alice", c.ClaimOptions(0, tuple(map(at, IDS)))))
    calls.now_ms -= 86_400_000
    return calls


def test_entries_delivered_later_than_now_are_shown_as_pending(stepped_back: Calls) -> None:
    found = stepped_back.reply(c.PendingRange(b"s", b"g", count=1000))
    assert (len(found), {each.idle_ms for each in found}) == (100, {0})
    assert pending(stepped_back, b"alice", min_idle_ms=0) == pending(stepped_back)
    assert pending(stepped_back, min_idle_ms=1) == []


def test_a_claim_with_a_threshold_of_zero_takes_entries_delivered_later_than_now(
    stepped_back: Calls,
) -> None:
    assert (
        len(stepped_back.reply(c.Claim(b"s", b"g", b"bob", c.ClaimOptions(0, (at("1"),)))).entries.ids) == 1
    )
    taken = stepped_back.reply(c.AutoClaim(b"s", b"g", b"bob", 0, 0, 1000, just_id=False))
    assert len(taken.entries.ids) == 100


def test_a_read_that_claims_with_a_threshold_of_zero_takes_entries_delivered_later_than_now(
    stepped_back: Calls,
) -> None:
    command = c.ReadGroup(b"g", b"bob", (c.ReadFrom(b"s", c.Special.NEW),), claim_min_idle_ms=0)
    entries = stepped_back.reply(command).streams[0].entries
    assert (len(entries.ids), set(entries.idle_ms)) == (100, {0})


def test_no_idle_time_is_negative_after_a_step_back(stepped_back: Calls) -> None:
    stepped_back.now_ms -= 1000
    consumers = stepped_back.reply(c.InfoConsumers(b"s", b"g"))
    assert [(each.idle_ms, each.inactive_ms) for each in consumers] == [(0, 0)]
    full = stepped_back.reply(c.InfoStream(b"s", full_count=0))
    assert {each.idle_ms for each in full.groups[0].pending} == {0}
    history = c.ReadGroup(b"g", b"alice", (c.ReadFrom(b"s", 0),))
    assert set(stepped_back.reply(history).streams[0].entries.idle_ms) == {0}


def test_an_acknowledgment_may_ask_for_its_group() -> None:
    calls = Calls()
    plain = (c.Acknowledge(b"s", b"g", (1,)), c.AcknowledgeAndDelete(b"s", b"g", (1,), 1))
    strict = [replace(command, require_group=True) for command in plain]
    for missing in ("stream", "group"):
        assert [calls.reply(command) for command in plain] == [0, [DeleteResult.NOT_FOUND]]
        for command in strict:
            error = calls.refused(command)
            assert (error.code, error.details) == (ErrorCode.NOGROUP, {"missing": missing})
            assert error.names == {"key": b"s", "group": b"g"}
        calls.reply(c.CreateStream(b"s"))
    calls.reply(c.CreateGroup(b"s", b"g", 0))
    assert [calls.reply(command) for command in strict] == [0, [DeleteResult.NOT_FOUND]]
