"""Waiting reads that gather entries: `min_count` and `linger_ms`."""

from __future__ import annotations

from typing import Any

import pytest

from tailrace.core import commands as c
from tailrace.core.effects import ConsumerCreated, ConsumerSeen
from tailrace.core.invariants import check
from tailrace.core.outcome import Outcome
from tailrace.core.replies import ReadReply
from tests.support.redis_like import START_MS, R

LINGER_MS = 50
WAIT_MS = 1_000


def plain(*keys: str, after: Any = 0, linger_ms: int | None = LINGER_MS, least: int = 3) -> c.Read:
    sources = tuple(c.ReadFrom(key.encode(), after) for key in keys)
    return c.Read(sources, block_ms=WAIT_MS, batch=c.Batch(least, linger_ms))


def grouped(
    *keys: str, consumer: str = "alice", linger_ms: int | None = LINGER_MS, **more: Any
) -> c.ReadGroup:
    sources = tuple(c.ReadFrom(key.encode(), c.Special.NEW) for key in keys)
    batch = c.Batch(3, linger_ms)
    return c.ReadGroup(b"g", consumer.encode(), sources, block_ms=WAIT_MS, batch=batch, **more)


def run(r: R, command: c.Command) -> Outcome:
    outcome = r.engine.execute(command, r.now_ms)
    check(r.engine.keyspace)
    return outcome


def again(r: R, outcome: Outcome) -> Outcome:
    assert outcome.retry is not None
    return run(r, outcome.retry)


def count(outcome: Outcome) -> int | None:
    """How many entries it returned, None if it waits."""
    if outcome.wait is not None:
        return None
    assert isinstance(outcome.reply, ReadReply)
    return sum(len(each.entries) for each in outcome.reply.streams)


def add(r: R, key: str, number: int = 1) -> None:
    for _ in range(number):
        r.run("XADD", key, "*", "n", 1)


def with_group(*keys: str) -> R:
    r = R()
    for key in keys:
        r.run("XGROUP", "CREATE", key, "g", 0, "MKSTREAM")
    return r


READS = pytest.mark.parametrize("make", [plain, grouped])


@READS
def test_it_returns_when_enough_are_available(make: Any) -> None:
    r = with_group("s")
    outcome = run(r, make("s"))
    for _ in range(2):
        add(r, "s")
        outcome = again(r, outcome)
        assert count(outcome) is None
    add(r, "s")
    assert count(again(r, outcome)) == 3


@READS
def test_enough_at_the_first_look_do_not_wait(make: Any) -> None:
    r = with_group("s")
    add(r, "s", 5)
    assert count(run(r, make("s"))) == 5


@READS
def test_it_lingers_from_the_first_available_entry_on(make: Any) -> None:
    r = with_group("s")
    outcome = run(r, make("s"))
    assert outcome.wait is not None
    assert (outcome.wait.until_ms, outcome.wait.claim_at_ms) == (START_MS + WAIT_MS, None)
    r.now_ms += 400
    add(r, "s")
    outcome = again(r, outcome)
    assert outcome.wait is not None
    assert outcome.wait.claim_at_ms == START_MS + 400 + LINGER_MS
    r.now_ms += 20
    add(r, "s")
    outcome = again(r, outcome)
    assert outcome.wait is not None
    assert outcome.wait.claim_at_ms == START_MS + 400 + LINGER_MS, "the second entry does not prolong it"
    r.now_ms += LINGER_MS - 21
    assert count(again(r, outcome)) is None
    r.now_ms += 1
    assert count(again(r, outcome)) == 2


@READS
def test_without_linger_it_waits_until_the_end(make: Any) -> None:
    r = with_group("s")
    add(r, "s")
    outcome = run(r, make("s", linger_ms=None))
    assert outcome.wait is not None
    assert outcome.wait.claim_at_ms is None
    r.now_ms = START_MS + WAIT_MS - 1
    assert count(again(r, outcome)) is None
    r.now_ms += 1
    assert count(again(r, outcome)) == 1


@READS
def test_it_never_waits_longer_than_the_read(make: Any) -> None:
    r = with_group("s")
    outcome = run(r, make("s"))
    r.now_ms += WAIT_MS - 10
    add(r, "s")
    outcome = again(r, outcome)
    assert outcome.wait is not None
    assert outcome.wait.until_ms == START_MS + WAIT_MS
    r.now_ms += 10
    assert count(again(r, outcome)) == 1


@READS
def test_nothing_at_the_end_is_an_empty_reply(make: Any) -> None:
    r = with_group("s")
    outcome = run(r, make("s"))
    r.now_ms += WAIT_MS
    assert outcome.retry is not None
    reply = again(r, outcome).reply
    assert isinstance(reply, ReadReply)
    assert reply.is_empty


@READS
def test_a_linger_of_zero_returns_with_the_first_entry(make: Any) -> None:
    r = with_group("s")
    outcome = run(r, make("s", linger_ms=0))
    assert count(outcome) is None
    add(r, "s")
    assert count(again(r, outcome)) == 1


@READS
def test_a_clock_that_steps_back_begins_lingering_again(make: Any) -> None:
    r = with_group("s")
    add(r, "s")
    outcome = run(r, make("s"))
    r.now_ms -= 3_600_000
    outcome = again(r, outcome)
    assert outcome.wait is not None
    assert outcome.wait.claim_at_ms == r.now_ms + LINGER_MS
    r.now_ms += LINGER_MS
    assert count(again(r, outcome)) == 1


