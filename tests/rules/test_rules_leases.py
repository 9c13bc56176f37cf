"""Leases: claims by the group's own setting, heartbeats, and consumers that expire."""

from __future__ import annotations

from typing import Any

import pytest

from tailrace.core import commands as c
from tailrace.core.effects import ConsumerDeleted, ConsumerSeen, LeasesExtended
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.handlers import expiry
from tailrace.core.invariants import check
from tailrace.core.outcome import Outcome
from tailrace.core.replies import ExpiryReply, ExtendReply, ReadReply
from tailrace.core.stream_id import format_id, parse_id
from tailrace.core.transaction_work import STEPS_PER_RETURN, Work
from tests.support.redis_like import START_MS, R

IDLE_MS = 1_000
EXPIRY_MS = 10_000


def configure(r: R, key: bytes = b"race", **settings: Any) -> Outcome:
    return r.engine.execute(c.ConfigureGroup(key, b"g", **settings), r.now_ms)


def started(count: int = 3, **settings: Any) -> R:
    """A stream whose entries 1-0 to count-0 alice has read, of a group with these settings."""
    r = R()
    r.run("XGROUP", "CREATE", "race", "g", 0, "MKSTREAM")
    configure(r, **settings)
    for number in range(1, count + 1):
        r.run("XADD", "race", f"{number}-0", "n", number)
    r.run("XREADGROUP", "GROUP", "g", "alice", "STREAMS", "race", ">")
    return r


def read(r: R, consumer: str, *words: str, key: str = "race") -> Any:
    reply = r.run("XREADGROUP", "GROUP", "g", consumer, *words, "STREAMS", key, ">")
    return None if reply is None else [entry[0] for entry in reply[0][1]]


def extend(r: R, consumer: str, *ids: str) -> tuple[list[str], list[str]]:
    wanted = tuple(parse_id(value.encode()) for value in ids)
    reply = r.engine.execute(c.ExtendLeases(b"race", b"g", consumer.encode(), wanted), r.now_ms).reply
    assert isinstance(reply, ExtendReply)
    check(r.engine.keyspace)
    return [format_id(value) for value in reply.extended], [format_id(value) for value in reply.lost]


def look(r: R, *waiting: str, since_ms: int = 0, after: Any = None) -> ExpiryReply:
    places = tuple((b"race", b"g", name.encode()) for name in waiting)
    reply = r.engine.execute(c.ExpireConsumers(since_ms, places, after), r.now_ms).reply
    assert isinstance(reply, ExpiryReply)
    check(r.engine.keyspace)
    return reply


def consumers(r: R, key: str = "race") -> list[str]:
    return [row[1] for row in r.run("XINFO", "CONSUMERS", key, "g")]


def pending(r: R, key: str = "race") -> list[Any]:
    return [(value, owner, count) for value, owner, _, count in r.run("XPENDING", key, "g", "-", "+", 99)]


# --- claims by the setting -------------------------------------------------------------------


def test_a_read_claims_entries_that_are_idle_for_the_time_of_the_group() -> None:
    r = started(claim_min_idle_ms=IDLE_MS)
    r.now_ms += IDLE_MS - 1
    assert read(r, "bob") is None
    r.now_ms += 1
    assert read(r, "bob") == ["1-0", "2-0", "3-0"]
    assert pending(r) == [(f"{n}-0", "bob", 2) for n in (1, 2, 3)]


def test_the_reply_has_the_form_that_the_client_asked_for() -> None:
    r = started(1, claim_min_idle_ms=IDLE_MS)
    r.now_ms += IDLE_MS
    words = ["XREADGROUP", "GROUP", "g", "bob", "STREAMS", "race", ">"]
    assert r.run(*words) == [["race", [["1-0", ["n", "1"]]]]]
    claiming = ["XREADGROUP", "GROUP", "g", "bob", "CLAIM", "0", "STREAMS", "race", ">"]
    assert r.run(*claiming) == [["race", [["1-0", ["n", "1"], 0, 2]]]]


