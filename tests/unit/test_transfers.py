"""After transfers, all commands behave in the same way whatever the limits of segments are."""

from __future__ import annotations

import gc
from random import Random
from typing import Any, Final

import pytest

from tailrace.core import commands as c
from tailrace.core.engine import Engine
from tailrace.core.invariants import check
from tailrace.core.pending.consumer import Consumer
from tests.support.seeds import some_each_day
from tests.unit.test_many_ids import command
from tests.unit.test_replay import KEYS, Program
from tests.unit.test_segments import compare_program
from tests.unit.test_trim_work import filled

STEPS: Final = 400


class Transfers(Program):
    """A program whose entries are mostly scattered, and whose consumers often go to others."""

    def key(self) -> bytes:
        return KEYS[0] if self.random.random() < 0.8 else super().key()

    def shuffled(self) -> c.Command:
        """A claim of pending entries in no order."""
        name = self.group()
        stream = self.engine.keyspace.streams.get(KEYS[0])
        group = None if stream is None else stream.groups.get(name)
        ids = [1] if group is None else list(group.pending.ids()) or [1]
        some = self.random.sample(ids, min(len(ids), self.random.choice([1, 3, 6, 30])))
        return c.Claim(KEYS[0], name, self.consumer(), c.ClaimOptions(0, tuple(some)))

    def transfer(self) -> c.Command:
        return c.DeleteConsumer(self.key(), self.group(), self.consumer(), transfer_to=self.consumer())

    def remove(self) -> c.Command:
        return c.DeleteConsumer(self.key(), self.group(), self.consumer())

    def extend_own(self) -> c.Command:
        return c.ExtendLeases(self.key(), self.group(), self.consumer(), self.ids())

    def look(self) -> c.Command:
        some = self.random.choice([None, self.consumer()])
        idle_ms = self.random.choice([0, 50])
        return c.PendingRange(self.key(), self.group(), count=9, min_idle_ms=idle_ms, consumer=some)

    def trim_pending(self) -> c.Command:
        """A trim that removes pending entries as well, now and then all of them."""
        length = self.random.choice([0, 20, 40, 60])
        return c.TrimStream(KEYS[0], c.Trim(length, references=c.References.DELETE))

    def create(self) -> c.Command:
        return c.CreateGroup(KEYS[0], self.group(), 0, create_stream=True)

    def next(self) -> c.Command:
        makers = (
            self.create,
            self.read,
            self.append,
            self.shuffled,
            self.transfer,
            self.remove,
            self.extend_own,
            self.trim_pending,
            self.look,
            self.copy,
            super().next,
        )
        return self.random.choices(makers, (6, 20, 14, 30, 12, 4, 4, 2, 6, 2, 6))[0]()


@pytest.mark.parametrize("first_seed", some_each_day(range(0, 60, 12), 5))
def test_commands_have_the_same_results_after_transfers_whatever_the_limits_are(
    first_seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(first_seed, first_seed + 12):
        compare_program(Transfers(seed, Engine()), STEPS, monkeypatch)


def scattered(entries: int) -> Engine:
    """Entries that `a` and `b` claimed in no order, one at a time."""
    engine = filled([number << 64 for number in range(1, entries + 1)], 100, b"g")
    engine.execute(command("XREADGROUP", "GROUP", "g", "a", "STREAMS", "s", ">"), 2)
    numbers = list(range(1, entries + 1))
    Random(entries).shuffle(numbers)
    for at, number in enumerate(numbers):
        engine.execute(command("XCLAIM", "s", "g", "ab"[at % 2], 0, f"{number}-0"), 3 + at)
    return engine


def reply_of(engine: Engine, command: c.Command) -> Any:
    return engine.execute(command, 6_000).reply


def test_a_dead_letter_names_the_consumer_that_got_the_entry_by_a_transfer() -> None:
    engine = scattered(40)
    engine.execute(c.DeleteConsumer(b"s", b"g", b"a", transfer_to=b"b"), 5_000)
    engine.execute(c.ConfigureGroup(b"s", b"g", max_deliveries=1, dead_letter_stream=b"dead"), 5_000)
    engine.execute(command("XREADGROUP", "GROUP", "g", "c", "CLAIM", 0, "STREAMS", "s", ">"), 5_000)
    letters = reply_of(engine, command("XRANGE", "dead", "-", "+"))
    assert len(letters.entries.fragments) == 40
    assert all(b'"b"' in fragment for fragment in letters.entries.fragments)


def test_transferred_entries_of_a_deleted_consumer_are_not_claimed() -> None:
    engine = scattered(40)
    engine.execute(command("XCLAIM", "s", "g", "c", 0, "5-0"), 5_000)
    engine.execute(command("XCLAIM", "s", "g", "c", 0, "9-0"), 5_000)
    engine.execute(c.DeleteConsumer(b"s", b"g", b"a", transfer_to=b"b"), 5_000)
    engine.execute(c.DeleteConsumer(b"s", b"g", b"b"), 5_000)
    claim = command("XREADGROUP", "GROUP", "g", "d", "COUNT", 9, "CLAIM", 0, "STREAMS", "s", ">")
    [read] = reply_of(engine, claim).streams
    assert list(read.entries.ids) == [5 << 64, 9 << 64]
    check(engine.keyspace)


def test_idle_entries_of_one_consumer_include_those_that_it_got_by_a_transfer() -> None:
    engine = scattered(40)
    engine.execute(command("XCLAIM", "s", "g", "c", 0, "5-0"), 5_000)
    engine.execute(c.DeleteConsumer(b"s", b"g", b"a", transfer_to=b"b"), 5_000)
    rows = reply_of(engine, command("XPENDING", "s", "g", "IDLE", 1, "-", "+", 100, "b"))
    assert [row.id >> 64 for row in rows] == [number for number in range(1, 41) if number != 5]
    assert {row.consumer for row in rows} == {b"b"}


def test_a_deleted_consumer_with_transferred_entries_is_freed_without_the_garbage_collector() -> None:
    def consumer_count() -> int:
        return sum(isinstance(each, Consumer) for each in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        before = consumer_count()
        engine = scattered(40)
        engine.execute(c.DeleteConsumer(b"s", b"g", b"a", transfer_to=b"b"), 5_000)
        engine.execute(c.DeleteConsumer(b"s", b"g", b"b"), 5_000)
        assert consumer_count() == before
    finally:
        gc.enable()