@READS
def test_the_entries_of_all_streams_count_together(make: Any) -> None:
    r = with_group("s", "t")
    add(r, "s", 2)
    outcome = run(r, make("s", "t"))
    assert count(outcome) is None
    add(r, "t")
    assert count(again(r, outcome)) == 3


def test_a_missing_stream_has_no_entries() -> None:
    r = R()
    add(r, "s", 2)
    assert count(run(r, plain("missing", "s"))) is None


@READS
def test_a_read_that_does_not_wait_returns_what_is_there(make: Any) -> None:
    r = with_group("s")
    add(r, "s")
    command = make("s")
    kinds = {"block_ms": None}
    asked = type(command)(**{name: getattr(command, name) for name in command.__struct_fields__} | kinds)
    assert count(run(r, asked)) == 1


def test_a_read_from_the_end_keeps_its_position() -> None:
    r = R()
    add(r, "s", 5)
    outcome = run(r, plain("s", after=c.Special.LAST_ID))
    add(r, "s", 2)
    outcome = again(r, outcome)
    assert count(outcome) is None
    r.now_ms += LINGER_MS
    assert count(again(r, outcome)) == 2


def test_deleted_entries_do_not_count() -> None:
    r = with_group("s")
    for number in range(1, 6):
        r.run("XADD", "s", f"{number}-0", "n", 1)
    r.run("XDEL", "s", "1-0", "2-0", "3-0")
    assert count(run(r, grouped("s"))) is None
    assert count(run(r, plain("s"))) is None


def test_a_count_across_blocks_is_exact() -> None:
    r = R()
    r.run("CONFIG", "SET", "stream-node-max-entries", 3)
    for number in range(1, 30):
        r.run("XADD", "s", f"{number * 7}-{number}", "n", 1)
    r.run("XDEL", "s", "7-1", "70-10", "203-29")
    log = r.engine.keyspace.streams[b"s"].log
    for after in range(215):
        live = [n for n in range(2, 29) if n != 10 and n * 7 > after]
        for most in (1, 2, 5, 100):
            assert log.count_after((after << 64) + (1 << 63), most) == min(len(live), most), after


def test_entries_that_another_consumer_takes_end_the_lingering() -> None:
    r = with_group("s")
    add(r, "s", 2)
    outcome = run(r, grouped("s"))
    r.run("XREADGROUP", "GROUP", "g", "bob", "STREAMS", "s", ">")
    r.now_ms += LINGER_MS
    outcome = again(r, outcome)
    assert outcome.wait is not None
    assert outcome.wait.claim_at_ms is None
    r.now_ms += 1
    add(r, "s")
    outcome = again(r, outcome)
    assert outcome.wait is not None
    assert outcome.wait.claim_at_ms == r.now_ms + LINGER_MS


def test_a_read_takes_nothing_while_it_lingers() -> None:
    r = with_group("s")
    add(r, "s", 2)
    outcome = run(r, grouped("s"))
    assert outcome.effects == [ConsumerCreated(b"s", b"g", b"alice", START_MS)]
    assert again(r, outcome).effects == [], "a retry is no request of the consumer"
    first = run(r, grouped("s"))
    assert first.effects == [ConsumerSeen(b"s", b"g", b"alice", START_MS, active=False)]


@pytest.mark.parametrize("setting", [True, False])
def test_an_entry_that_can_be_claimed_does_not_wait_for_others(setting: bool) -> None:  # noqa: FBT001
    r = with_group("s")
    add(r, "s")
    r.run("XREADGROUP", "GROUP", "g", "bob", "STREAMS", "s", ">")
    if setting:
        run(r, c.ConfigureGroup(b"s", b"g", claim_min_idle_ms=30))
    outcome = run(r, grouped("s", claim_min_idle_ms=None if setting else 30))
    assert outcome.wait is not None
    assert outcome.wait.claim_at_ms == START_MS + 30
    r.now_ms += 30
    assert count(again(r, outcome)) == 1


def test_the_earlier_of_claim_and_linger_wakes_the_reader() -> None:
    r = with_group("s")
    add(r, "s")
    r.run("XREADGROUP", "GROUP", "g", "bob", "STREAMS", "s", ">")
    add(r, "s")
    outcome = run(r, grouped("s", claim_min_idle_ms=3_000))
    assert outcome.wait is not None
    assert outcome.wait.claim_at_ms == START_MS + LINGER_MS


def test_a_history_read_never_waits() -> None:
    r = with_group("s")
    add(r, "s")
    r.run("XREADGROUP", "GROUP", "g", "alice", "STREAMS", "s", ">")
    command = c.ReadGroup(b"g", b"alice", (c.ReadFrom(b"s", 0),), block_ms=WAIT_MS, batch=c.Batch(3, None))
    assert count(run(r, command)) == 1


def test_a_reader_that_may_claim_at_once_does_not_poll() -> None:
    r = with_group("s")
    run(r, c.ConfigureGroup(b"s", b"g", claim_min_idle_ms=1))
    outcome = r.outcome("XREADGROUP", "GROUP", "g", "alice", "BLOCK", 0, "STREAMS", "s", ">")
    assert outcome.wait is not None
    assert outcome.wait.claim_at_ms == START_MS + 100


@READS
def test_streams_after_enough_entries_are_not_counted(make: Any) -> None:
    r = with_group("s", "t")
    add(r, "s", 3)
    assert count(run(r, make("s", "t"))) == 3
