"""Idempotency keys expire on time, and each second costs work only for the streams whose keys are due."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tailrace.app.store.service import EngineStore
from tailrace.core import commands as c
from tailrace.core.agenda import Deadlines
from tailrace.core.effects import IdempotencyExpired
from tailrace.core.engine import Engine
from tailrace.core.invariants import check
from tailrace.core.keyspace import Keyspace
from tailrace.core.limits import EXPIRING_STREAMS_PER_STEP
from tailrace.core.storage.recovery import recover
from tailrace.core.storage.salvage import write_keyspace
from tailrace.core.storage.schema import connect_for_reading
from tests.support.engine_calls import FRAGMENT, Calls, at
from tests.unit.test_many_ids import calls_of

DURATION_S = 100
MANY = 2 * EXPIRING_STREAMS_PER_STEP + 10


def keyed(key: bytes, name: bytes = b"1") -> c.Append:
    return c.Append(key, [FRAGMENT], idempotency=c.Idempotency(b"p", name))


def expired(calls: Calls) -> list[bytes]:
    effects = calls.outcome(c.ExpireIdempotencyKeys()).effects
    assert all(isinstance(each, IdempotencyExpired) for each in effects)
    check(calls.engine.keyspace)
    return [each.key for each in effects if isinstance(each, IdempotencyExpired)]


@pytest.fixture
def calls() -> Calls:
    return Calls()


def test_a_second_without_expired_keys_costs_the_same_with_any_number_of_streams(calls: Calls) -> None:
    def work() -> int:
        return calls_of(lambda: calls.outcome(c.ExpireIdempotencyKeys()))

    calls.reply(keyed(b"first"))
    few = work()
    for number in range(500):
        calls.reply(keyed(b"with keys %d" % number))
        calls.add(b"without %d" % number, "1-0")
    assert work() == few


def test_only_the_streams_whose_keys_are_due_are_examined(calls: Calls) -> None:
    calls.reply(keyed(b"early"))
    calls.now_ms += 1
    calls.reply(keyed(b"late"))
    calls.now_ms += DURATION_S * 1000 - 1
    assert calls.reply(c.ExpireIdempotencyKeys()) == 1
    assert expired(calls) == []
    calls.now_ms += 1
    assert expired(calls) == [b"late"]


def test_a_stream_with_keys_that_are_left_is_due_again_at_their_time(calls: Calls) -> None:
    calls.reply(keyed(b"s", b"1"))
    calls.now_ms += 60_000
    calls.reply(keyed(b"s", b"2"))
    calls.now_ms += 40_000
    assert expired(calls) == [b"s"]
    assert calls.reply(keyed(b"s", b"2")).replayed
    calls.now_ms += 60_000
    assert expired(calls) == [b"s"]
    assert calls.reply(c.InfoStream(b"s")).idmp_key_count == 0


def test_a_key_that_was_forgotten_by_count_makes_its_stream_due_once_for_nothing(calls: Calls) -> None:
    calls.reply(c.CreateStream(b"s", idmp_maxsize=1))
    calls.reply(keyed(b"s", b"1"))
    calls.now_ms += 60_000
    calls.reply(keyed(b"s", b"2"))
    calls.now_ms += 40_000
    assert calls.reply(c.ExpireIdempotencyKeys()) == 1
    assert calls.reply(keyed(b"s", b"2")).replayed
    assert calls.reply(c.ExpireIdempotencyKeys()) == 0
    calls.now_ms += 60_000
    assert expired(calls) == [b"s"]


def test_a_key_recorded_for_an_older_entry_expires_at_the_time_of_that_entry(calls: Calls) -> None:
    calls.add(b"s", "500-0", "900-0")
    calls.reply(c.RecordIdempotencyKey(b"s", b"p", b"late", at("900-0")))
    calls.reply(c.RecordIdempotencyKey(b"s", b"q", b"early", at("500-0")))
    calls.now_ms = 500 + DURATION_S * 1000
    assert expired(calls) == [b"s"]
    assert calls.reply(c.InfoStream(b"s")).idmp_key_count == 1


def test_renamed_and_copied_streams_expire_and_deleted_ones_do_not(calls: Calls) -> None:
    for key in (b"renamed", b"copied", b"deleted"):
        calls.reply(keyed(key))
    calls.reply(c.RenameKey(b"renamed", b"new name"))
    calls.reply(c.CopyKey(b"copied", b"copy"))
    calls.reply(c.DeleteKeys((b"deleted",)))
    calls.now_ms += DURATION_S * 1000
    assert sorted(expired(calls)) == [b"copied", b"copy", b"new name"]


def test_a_flush_leaves_nothing_to_expire(calls: Calls) -> None:
    calls.reply(keyed(b"s"))
    calls.reply(c.Flush())
    calls.now_ms += DURATION_S * 1000
    assert calls.reply(c.ExpireIdempotencyKeys()) == 0


def test_a_recovered_stream_expires_at_the_same_time(calls: Calls, tmp_path: Path) -> None:
    calls.reply(keyed(b"s"))
    write_keyspace(calls.engine.keyspace, tmp_path)
    reading = connect_for_reading(tmp_path)
    calls.engine = Engine(recover(reading, reading).keyspace)
    calls.now_ms += DURATION_S * 1000 - 1
    assert expired(calls) == []
    calls.now_ms += 1
    assert expired(calls) == [b"s"]
    reading.close()


# --- many streams at once ------------------------------------------------------------------------------


def test_many_streams_expire_in_portions(calls: Calls) -> None:
    for number in range(MANY):
        calls.reply(keyed(b"%d" % number))
    calls.now_ms += DURATION_S * 1000
    examined = [calls.reply(c.ExpireIdempotencyKeys()) for _ in range(4)]
    assert examined == [EXPIRING_STREAMS_PER_STEP, EXPIRING_STREAMS_PER_STEP, 10, 0]
    check(calls.engine.keyspace)


def filled_store() -> tuple[EngineStore, Keyspace]:
    engine, now_ms = Engine(), 1_000
    for number in range(MANY):
        engine.execute(keyed(b"%d" % number), now_ms)
    return EngineStore(engine, lambda: now_ms + DURATION_S * 1000), engine.keyspace


def left_keys(keyspace: Keyspace) -> int:
    return sum(stream.idempotency.key_count for stream in keyspace.streams.values())


def test_a_tick_expires_a_portion_in_each_turn_of_the_event_loop() -> None:
    async def left_after_each_turn() -> list[int]:
        store, keyspace = filled_store()
        store.tick()
        left = [left_keys(keyspace)]
        while left[-1]:
            await asyncio.sleep(0)
            left.append(left_keys(keyspace))
        return left

    assert asyncio.run(left_after_each_turn()) == [MANY - EXPIRING_STREAMS_PER_STEP, 10, 0]


def test_a_clock_that_was_moved_expires_all_keys_at_once() -> None:
    store, keyspace = filled_store()
    store.serve_due()
    assert left_keys(keyspace) == 0


# --- the deadlines -------------------------------------------------------------------------------------


def test_only_an_earlier_time_replaces_a_deadline() -> None:
    deadlines = Deadlines()
    for at_ms in (50, 70, 30):
        deadlines.note(1, at_ms)
    assert deadlines.of(1) == 30
    assert list(deadlines.take_due(29, 10)) == []
    assert list(deadlines.take_due(90, 10)) == [1]
    assert deadlines.of(1) is None
    assert list(deadlines.take_due(90, 10)) == []


def test_forgotten_deadlines_take_no_memory() -> None:
    deadlines = Deadlines()
    for serial in range(10_000):
        deadlines.note(serial, serial)
        deadlines.forget(serial - 5)
    deadlines.forget(10_000)
    assert len(deadlines._heap) < 2_000
    assert list(deadlines.take_due(10_000, 10)) == [9_995, 9_996, 9_997, 9_998, 9_999]
