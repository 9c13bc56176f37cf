"""CLAIM behind the library: the longest idle entries first, nacked ones before all, deleted ones left
alone."""

from __future__ import annotations

from tailrace.app.remote.functions import pending, reads
from tailrace.app.remote.functions.pending import visible_deliveries
from tailrace.core import commands as c
from tailrace.core.deliveries import DELIVERIES_MAX
from tailrace.core.replies import Entries
from tailrace.core.stream_id import make_id
from tests.remote.functions.engines import FunctionEngine


def filled(engine: FunctionEngine, count: int, idle_ms: int = 60_000) -> None:
    """A group with `count` entries pending for alice."""
    for seq in range(1, count + 1):
        engine.command("XADD", "s", f"1-{seq}", "f", "v")
    engine.command("XGROUP", "CREATE", "s", "g", "0")
    engine.command("XREADGROUP", "GROUP", "g", "alice", "STREAMS", "s", ">")
    ids = [f"1-{seq}" for seq in range(1, count + 1)]
    engine.command("XCLAIM", "s", "g", "alice", 0, *ids, "IDLE", idle_ms, "RETRYCOUNT", 1, "JUSTID")


def make_idle(engine: FunctionEngine, seq: int, idle_ms: int) -> None:
    engine.command("XCLAIM", "s", "g", "alice", 0, f"1-{seq}", "IDLE", idle_ms, "RETRYCOUNT", 1, "JUSTID")


def claim(engine: FunctionEngine, **limits: int) -> Entries:
    sources = (c.ReadFrom(b"s", c.Special.NEW),)
    command = c.ReadGroup(b"g", b"bob", sources, c.ReadLimits(**limits), claim_min_idle_ms=10_000)
    return engine.run(reads.read_group(command)).streams[0].entries


def sequences(entries: Entries) -> list[int]:
    return [value - make_id(1, 0) for value in entries.ids]


def nack(engine: FunctionEngine, mode: c.NackMode, *seqs: int) -> None:
    ids = tuple(make_id(1, seq) for seq in seqs)
    engine.run(pending.nack(c.NegativeAcknowledge(b"s", b"g", mode, ids)))


def deliveries(engine: FunctionEngine) -> int:
    """The count of the only pending entry, as a client sees it."""
    [[_, _, _, count]] = engine.command("XPENDING", "s", "g", "-", "+", 9)
    return visible_deliveries(count)


def test_the_longest_idle_entries_come_first(engine: FunctionEngine) -> None:
    filled(engine, 6)
    make_idle(engine, 5, 90_000)
    make_idle(engine, 2, 80_000)
    make_idle(engine, 3, 0)
    assert sequences(claim(engine, count=3)) == [5, 2, 1]
    assert sequences(claim(engine)) == [4, 6]


def test_nacked_entries_come_before_all_in_the_order_of_their_nacks(engine: FunctionEngine) -> None:
    filled(engine, 6)
    nack(engine, c.NackMode.FAIL, 5)
    nack(engine, c.NackMode.SILENT, 6, 2)
    found = claim(engine, count=4)
    assert sequences(found) == [5, 6, 2, 1]
    assert list(found.deliveries or ()) == [1, 0, 0, 1]


def test_a_fatal_entry_keeps_the_greatest_count_through_deliveries(engine: FunctionEngine) -> None:
    filled(engine, 1)
    nack(engine, c.NackMode.FATAL, 1)
    assert claim(engine).deliveries == [DELIVERIES_MAX]
    engine.command("XREADGROUP", "GROUP", "g", "bob", "STREAMS", "s", "0")
    assert deliveries(engine) == DELIVERIES_MAX


def test_a_nack_without_a_count_lowers_the_greatest_count_by_one_also_after_deliveries_beyond_it(
    engine: FunctionEngine,
) -> None:
    filled(engine, 1)
    nack(engine, c.NackMode.FATAL, 1)
    for _ in range(3):
        engine.command("XCLAIM", "s", "g", "bob", 0, "1-1")
    for distance in (1, 2):
        nack(engine, c.NackMode.SILENT, 1)
        assert deliveries(engine) == DELIVERIES_MAX - distance
    assert claim(engine).deliveries == [DELIVERIES_MAX - 2]
    assert deliveries(engine) == DELIVERIES_MAX - 1


def test_a_count_that_another_client_stored_is_shown_as_it_is(engine: FunctionEngine) -> None:
    filled(engine, 1)
    other = 1 << 60
    engine.command("XCLAIM", "s", "g", "bob", 0, "1-1", "IDLE", 60_000, "RETRYCOUNT", other, "JUSTID")
    assert claim(engine).deliveries == [other]
    assert deliveries(engine) == other + 1
    nack(engine, c.NackMode.SILENT, 1)
    assert deliveries(engine) == DELIVERIES_MAX - 1


def test_deleted_entries_are_skipped_and_stay_pending(engine: FunctionEngine) -> None:
    filled(engine, 4)
    engine.command("XDEL", "s", "1-1", "1-2")
    assert sequences(claim(engine, count=1)) == [3]
    assert [row[0] for row in engine.command("XPENDING", "s", "g", "-", "+", 9, "alice")] == [
        b"1-1",
        b"1-2",
        b"1-4",
    ]


def test_one_read_claims_a_bounded_number_of_entries_and_the_next_one_goes_on(engine: FunctionEngine) -> None:
    filled(engine, 6_000)
    assert sequences(claim(engine)) == list(range(1, 5_001))
    assert sequences(claim(engine)) == list(range(5_001, 6_001))


def test_the_oldest_delivery_is_told_for_the_timer_of_a_waiting_read(engine: FunctionEngine) -> None:
    filled(engine, 3)
    make_idle(engine, 2, 90_000)
    now_ms = int(engine.command("TIME")[0]) * 1000
    oldest = engine.run(reads.oldest_delivery(b"s", b"g")).at_ms
    assert oldest is not None
    assert now_ms - 95_000 < oldest <= now_ms - 89_000
    engine.command("XACK", "s", "g", "1-1", "1-2", "1-3")
    assert engine.run(reads.oldest_delivery(b"s", b"g")) == reads.Oldest(None, None)