@pytest.mark.parametrize(("asked_ms", "ids"), [(IDLE_MS // 2, ["1-0"]), (2 * IDLE_MS, None)])
def test_a_value_in_the_request_wins_whichever_is_greater(asked_ms: int, ids: Any) -> None:
    r = started(1, claim_min_idle_ms=IDLE_MS)
    r.now_ms += IDLE_MS // 2 if ids else IDLE_MS
    assert read(r, "bob", "CLAIM", str(asked_ms)) == ids


def test_a_read_with_noack_claims_nothing_by_the_setting() -> None:
    r = started(1, claim_min_idle_ms=IDLE_MS)
    r.now_ms += IDLE_MS
    assert read(r, "bob", "NOACK") is None
    assert read(r, "bob", "NOACK", "CLAIM", str(IDLE_MS)) == ["1-0"]


def test_a_history_read_ends_claims_of_the_request_only() -> None:
    """As in Redis, the history of one stream ends CLAIM for the streams after it (rule 39)."""
    r = started(1, claim_min_idle_ms=IDLE_MS)
    r.run("XGROUP", "CREATE", "other", "g", 0, "MKSTREAM")
    r.now_ms += IDLE_MS
    streams = ["STREAMS", "other", "race", "0", ">"]
    assert r.run("XREADGROUP", "GROUP", "g", "bob", "CLAIM", "0", *streams)[-1] == ["other", []]
    assert r.run("XREADGROUP", "GROUP", "g", "bob", *streams)[-1] == ["race", [["1-0", ["n", "1"]]]]


def test_each_stream_of_a_read_has_the_setting_of_its_own_group() -> None:
    r = started(1, claim_min_idle_ms=IDLE_MS)
    r.run("XGROUP", "CREATE", "other", "g", 0, "MKSTREAM")
    r.run("XADD", "other", "1-0", "n", "1")
    read(r, "alice", key="other")
    r.now_ms += IDLE_MS
    reply = r.run("XREADGROUP", "GROUP", "g", "bob", "STREAMS", "other", "race", ">", ">")
    assert [name for name, _ in reply] == ["race"]


def test_a_waiting_reader_wakes_when_an_entry_is_idle_long_enough() -> None:
    r = started(1, claim_min_idle_ms=IDLE_MS)
    r.now_ms += 400
    outcome = r.outcome("XREADGROUP", "GROUP", "g", "bob", "BLOCK", 0, "STREAMS", "race", ">")
    assert outcome.wait is not None
    assert outcome.wait.claim_at_ms == START_MS + IDLE_MS
    r.now_ms = outcome.wait.claim_at_ms
    reply = r.again(outcome).reply
    assert isinstance(reply, ReadReply)
    assert [len(each.entries) for each in reply.streams] == [1]


def test_a_waiting_reader_wakes_for_the_stream_whose_entry_is_idle_first() -> None:
    r = started(1, claim_min_idle_ms=IDLE_MS)
    r.run("XGROUP", "CREATE", "other", "g", 0, "MKSTREAM")
    streams = ["STREAMS", "other", "race", ">", ">"]
    outcome = r.outcome("XREADGROUP", "GROUP", "g", "bob", "BLOCK", 0, *streams)
    assert outcome.wait is not None
    assert outcome.wait.claim_at_ms == START_MS + IDLE_MS


def test_a_changed_setting_wakes_readers_and_the_same_again_does_not() -> None:
    r = started(1)
    outcome = configure(r, claim_min_idle_ms=IDLE_MS)
    assert [each.key for each in outcome.wake_ups] == [b"race"]
    assert configure(r, claim_min_idle_ms=IDLE_MS).effects == []
    assert configure(r, claim_min_idle_ms=IDLE_MS).wake_ups == []


def test_a_claim_by_the_setting_moves_dead_letters() -> None:
    r = started(1, claim_min_idle_ms=IDLE_MS, max_deliveries=1, dead_letter_stream=b"dead")
    r.now_ms += IDLE_MS
    assert read(r, "bob") is None
    assert r.run("XLEN", "dead") == 1


def test_a_setting_that_is_removed_claims_nothing() -> None:
    r = started(1, claim_min_idle_ms=IDLE_MS)
    configure(r, claim_min_idle_ms=None)
    r.now_ms += IDLE_MS
    assert read(r, "bob") is None


@pytest.mark.parametrize(
    ("settings", "detail"),
    [
        ({"claim_min_idle_ms": 0}, "claim_min_idle_ms is 0, but it must be at least 1"),
        ({"claim_min_idle_ms": -5}, "claim_min_idle_ms is -5, but it must be at least 1"),
        ({"consumer_expiry_ms": 4_999}, "consumer_expiry_ms is 4999, but it must be at least 5000"),
        (
            {"max_deliveries": 0, "dead_letter_stream": b"dead"},
            "max_deliveries is 0, but it must be at least 1",
        ),
    ],
)
def test_a_value_that_is_too_small_is_refused_and_changes_nothing(settings: Any, detail: str) -> None:
    r = started(1, claim_min_idle_ms=IDLE_MS)
    with pytest.raises(StreamError) as refused:
        configure(r, **settings)
    assert (refused.value.code, refused.value.line) == (ErrorCode.INVALID_ARGUMENT, f"ERR {detail}")
    group = r.engine.keyspace.group(b"race", b"g")
    assert group is not None
    assert group.settings is not None
    assert group.settings.claim_min_idle_ms == IDLE_MS


# --- heartbeats ------------------------------------------------------------------------------


def test_extending_begins_the_idle_time_again_and_keeps_the_count() -> None:
    r = started(claim_min_idle_ms=IDLE_MS)
    r.now_ms += IDLE_MS - 1
    assert extend(r, "alice", "2-0", "1-0", "2-0") == (["2-0", "1-0"], [])
    r.now_ms += 1
    assert read(r, "bob") == ["3-0"]
    r.now_ms += IDLE_MS - 1
    assert read(r, "carol", "COUNT", "1") == ["2-0"], "in the order in which they were extended"
    assert pending(r) == [("1-0", "alice", 1), ("2-0", "carol", 2), ("3-0", "bob", 2)]


def test_ids_that_the_consumer_does_not_own_are_named_and_stay() -> None:
    r = started()
    r.run("XCLAIM", "race", "g", "bob", 0, "2-0")
    r.run("XNACK", "race", "g", "FAIL", "IDS", 1, "3-0")
    before = pending(r)
    r.now_ms += 5
    assert extend(r, "alice", "1-0", "2-0", "3-0", "9-9") == (["1-0"], ["2-0", "3-0", "9-9"])
    assert pending(r) == before


def test_a_consumer_that_does_not_exist_owns_nothing_and_is_not_created() -> None:
    r = started()
    assert extend(r, "nobody", "1-0") == ([], ["1-0"])
    assert consumers(r) == ["alice"]


def test_extending_nothing_marks_the_consumer_as_seen_only() -> None:
    r = started()
    r.now_ms += 7
    outcome = r.engine.execute(c.ExtendLeases(b"race", b"g", b"alice", (9 << 64,)), r.now_ms)
    assert outcome.effects == [ConsumerSeen(b"race", b"g", b"alice", r.now_ms, active=False)]


def test_a_deleted_entry_that_is_pending_can_be_extended() -> None:
    r = started()
    r.run("XDEL", "race", "1-0")
    assert extend(r, "alice", "1-0") == (["1-0"], [])


def test_many_entries_are_extended_as_one_effect() -> None:
    r = started(500)
    r.now_ms += 5
    ids = tuple(n << 64 for n in range(1, 501))
    outcome = r.engine.execute(c.ExtendLeases(b"race", b"g", b"alice", ids), r.now_ms)
    assert [type(effect) for effect in outcome.effects] == [ConsumerSeen, LeasesExtended]
    check(r.engine.keyspace)


@pytest.mark.parametrize("key", [b"race", b"missing"])
def test_extending_in_a_missing_group_is_refused(key: bytes) -> None:
    r = started()
    with pytest.raises(StreamError) as refused:
        r.engine.execute(c.ExtendLeases(key, b"h", b"alice", (1,)), r.now_ms)
    assert refused.value.code is ErrorCode.NOGROUP


# --- consumers that expire -------------------------------------------------------------------


def test_a_consumer_that_is_not_seen_gives_its_entries_back_and_disappears() -> None:
    r = started(consumer_expiry_ms=EXPIRY_MS)
    r.now_ms += EXPIRY_MS - 1
    assert look(r) == ExpiryReply(None)
    r.now_ms += 1
    assert look(r) == ExpiryReply(None, consumers=1, entries=3)
    assert consumers(r) == []
    assert pending(r) == [(f"{n}-0", "", 1) for n in (1, 2, 3)]
    assert read(r, "bob", "CLAIM", "999999") == ["1-0", "2-0", "3-0"], "claimable at once"


def test_giving_back_wakes_readers() -> None:
    r = started(consumer_expiry_ms=EXPIRY_MS)
    r.now_ms += EXPIRY_MS
    outcome = r.engine.execute(c.ExpireConsumers(0), r.now_ms)
    assert {each.key for each in outcome.wake_ups} == {b"race"}


def test_a_consumer_without_entries_disappears_too() -> None:
    r = started(0, consumer_expiry_ms=EXPIRY_MS)
    r.now_ms += EXPIRY_MS
    assert look(r) == ExpiryReply(None, consumers=1)
    assert consumers(r) == []


@pytest.mark.parametrize("what", ["read", "claim", "autoclaim", "extend", "wait"])
def test_a_consumer_counts_as_seen_by(what: str) -> None:
    r = started(consumer_expiry_ms=EXPIRY_MS)
    r.now_ms += EXPIRY_MS - 1
    if what == "read":
        read(r, "alice")
    elif what == "claim":
        r.run("XCLAIM", "race", "g", "alice", 0, "9-9")
    elif what == "autoclaim":
        r.run("XAUTOCLAIM", "race", "g", "alice", 999_999, "0")
    elif what == "extend":
        extend(r, "alice", "9-9")
    else:
        look(r, "alice")
    r.now_ms += EXPIRY_MS - 1
    assert look(r).consumers == 0
    r.now_ms += 1
    assert look(r).consumers == 1


def test_a_consumer_that_waits_is_marked_as_seen_after_a_quarter_of_its_time() -> None:
    r = started(consumer_expiry_ms=EXPIRY_MS)
    r.now_ms += EXPIRY_MS // 4 - 1
    command = c.ExpireConsumers(0, ((b"race", b"g", b"alice"), (b"race", b"g", b"bob"), (b"x", b"g", b"a")))
    assert r.engine.execute(command, r.now_ms).effects == []
    r.now_ms += 1
    seen = ConsumerSeen(b"race", b"g", b"alice", r.now_ms, active=False)
    assert r.engine.execute(command, r.now_ms).effects == [seen]


def test_a_step_of_the_clock_or_a_pause_expires_nobody() -> None:
    """The server passes the time from which consumers could be seen."""
    r = started(consumer_expiry_ms=EXPIRY_MS)
    r.now_ms += 3_600_000
    since_ms = r.now_ms
    assert look(r, since_ms=since_ms).consumers == 0
    r.now_ms += EXPIRY_MS - 1
    assert look(r, since_ms=since_ms).consumers == 0
    r.now_ms += 1
    assert look(r, since_ms=since_ms).consumers == 1


def test_a_time_in_the_future_does_not_keep_a_consumer() -> None:
    r = started(consumer_expiry_ms=EXPIRY_MS)
    r.now_ms -= 3_600_000
    since_ms = r.now_ms
    assert look(r, since_ms=since_ms).consumers == 0
    r.now_ms += EXPIRY_MS
    assert look(r, since_ms=since_ms).consumers == 1


def test_groups_without_the_setting_keep_their_consumers() -> None:
    r = started(claim_min_idle_ms=IDLE_MS)
    r.now_ms += 10 * EXPIRY_MS
    assert look(r) == ExpiryReply(None)
    assert not r.engine.keyspace.expiring
    configure(r, consumer_expiry_ms=EXPIRY_MS)
    configure(r, consumer_expiry_ms=None)
    assert look(r) == ExpiryReply(None)
    assert not r.engine.keyspace.expiring


def test_a_look_takes_bounded_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiry, "EXPIRED_ENTRIES_MAX", 2)
    r = started(5, consumer_expiry_ms=EXPIRY_MS)
    r.now_ms += EXPIRY_MS
    first = look(r)
    assert (first.entries, first.consumers, first.next is None) == (2, 0, False)
    assert consumers(r) == ["alice"], "it is deleted with its last entry"
    second = look(r, after=first.next)
    third = look(r, after=second.next)
    assert (third.next, third.entries, third.consumers) == (None, 1, 1)
    assert [owner for _, owner, _ in pending(r)] == [""] * 5


def test_a_look_examines_a_bounded_number_of_consumers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiry, "EXPIRY_LOOKS_MAX", 3)
    r = started(0, consumer_expiry_ms=EXPIRY_MS)
    for name in "abcdefg":
        r.run("XGROUP", "CREATECONSUMER", "race", "g", name)
    r.now_ms += EXPIRY_MS
    steps, reply = 1, look(r)
    while reply.next is not None:
        reply = look(r, after=reply.next)
        steps += 1
    assert (steps, consumers(r)) == (3, [])


def test_a_look_reaches_every_group_whatever_their_number_of_consumers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(expiry, "EXPIRY_LOOKS_MAX", 3)
    r = R()
    for number, names in enumerate(["", "", "a", "", "", "", "", "a", "ab", "", "a"]):
        key = f"race:{number}"
        r.run("XGROUP", "CREATE", key, "g", 0, "MKSTREAM")
        configure(r, key.encode(), consumer_expiry_ms=EXPIRY_MS)
        for name in names:
            r.run("XGROUP", "CREATECONSUMER", key, "g", name)
    r.now_ms += EXPIRY_MS
    reply = look(r)
    deleted = reply.consumers
    while reply.next is not None:
        reply = look(r, after=reply.next)
        deleted += reply.consumers
    assert deleted == 5
    assert [consumers(r, f"race:{number}") for number in range(11)] == [[]] * 11


def test_a_look_goes_past_any_number_of_groups_that_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiry, "EXPIRY_LOOKS_MAX", 2)
    r = R()
    for number in range(6):
        key = f"race:{number}"
        r.run("XGROUP", "CREATE", key, "g", 0, "MKSTREAM")
        configure(r, key.encode(), consumer_expiry_ms=EXPIRY_MS)
    r.run("XGROUP", "CREATECONSUMER", "race:5", "g", "alice")
    r.run("DEL", *(f"race:{number}" for number in range(5)))
    r.now_ms += EXPIRY_MS
    reply = look(r)
    while reply.next is not None:
        reply = look(r, after=reply.next)
    assert consumers(r, "race:5") == []


