"""Retention: the server removes the oldest entries of a stream by the stream's own rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import pytest

from tailrace.core import commands as c
from tailrace.core.effects import EntriesAppended, EntriesRetired
from tailrace.core.invariants import check
from tailrace.core.limits import (
    RETENTION_STREAMS_PER_STEP,
    RETIRED_BLOCKS_PER_APPEND,
    RETIRED_ENTRIES_PER_STEP,
)
from tailrace.core.replies import RetentionInfo, StreamInfo
from tailrace.core.retention import Reason, RetentionRules
from tests.support.redis_like import START_MS, R

KEY: Final = b"race"
FIELDS: Final = b'{"n":"1"}'


def retain(r: R, key: bytes = KEY, **rules: Any) -> None:
    r.engine.execute(c.CreateStream(key, retention=RetentionRules(**rules)), r.now_ms)


def sweep(r: R, serial: int = 0) -> int:
    reply = r.engine.execute(c.SweepRetention(serial), r.now_ms).reply
    check(r.engine.keyspace)
    assert isinstance(reply, int)
    return reply


def append(r: R, count: int = 1, key: bytes = KEY) -> None:
    r.engine.execute(c.Append(key, [FIELDS] * count), r.now_ms)
    check(r.engine.keyspace)


def ids(r: R, key: str = "race") -> list[str]:
    return [value for value, _ in r.run("XRANGE", key, "-", "+")]


def retention_of(r: R) -> RetentionInfo:
    info = r.engine.execute(c.InfoStream(KEY), r.now_ms).reply
    assert isinstance(info, StreamInfo)
    assert info.retention is not None
    return info.retention


def size_of(r: R) -> int | None:
    info = r.engine.execute(c.InfoStream(KEY), r.now_ms).reply
    assert isinstance(info, StreamInfo)
    return info.size_bytes


def removed(r: R) -> dict[str, int]:
    return retention_of(r).removed


def at_ms(r: R, times_ms: Sequence[int]) -> None:
    """Append one entry at each of these times after the start."""
    for time_ms in times_ms:
        r.now_ms = START_MS + time_ms
        append(r)


# --- the rules -----------------------------------------------------------------------------------------


def test_entries_older_than_max_age_go_and_younger_ones_stay(r: R) -> None:
    retain(r, max_age_ms=1000)
    at_ms(r, [0, 500, 1000])
    r.now_ms = START_MS + 1500
    sweep(r)
    assert ids(r) == [f"{START_MS + 500}-0", f"{START_MS + 1000}-0"]
    assert removed(r) == {"max_age_ms": 1}
    assert retention_of(r).removed_at_ms == r.now_ms


def test_the_last_entry_goes_too_when_it_is_too_old(r: R) -> None:
    retain(r, max_age_ms=1000)
    append(r)
    r.now_ms += 1001
    sweep(r)
    assert ids(r) == []
    assert r.run("EXISTS", "race") == 1


def test_entries_above_max_length_go_the_oldest_first(r: R) -> None:
    retain(r, max_length=2)
    at_ms(r, [0, 1, 2, 3])
    sweep(r)
    assert ids(r) == [f"{START_MS + 2}-0", f"{START_MS + 3}-0"]
    assert removed(r) == {"max_length": 2}


def test_blocks_above_max_bytes_go_and_the_last_one_stays(r: R) -> None:
    r.run("CONFIG", "SET", "stream-node-max-entries", 10)
    retain(r, max_bytes=25 * len(FIELDS))
    for _ in range(4):
        append(r, 10)
    assert len(ids(r)) == 20
    assert size_of(r) == 20 * len(FIELDS)
    retain(r, max_bytes=1)
    sweep(r)
    assert len(ids(r)) == 10
    assert size_of(r) == 10 * len(FIELDS)


def test_what_every_group_has_acknowledged_goes_up_to_the_first_that_one_has_not(r: R) -> None:
    retain(r, acknowledged=True)
    at_ms(r, range(5))
    sweep(r)
    assert len(ids(r)) == 5, "no group has acknowledged anything"
    for group in ("g", "h"):
        r.run("XGROUP", "CREATE", "race", group, 0)
        r.run("XREADGROUP", "GROUP", group, "alice", "COUNT", 4, "STREAMS", "race", ">")
    all_ids = ids(r)
    r.run("XACK", "race", "g", *all_ids[:4])
    r.run("XACK", "race", "h", all_ids[0], all_ids[1], all_ids[3])
    sweep(r)
    assert ids(r) == all_ids[2:]
    r.run("XACK", "race", "h", all_ids[2])
    sweep(r)
    assert ids(r) == all_ids[4:]
    assert removed(r) == {"acknowledged": 4}


def test_rules_work_together_and_the_one_that_removes_the_most_is_named(r: R) -> None:
    retain(r, max_age_ms=2, max_length=4)
    at_ms(r, range(6))
    sweep(r)
    assert len(ids(r)) == 3
    assert removed(r) == {"max_age_ms": 3}


# --- protection ------------------------------------------------------------------------------------------


def test_unread_entries_stay_if_they_are_protected(r: R) -> None:
    retain(r, max_length=1, protect_unread=True)
    r.run("XGROUP", "CREATE", "race", "g", 0)
    at_ms(r, range(4))
    sweep(r)
    assert len(ids(r)) == 4
    r.run("XREADGROUP", "GROUP", "g", "alice", "COUNT", 2, "STREAMS", "race", ">")
    sweep(r)
    assert len(ids(r)) == 2
    assert retention_of(r).protected_count == 1
    r.run("XREADGROUP", "GROUP", "g", "alice", "STREAMS", "race", ">")
    sweep(r)
    assert len(ids(r)) == 1
    assert retention_of(r).protected_count == 0


def test_an_append_keeps_a_block_whose_last_entry_is_the_first_unread_one(r: R) -> None:
    r.run("CONFIG", "SET", "stream-node-max-entries", 2)
    retain(r, max_length=1, protect_unread=True)
    r.run("XGROUP", "CREATE", "race", "g", 0)
    append(r, 3)  # of one millisecond, so that the second id follows the first one directly
    r.run("XREADGROUP", "GROUP", "g", "alice", "COUNT", 1, "STREAMS", "race", ">")
    append(r)
    assert len(ids(r)) == 4


def test_the_slowest_group_protects_entries(r: R) -> None:
    retain(r, max_length=1, protect_unread=True)
    at_ms(r, range(4))
    r.run("XGROUP", "CREATE", "race", "fast", "$")
    r.run("XGROUP", "CREATE", "race", "slow", 0)
    sweep(r)
    assert len(ids(r)) == 4
    r.run("XGROUP", "DESTROY", "race", "slow")
    sweep(r)
    assert len(ids(r)) == 1


def test_a_stream_without_groups_protects_nothing(r: R) -> None:
    retain(r, max_length=1, protect_unread=True)
    at_ms(r, range(4))
    sweep(r)
    assert len(ids(r)) == 1


def test_the_cost_of_protection_is_shown_in_whole_blocks(r: R) -> None:
    r.run("CONFIG", "SET", "stream-node-max-entries", 10)
    retain(r, max_length=5, protect_unread=True)
    r.run("XGROUP", "CREATE", "race", "g", 0)
    append(r, 40)
    sweep(r)
    assert retention_of(r).protected_count == 35
    assert retention_of(r).protected_bytes == 30 * len(FIELDS)


def protected(r: R) -> list[int]:
    return list(r.engine.keyspace.protected_bytes.values())


@pytest.mark.parametrize(
    "end",
    [
        lambda r: r.run("XREADGROUP", "GROUP", "g", "alice", "STREAMS", "race", ">"),
        lambda r: r.run("XGROUP", "DESTROY", "race", "g"),
        lambda r: r.run("DEL", "race"),
        lambda r: r.run("FLUSHALL"),
        retain,
        lambda r: retain(r, max_length=5),
    ],
    ids=["read", "destroy", "delete", "flush", "no rules", "no protection"],
)
def test_a_sweep_notes_the_bytes_that_are_protected_until_they_no_longer_are(
    r: R, end: Callable[[R], object]
) -> None:
    r.run("CONFIG", "SET", "stream-node-max-entries", 10)
    retain(r, max_length=5, protect_unread=True)
    r.run("XGROUP", "CREATE", "race", "g", 0)
    append(r, 40)
    assert protected(r) == []
    sweep(r)
    assert protected(r) == [retention_of(r).protected_bytes] == [30 * len(FIELDS)]
    r.run("RENAME", "race", "tour")
    r.run("RENAME", "tour", "race")
    assert protected(r) == [30 * len(FIELDS)]
    end(r)
    sweep(r)
    assert protected(r) == []


# --- pending entries -------------------------------------------------------------------------------------


def pending(r: R, group: str = "g") -> list[str]:
    return [row[0] for row in r.run("XPENDING", "race", group, "-", "+", 1000)]


@pytest.mark.parametrize("removes", ["append", "sweep"])
def test_entries_that_retention_removed_are_no_longer_pending_after_the_sweep(r: R, removes: str) -> None:
    r.run("CONFIG", "SET", "stream-node-max-entries", 1)
    for group in ("g", "h"):
        r.run("XGROUP", "CREATE", "race", group, 0, "MKSTREAM")
    append(r, 4)
    r.run("XREADGROUP", "GROUP", "g", "alice", "COUNT", 3, "STREAMS", "race", ">")
    r.run("XREADGROUP", "GROUP", "h", "alice", "COUNT", 1, "STREAMS", "race", ">")
    r.run("XNACK", "race", "g", "FAIL", "IDS", 1, ids(r)[0])
    retain(r, max_length=2)
    if removes == "append":
        append(r)
    sweep(r)
    assert pending(r) == [value for value in ids(r) if value <= f"{START_MS}-2"]
    assert pending(r, "h") == []


def test_pending_entries_of_a_stream_that_retention_empties_go(r: R) -> None:
    r.run("XGROUP", "CREATE", "race", "g", 0, "MKSTREAM")
    append(r, 3)
    r.run("XREADGROUP", "GROUP", "g", "alice", "STREAMS", "race", ">")
    retain(r, max_age_ms=1000)
    r.now_ms += 1001
    sweep(r)
    assert (ids(r), pending(r)) == ([], [])
    assert r.run("XGROUP", "DELCONSUMER", "race", "g", "alice") == 0


def test_deleted_entries_stay_pending_behind_the_first_entry_and_without_retention(r: R) -> None:
    r.run("XGROUP", "CREATE", "race", "g", 0, "MKSTREAM")
    append(r, 4)
    r.run("XREADGROUP", "GROUP", "g", "alice", "STREAMS", "race", ">")
    all_ids = ids(r)
    r.run("XDEL", "race", all_ids[0], all_ids[2])
    sweep(r)
    assert pending(r) == all_ids
    retain(r, max_length=10)
    sweep(r)
    assert pending(r) == all_ids[1:]


def test_one_step_of_the_sweep_removes_the_pending_entries_of_a_bounded_number_of_groups(r: R) -> None:
    for number in range(20):
        r.run("XGROUP", "CREATE", "race", f"g{number}", 0, "MKSTREAM")
    append(r, 2)
    for number in range(20):
        r.run("XREADGROUP", "GROUP", f"g{number}", "alice", "STREAMS", "race", ">")
    retain(r, max_length=1)
    serial, steps = sweep(r), 1
    assert 0 < sum(len(pending(r, f"g{number}")) == 1 for number in range(20)) < 20
    while serial:
        serial, steps = sweep(r, serial), steps + 1
    assert steps == 2
    assert all(pending(r, f"g{number}") == ids(r) for number in range(20))


# --- appends ---------------------------------------------------------------------------------------------


def test_an_append_removes_whole_blocks_at_once(r: R) -> None:
    r.run("CONFIG", "SET", "stream-node-max-entries", 10)
    retain(r, max_length=15)
    for _ in range(10):
        append(r, 10)
        assert len(ids(r)) <= 15 + 10
    assert removed(r) == {"max_length": 80}


@pytest.mark.parametrize("rule", [{"max_age_ms": 1}, {"max_length": 1}, {"max_bytes": 1}])
def test_an_append_never_removes_what_it_appended(r: R, rule: dict[str, Any]) -> None:
    r.run("CONFIG", "SET", "stream-node-max-entries", 1)
    retain(r, **rule)
    at_ms(r, [0, 100, 200])
    assert ids(r) == [f"{START_MS + 200}-0"]


def test_an_append_removes_a_bounded_number_of_blocks(r: R) -> None:
    r.run("CONFIG", "SET", "stream-node-max-entries", 1)
    append(r, RETIRED_BLOCKS_PER_APPEND + 50)
    retain(r, max_length=1)
    append(r)
    assert len(ids(r)) == 51
    append(r)
    assert len(ids(r)) == 1


def test_an_append_keeps_protected_blocks(r: R) -> None:
    r.run("CONFIG", "SET", "stream-node-max-entries", 1)
    retain(r, max_length=1, protect_unread=True)
    r.run("XGROUP", "CREATE", "race", "g", 0)
    append(r, 3)
    append(r)
    assert len(ids(r)) == 4


def test_without_retention_an_append_has_one_effect(r: R) -> None:
    append(r)
    outcome = r.engine.execute(c.Append(KEY, [FIELDS]), r.now_ms)
    assert [type(effect) for effect in outcome.effects] == [EntriesAppended]
    assert not r.engine.execute(c.SweepRetention(), r.now_ms).effects


# --- the sweep -------------------------------------------------------------------------------------------


def test_one_step_of_the_sweep_removes_a_bounded_number_of_entries(r: R) -> None:
    append(r, RETIRED_ENTRIES_PER_STEP + 10)
    retain(r, max_length=1)
    serial = sweep(r)
    assert serial == r.engine.keyspace.streams[KEY].serial
    assert r.run("XLEN", "race") == 10
    assert sweep(r, serial) == 0
    assert r.run("XLEN", "race") == 1


def test_one_step_of_the_sweep_removes_fewer_entries_of_a_stream_with_an_order_by_key(r: R) -> None:
    append(r, RETIRED_ENTRIES_PER_STEP)
    r.engine.execute(c.CreateGroup(KEY, b"g", 0), r.now_ms)
    r.engine.execute(c.ConfigureGroup(KEY, b"g", order_by="rider"), r.now_ms)
    retain(r, max_length=1)
    serial, steps = sweep(r), 1
    assert r.run("XLEN", "race") == RETIRED_ENTRIES_PER_STEP * 4 // 5
    while serial:
        serial, steps = sweep(r, serial), steps + 1
    assert r.run("XLEN", "race") == 1
    assert steps == 5


def test_one_step_of_the_sweep_examines_a_bounded_number_of_streams(r: R) -> None:
    for number in range(RETENTION_STREAMS_PER_STEP + 3):
        append(r, 2, b"s%d" % number)
        retain(r, b"s%d" % number, max_length=1)
    serial = sweep(r)
    assert serial
    assert r.run("XLEN", f"s{RETENTION_STREAMS_PER_STEP}") == 2
    assert sweep(r, serial) == 0
    assert r.run("XLEN", f"s{RETENTION_STREAMS_PER_STEP + 2}") == 1


def test_a_sweep_goes_on_after_the_stream_that_comes_next_is_deleted(r: R) -> None:
    for key in (b"a", b"b"):
        append(r, 2, key)
        retain(r, key, max_length=1)
    serial = r.engine.keyspace.streams[b"a"].serial
    r.run("DEL", "a")
    assert sweep(r, serial) == 0
    assert r.run("XLEN", "b") == 1


# --- the settings ----------------------------------------------------------------------------------------


def test_rules_can_be_replaced_and_removed(r: R) -> None:
    retain(r, max_length=1)
    retain(r, max_age_ms=5)
    assert retention_of(r).rules == RetentionRules(max_age_ms=5)
    r.engine.execute(c.ConfigureStream(KEY, retention=None), r.now_ms)
    append(r, 5)
    sweep(r)
    assert len(ids(r)) == 5
    assert not r.engine.keyspace.retained


def test_a_configuration_that_changes_nothing_has_no_effect(r: R) -> None:
    retain(r, max_length=1)
    for command in (
        c.CreateStream(KEY, retention=RetentionRules(max_length=1)),
        c.CreateStream(KEY),
        c.ConfigureStream(KEY),
    ):
        assert not r.engine.execute(command, r.now_ms).effects


def test_a_copy_has_the_rules_and_counts_for_itself(r: R) -> None:
    retain(r, max_length=1)
    append(r, 3)
    sweep(r)
    r.run("COPY", "race", "twin")
    append(r, 3, b"twin")
    sweep(r)
    assert r.run("XLEN", "twin") == 1
    assert removed(r) == {"max_length": 2}
    twin = r.engine.keyspace.streams[b"twin"].retention
    assert twin is not None
    assert dict(twin.removed) == {"max_length": 3}


def test_a_renamed_stream_keeps_its_retention_and_a_flush_ends_it(r: R) -> None:
    retain(r, max_length=1)
    append(r, 3)
    r.run("RENAME", "race", "tour")
    sweep(r)
    assert r.run("XLEN", "tour") == 1
    r.run("FLUSHALL")
    assert sweep(r) == 0
    assert not r.engine.keyspace.retained


def test_entries_that_retention_removed_are_trimmed_not_deleted(r: R) -> None:
    retain(r, max_length=1)
    append(r, 3)
    outcome = r.engine.execute(c.SweepRetention(), r.now_ms)
    assert outcome.effects == [EntriesRetired(KEY, 2, Reason.MAX_LENGTH, r.now_ms)]
    info = r.engine.execute(c.InfoStream(KEY), r.now_ms).reply
    assert isinstance(info, StreamInfo)
    assert info.max_deleted_id == 0
    assert info.entries_added == 3


def test_a_clock_that_steps_back_removes_nothing(r: R) -> None:
    retain(r, max_age_ms=1000)
    append(r, 3)
    r.now_ms = 5
    sweep(r)
    assert len(ids(r)) == 3
