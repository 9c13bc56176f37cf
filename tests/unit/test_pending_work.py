"""Reads of pending entries end when their work is spent, and the next read continues there."""

from __future__ import annotations

from random import Random
from typing import Any, Final

import pytest

from tailrace.core import limits
from tailrace.core.bounds import reply_budget
from tailrace.core.engine import Engine
from tailrace.core.handlers import claims, group_reader, idle_entries
from tailrace.core.invariants import check
from tailrace.core.limits import DEAD_LETTERS_MAX, READ_ENTRIES_MAX
from tests.unit.test_many_ids import command
from tests.unit.test_regrouping import claimed_a_few_at_a_time, words_of
from tests.unit.test_trim_work import filled, stream_of

ENTRIES: Final = 2_000
CHUNK: Final = 50
STEPS: Final = 1_300


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a read do `STEPS` of work, which is counted after each `CHUNK` of entries."""
    monkeypatch.setattr(reply_budget, "PENDING_STEPS_MAX", STEPS)
    monkeypatch.setattr(idle_entries, "_LOOKUP_CHUNK", CHUNK)
    monkeypatch.setattr(group_reader, "_LOOKUP_CHUNK", CHUNK)
    monkeypatch.setattr(claims, "SCAN_CHUNK", CHUNK)


def delivered(entries: int, node: int = 10) -> Engine:
    engine = filled([number << 64 for number in range(1, entries + 1)], node, b"g")
    engine.execute(command("XREADGROUP", "GROUP", "g", "alice", "STREAMS", "s", ">"), 2)
    return engine


def scattered(together: int = 3) -> tuple[Engine, list[int]]:
    """A stream in blocks of ten entries, all of which alice claimed in no order."""
    return claimed_a_few_at_a_time(ENTRIES, together, node=10)


def looked_up(engine: Engine, *words: object, now_ms: int = 10**6) -> tuple[list[int], int]:
    """What a read returns, and in how many blocks it looked entries up."""
    before = engine.keyspace.cache.lookups
    reply: Any = engine.execute(command("XREADGROUP", "GROUP", "g", *words), now_ms).reply
    blocks = engine.keyspace.cache.lookups - before
    check(engine.keyspace)
    return [value >> 64 for read in reply.streams for value in read.entries.ids], blocks


def numbers_read(engine: Engine, *words: object, now_ms: int = 10**6) -> list[int]:
    return looked_up(engine, *words, now_ms=now_ms)[0]


def test_a_claim_of_scattered_entries_ends_when_its_work_is_spent_and_the_next_one_continues() -> None:
    engine, numbers = scattered()
    claim = ("bob", "COUNT", 1_000, "CLAIM", 500_000, "STREAMS", "s", ">")
    first, blocks = looked_up(engine, *claim)
    # Each entry is a unit of its own, and nearly each one is in another block than the others.
    assert STEPS / 15 <= len(first) <= STEPS / 15 + CHUNK
    assert blocks <= len(first)
    assert first == numbers[: len(first)]
    second = numbers_read(engine, *claim)
    assert second == numbers[len(first) : len(first) + len(second)]
    assert second


def test_a_claim_of_entries_that_were_delivered_together_is_not_cut_short() -> None:
    engine = delivered(1_000, node=100)
    claim = ("bob", "COUNT", 1_200, "CLAIM", 0, "STREAMS", "s", ">")
    # Twenty blocks would be 160 steps.
    assert len(numbers_read(engine, *claim)) == 1_000


def test_a_claim_of_a_few_entries_of_each_of_many_blocks_ends_when_its_work_is_spent() -> None:
    engine = delivered(ENTRIES)
    kept = set(range(10, ENTRIES + 1, 10))
    engine.execute(command("XACK", "s", "g", *words_of(sorted(set(range(1, ENTRIES + 1)) - kept))), 3)
    found, blocks = looked_up(engine, "bob", "COUNT", 1_000, "CLAIM", 0, "STREAMS", "s", ">")
    assert found == sorted(kept)[: len(found)]
    assert STEPS / 9 - CHUNK <= len(found) <= STEPS / 9 + CHUNK
    assert blocks <= 3 * len(found)


def test_a_claim_that_ends_early_returns_no_new_entries() -> None:
    engine, _ = scattered()
    engine.execute(command("XADD", "s", f"{ENTRIES + 1}-0", "f", "v"), 10**6)
    claim = ("bob", "CLAIM", 500_000, "STREAMS", "s", ">")
    while found := numbers_read(engine, *claim):
        if ENTRIES + 1 in found:
            break
        assert stream_of(engine).groups[b"g"].last_delivered_id == ENTRIES << 64
    assert found[-1] == ENTRIES + 1
    assert len(found) <= STEPS / 15 + CHUNK + 1


def test_all_streams_of_a_read_share_its_work() -> None:
    engine, _ = scattered()
    engine.execute(command("XGROUP", "CREATE", "t", "g", "0", "MKSTREAM"), 1)
    engine.execute(command("XADD", "t", "5000-0", "f", "v"), 1)
    found = numbers_read(engine, "bob", "CLAIM", 500_000, "STREAMS", "s", "t", ">", ">")
    assert 5_000 not in found
    assert (
        numbers_read(engine, "bob", "COUNT", 10, "CLAIM", 500_000, "STREAMS", "s", "t", ">", ">")[-1] == 5_000
    )


def test_a_read_of_the_history_of_a_consumer_ends_when_its_work_is_spent() -> None:
    engine, _ = scattered(together=1)
    after, seen = 0, []
    while found := numbers_read(engine, "alice", "COUNT", 1_000, "STREAMS", "s", f"{after}-0"):
        # Ten entries are in one block: 10 steps, 8 for their rows, 8 for the block.
        assert len(found) <= STEPS / 2.4 + CHUNK
        seen += found
        after = found[-1]
    assert seen == list(range(1, ENTRIES + 1))


def test_a_reply_does_not_show_histories_for_which_no_work_is_left() -> None:
    """An empty history would tell the client that nothing is pending there."""
    engine, _ = scattered()
    engine.execute(command("XGROUP", "CREATE", "t", "g", "0", "MKSTREAM"), 1)
    engine.execute(command("XADD", "t", "5000-0", "f", "v"), 1)
    engine.execute(command("XREADGROUP", "GROUP", "g", "alice", "STREAMS", "t", ">"), 2)
    history = command("XREADGROUP", "GROUP", "g", "alice", "STREAMS", "s", "t", "0", "0")
    first: Any = engine.execute(history, 10**6).reply
    assert [read.key for read in first.streams if read.is_served] == [b"s"]
    assert first.streams[1].next == 0
    rest = command("XREADGROUP", "GROUP", "g", "alice", "STREAMS", "s", "t", f"{ENTRIES}-0", "0")
    second: Any = engine.execute(rest, 10**6).reply
    assert [value >> 64 for read in second.streams for value in read.entries.ids] == [5_000]


def test_a_history_of_entries_that_were_delivered_together_is_not_cut_short() -> None:
    engine = delivered(1_000, node=100)
    assert len(numbers_read(engine, "alice", "COUNT", 1_000, "STREAMS", "s", "0")) == 1_000


@pytest.mark.parametrize("in_order", [False, True])
def test_xautoclaim_ends_when_its_work_is_spent_and_its_cursor_continues(*, in_order: bool) -> None:
    if in_order:
        engine = filled([number << 64 for number in range(1, ENTRIES + 1)], 10, b"g")
        for at in range(ENTRIES):
            engine.execute(command("XREADGROUP", "GROUP", "g", "a", "COUNT", 1, "STREAMS", "s", ">"), 2 + at)
    else:
        engine, _ = scattered(together=1)
    cursor, seen = "0-0", []
    while True:
        reply: Any = engine.execute(
            command("XAUTOCLAIM", "s", "g", "bob", 500, cursor, "COUNT", 1_000), 10**6
        ).reply
        check(engine.keyspace)
        # Ten entries in order are in one block; eight of their rows count as a unit.
        assert len(reply.entries.ids) <= STEPS / 2.4 + CHUNK
        seen += [value >> 64 for value in reply.entries.ids]
        if not reply.cursor:
            break
        cursor = f"{reply.cursor >> 64}-0"
    assert seen == list(range(1, ENTRIES + 1))


def test_a_claim_among_deleted_scattered_entries_looks_at_few_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tailrace.core.handlers.idle_entries.PENDING_LOOKS_MAX", 2_000)
    engine, numbers = scattered()
    live = sorted(numbers[-200:])
    gone = [number for number in range(1, ENTRIES + 1) if number not in set(live)]
    engine.execute(command("XDEL", "s", *words_of(gone)), 10**5)
    found: list[int] = []
    calls = 0
    while not found:
        found, blocks = looked_up(engine, "bob", "COUNT", 1, "CLAIM", 500_000, "STREAMS", "s", ">")
        assert blocks <= 2_000 / 40 + 3 * CHUNK
        calls += 1
    assert found == [numbers[-200]]
    assert calls > 3


def test_the_limit_allows_the_most_entries_of_a_read_that_were_delivered_together() -> None:
    """A block of small entries has a hundred of them, one of larger entries ten."""
    assert READ_ENTRIES_MAX + READ_ENTRIES_MAX // 10 * 8 < limits.PENDING_STEPS_MAX


def test_the_dead_letters_of_one_read_leave_work_for_the_entries_after_them() -> None:
    """Else a read that moves them could wait, although there are entries that it can deliver."""
    work = reply_budget.PendingWork()
    work.left = limits.PENDING_STEPS_MAX
    work.count(DEAD_LETTERS_MAX, DEAD_LETTERS_MAX, DEAD_LETTERS_MAX)
    assert not work.is_spent


def test_a_random_order_of_reads_returns_each_entry_once() -> None:
    random = Random(3)
    engine, numbers = scattered(together=4)
    seen: list[int] = []
    for at in range(10_000):
        count = random.choice((1, 5, 100, 1_000))
        found = numbers_read(
            engine, "bob", "COUNT", count, "CLAIM", 500_000, "STREAMS", "s", ">", now_ms=10**6 + at
        )
        seen += found
        if not found:
            break
    assert seen == numbers


@pytest.mark.parametrize(
    "words", [("a", "COUNT", 400, "STREAMS", "s", "0"), ("b", "COUNT", 400, "CLAIM", 0, "STREAMS", "s", ">")]
)
def test_entries_that_were_delivered_one_at_a_time_in_order_take_less_work(words: tuple[object, ...]) -> None:
    engine = filled([number << 64 for number in range(1, ENTRIES + 1)], 100, b"g")
    for at in range(ENTRIES):
        engine.execute(command("XREADGROUP", "GROUP", "g", "a", "COUNT", 1, "STREAMS", "s", ">"), 2 + at)
    assert len(numbers_read(engine, *words)) == 400