def test_a_read_of_many_groups_takes_no_more_from_expired_consumers_than_one_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    r = started(3, consumer_expiry_ms=EXPIRY_MS)
    keys = ["race", *(f"race:{number}" for number in range(4))]
    for key in keys[1:]:
        r.run("COPY", "race", key)
    r.now_ms += EXPIRY_MS
    monkeypatch.setattr(expiry, "EXPIRED_ENTRIES_MAX", 4)
    assert look(r).next is not None
    before = sum(owner == "" for key in keys for _, owner, _ in pending(r, key))
    r.run("XREADGROUP", "GROUP", "g", "bob", "STREAMS", *keys, *[">"] * len(keys))
    check(r.engine.keyspace)
    assert sum(owner == "" for key in keys for _, owner, _ in pending(r, key)) == before + 4


def test_a_read_does_the_work_for_its_group_while_a_look_is_on_its_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    r = started(3, consumer_expiry_ms=EXPIRY_MS)
    r.now_ms += EXPIRY_MS
    read(r, "zoe")
    with monkeypatch.context() as bounds:
        bounds.setattr(expiry, "EXPIRED_ENTRIES_MAX", 1)
        assert look(r).next is not None
    assert read(r, "bob", "CLAIM", "999999") == ["1-0", "2-0", "3-0"]
    assert consumers(r) == ["bob", "zoe"]


