"""A consumer's pending entries that were delivered as one run of ids go to another consumer as one run."""

from __future__ import annotations

from tailrace.core import commands as c
from tailrace.core.invariants import check
from tests.support.engine_calls import Calls

COUNT = 100


def test_runs_of_ids_are_handed_over_to_a_consumer_that_has_entries_of_its_own() -> None:
    calls = Calls()
    calls.add(b"s", *(f"1-{number}" for number in range(1, 2 * COUNT + 1)))
    calls.reply(c.CreateGroup(b"s", b"g", 0))
    for consumer in (b"alice", b"bob"):
        calls.read_new(b"s", b"g", consumer, COUNT)
    before = calls.reply(c.PendingRange(b"s", b"g", count=1000))
    assert calls.reply(c.DeleteConsumer(b"s", b"g", b"alice", transfer_to=b"bob")) == 0
    check(calls.engine.keyspace)
    after = calls.reply(c.PendingRange(b"s", b"g", count=1000))
    assert {each.consumer for each in after} == {b"bob"}
    assert [(each.id, each.delivered_at_ms, each.deliveries) for each in after] == [
        (each.id, each.delivered_at_ms, each.deliveries) for each in before
    ]
