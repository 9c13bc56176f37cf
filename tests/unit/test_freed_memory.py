"""Deleted streams and groups, and their memory, disappear at once."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator

import pytest

from tailrace.app.metrics.census import Census
from tailrace.core import commands as c
from tailrace.core.invariants import check
from tailrace.core.stream_id import MAX_ID
from tests.support.engine_calls import FRAGMENT, Calls, at
from tests.support.pending_order import entries_in_order, ids_in_order
from tests.unit.test_many_ids import calls_of

ENTRIES = 3000
KIB = 1024


@pytest.fixture
def calls() -> Calls:
    return Calls()


def worked_on(calls: Calls, key: bytes) -> None:
    """A stream with many blocks, pending entries of every kind, and idempotency keys of both kinds."""
    calls.add(key, *(f"{number}-{number % 2}" for number in range(1, ENTRIES + 1)))
    calls.reply(c.CreateGroup(key, b"g", 0))
    calls.reply(c.CreateGroup(key, b"idle", 0))
    for consumer in (b"alice", b"bob"):
        for _ in range(ENTRIES // 100 // 2):
            calls.read_new(key, b"g", consumer, 100)
    for first in range(1, 2000, 200):
        calls.now_ms += 1
        ids = tuple(at(f"{number}-{number % 2}") for number in range(first, first + 200, 7))
        calls.reply(c.Claim(key, b"g", b"carol", c.ClaimOptions(0, ids[::-1])))
    calls.reply(c.Claim(key, b"g", b"carol", c.ClaimOptions(0, (at("2500-0"),))))
    for epoch in (None, 4):
        for number in range(300):
            named = c.Idempotency(b"p", b"%d" % number, None, epoch, None)
            calls.reply(c.Append(key, [FRAGMENT], idempotency=named))


def delete(calls: Calls) -> None:
    calls.reply(c.DeleteKeys((b"s", b"t")))


def flush(calls: Calls) -> None:
    calls.reply(c.Flush())


def replace(calls: Calls) -> None:
    calls.reply(c.CreateStream(b"new"))
    calls.reply(c.RenameKey(b"new", b"s"))
    calls.reply(c.DeleteKeys((b"s", b"t")))


def destroy(calls: Calls) -> None:
    for key in (b"s", b"t"):
        calls.reply(c.DestroyGroup(key, b"g"))
    delete(calls)


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("go", [delete, flush, replace, destroy])
def test_all_memory_of_what_was_deleted_is_given_back_without_the_collector(
    calls: Calls, go: Callable[[Calls], None]
) -> None:
    worked_on(calls, b"warm")
    calls.reply(c.ScanKeys(0, 10, None))
    calls.reply(c.Flush())
    tracemalloc.start()
    before_bytes = tracemalloc.get_traced_memory()[0]
    worked_on(calls, b"s")
    worked_on(calls, b"t")
    assert tracemalloc.get_traced_memory()[0] - before_bytes > 500 * KIB
    go(calls)
    left_bytes = tracemalloc.get_traced_memory()[0] - before_bytes
    tracemalloc.stop()
    assert left_bytes < 30 * KIB
    assert calls.engine.keyspace.cache.used_bytes == 0


def test_a_census_outlives_a_flush(calls: Calls) -> None:
    for number in range(1000):
        calls.add(b"%04d" % number, "1-0")
    census = Census(calls.engine.keyspace, calls.now_ms, 10)
    steps = census.steps()
    next(steps)
    calls.reply(c.Flush())
    calls.add(b"new", "1-0")
    list(steps)
    assert census.streams < 1000


def delivered_alone(calls: Calls, key: bytes, count: int, *consumers: bytes) -> None:
    """A stream whose entries the consumers of a group received in turn, one at a time."""
    calls.add(key, *(f"{number}-0" for number in range(1, count + 1)))
    calls.reply(c.CreateGroup(key, b"g", 0))
    for number in range(count):
        calls.read_new(key, b"g", consumers[number % len(consumers)], 1)


def delete_consumer(name: bytes, heir: bytes | None = None) -> c.DeleteConsumer:
    return c.DeleteConsumer(b"s", b"g", name, transfer_to=heir)


TRIM_ALL = c.TrimStream(b"s", c.Trim(max_length=0, references=c.References.DELETE))


@pytest.mark.parametrize("command", [delete_consumer(b"alice"), delete_consumer(b"alice", b"bob"), TRIM_ALL])
def test_all_pending_entries_of_a_group_go_at_once(calls: Calls, command: c.Command) -> None:
    delivered_alone(calls, b"s", 3_000, b"alice")
    assert calls_of(lambda: calls.reply(command)) < 1_500
    check(calls.engine.keyspace)
    check(calls.engine.keyspace)


@pytest.mark.parametrize("names", [[b"alice"] * 99 + [b"bob"], [b"alice"] + [b"bob"] * 99])
def test_a_transfer_moves_the_entries_of_the_consumer_that_has_fewer(
    calls: Calls, names: list[bytes]
) -> None:
    delivered_alone(calls, b"s", 3_000, *names)
    calls.now_ms += 5
    calls.read_new(b"s", b"g", b"alice")
    seen = calls.reply(c.InfoConsumers(b"s", b"g"))
    assert calls_of(lambda: calls.reply(delete_consumer(b"alice", b"bob"))) < 2_000
    [bob] = calls.reply(c.InfoConsumers(b"s", b"g"))
    assert (bob.name, bob.pending_count, bob.idle_ms) == (b"bob", 3_000, seen[1].idle_ms)
    assert {row.consumer for row in calls.reply(c.PendingRange(b"s", b"g", 0, MAX_ID, 5_000))} == {b"bob"}
    check(calls.engine.keyspace)


@pytest.mark.parametrize("names", [[b"alice", b"bob"], [b"alice", b"bob", b"bob", b"bob", b"bob", b"bob"]])
def test_the_entries_of_other_consumers_stay_in_their_order(calls: Calls, names: list[bytes]) -> None:
    delivered_alone(calls, b"s", 600, *names)
    calls.now_ms += 5
    calls.read_new(b"s", b"g", b"alice")
    group = calls.engine.keyspace.streams[b"s"].groups[b"g"]
    bob = group.consumers[b"bob"]
    kept = [value for value, owner, _ in entries_in_order(group.pending) if owner is bob]
    assert calls.reply(delete_consumer(b"alice")) == 600 // len(names)
    assert ids_in_order(group.pending) == kept
    check(calls.engine.keyspace)


@pytest.mark.parametrize("at_once", [1, 10])
def test_a_trim_of_some_entries_leaves_the_other_pending_entries(calls: Calls, at_once: int) -> None:
    calls.add(b"s", *(f"{number}-0" for number in range(1, 601)))
    calls.reply(c.CreateGroup(b"s", b"g", 0))
    calls.reply(c.CreateGroup(b"s", b"without pending entries", 0))
    for number in range(600 // at_once):
        calls.read_new(b"s", b"g", (b"alice", b"bob")[number % 2], at_once)
    for kept in (450, 205, 0):
        calls.reply(c.TrimStream(b"s", c.Trim(max_length=kept, references=c.References.DELETE)))
        rows = calls.reply(c.PendingRange(b"s", b"g", 0, MAX_ID, 5_000))
        assert [row.id >> 64 for row in rows] == list(range(601 - kept, 601))
        check(calls.engine.keyspace)