def test_the_consumer_that_reads_stays_while_a_look_is_on_its_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiry, "EXPIRED_ENTRIES_MAX", 1)
    r = started(3, consumer_expiry_ms=EXPIRY_MS)
    r.run("XGROUP", "CREATE", "plain", "g", 0, "MKSTREAM")
    r.now_ms += EXPIRY_MS
    first = look(r)
    assert read(r, "x", key="plain") is None
    read(r, "alice")
    assert look(r, after=first.next).consumers == 0
    assert [owner for _, owner, _ in pending(r)] == ["", "alice", "alice"]


def test_the_setting_survives_a_rename_and_a_copy_and_ends_with_the_group() -> None:
    r = started(consumer_expiry_ms=EXPIRY_MS)
    r.run("COPY", "race", "twin")
    r.run("RENAME", "race", "moved")
    r.now_ms += EXPIRY_MS
    reply = r.engine.execute(c.ExpireConsumers(0), r.now_ms).reply
    assert reply == ExpiryReply(None, consumers=2, entries=6)
    assert (consumers(r, "moved"), consumers(r, "twin")) == ([], [])
    r.run("XGROUP", "DESTROY", "moved", "g")
    r.run("DEL", "twin")
    assert look(r) == ExpiryReply(None)
    assert not r.engine.keyspace.expiring
    configure(started(0), consumer_expiry_ms=EXPIRY_MS)
    r.run("FLUSHALL")
    assert not r.engine.keyspace.expiring


def test_a_look_continues_after_a_group_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiry, "EXPIRED_ENTRIES_MAX", 1)
    r = started(2, consumer_expiry_ms=EXPIRY_MS)
    r.now_ms += EXPIRY_MS
    first = look(r)
    r.run("DEL", "race")
    assert look(r, after=first.next) == ExpiryReply(None)


def test_a_transaction_counts_the_work_for_expired_consumers(monkeypatch: pytest.MonkeyPatch) -> None:
    r = started(200, consumer_expiry_ms=EXPIRY_MS)
    reading = c.ReadGroup(b"g", b"bob", (c.ReadFrom(b"race", c.Special.NEW),))
    before = Work(r.engine.keyspace)
    before.add(reading)
    r.now_ms += EXPIRY_MS
    monkeypatch.setattr(expiry, "EXPIRED_ENTRIES_MAX", 1)
    look(r)
    after = Work(r.engine.keyspace)
    after.add(reading)
    assert after.steps - before.steps == STEPS_PER_RETURN * 200


def test_one_effect_deletes_an_expired_consumer() -> None:
    r = started(0, consumer_expiry_ms=EXPIRY_MS)
    r.now_ms += EXPIRY_MS
    assert r.engine.execute(c.ExpireConsumers(0), r.now_ms).effects == [
        ConsumerDeleted(b"race", b"g", b"alice")
    ]
