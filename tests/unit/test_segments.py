"""Segments: entries that are delivered, claimed and removed alone or together, whatever the limits of a
segment are."""

from __future__ import annotations

import gc
from itertools import islice
from random import Random
from typing import Any, Final

import pytest

from tailrace.core import commands as c
from tailrace.core.engine import Engine
from tailrace.core.errors import StreamError
from tailrace.core.invariants import check
from tailrace.core.pending.pending_list import PendingEntriesList
from tailrace.core.pending.rows import Batch
from tailrace.core.pending.segment import Segment
from tailrace.core.replies import ClaimReply, ScheduleReply
from tailrace.core.storage.state import decode_group, encode_group
from tests.support.engine_calls import FRAGMENT
from tests.support.pending_limits import set_limits
from tests.support.pending_order import ids_in_order
from tests.support.seeds import some_each_day
from tests.unit.test_replay import GROUPS, KEYS, Program, picture

STEPS: Final = 250


class SmallReads(Program):
    """A program that mostly reads one entry at a time."""

    def append(self) -> c.Command:
        return c.Append(self.key(), [FRAGMENT] * self.random.choice([5, 20]))

    def read(self) -> c.Command:
        if self.random.random() < 0.2:
            return super().read()
        source = c.ReadFrom(self.key(), c.Special.NEW)
        count = self.random.choice([1, 1, 2])
        return c.ReadGroup(self.group(), self.consumer(), (source,), c.ReadLimits(count=count))

    def key(self) -> bytes:
        return KEYS[0] if self.random.random() < 0.8 else super().key()

    def claim_as_earlier(self) -> c.Command:
        """A claim with a time between those of other deliveries."""
        options = c.ClaimOptions(0, self.ids()[:2], idle_ms=self.random.randrange(300))
        return c.Claim(self.key(), self.group(), self.consumer(), options)

    def remove_consumer(self) -> c.Command:
        new_owner = self.random.choice([None, self.consumer()])
        return c.DeleteConsumer(self.key(), self.group(), self.consumer(), transfer_to=new_owner)

    def next(self) -> c.Command:
        makers = (
            self.read,
            self.append,
            self.claim_as_earlier,
            self.remove_consumer,
            self.copy,
            super().next,
        )
        return self.random.choices(makers, (60, 10, 10, 2, 1, 20))[0]()


class SmallClaims(SmallReads):
    """A program that also claims one or two entries at a time, in the order of their ids."""

    def __init__(self, seed: int, engine: Engine) -> None:
        super().__init__(seed, engine)
        self.claimed = 0

    def claim_following(self) -> c.Command:
        stream = self.engine.keyspace.streams.get(KEYS[0])
        group = None if stream is None else stream.groups.get(GROUPS[0])
        ids = [] if group is None else list(islice(group.pending.ids(self.claimed + 1), 2))
        self.claimed = ids[-1] if ids and self.random.random() < 0.98 else 0
        just_id = self.random.random() < 0.1
        claimed = tuple(ids[: self.random.choice([1, 2])]) or (1,)
        return c.Claim(KEYS[0], GROUPS[0], self.consumer(), c.ClaimOptions(0, claimed, just_id=just_id))

    def next(self) -> c.Command:
        return self.claim_following() if self.random.random() < 0.5 else super().next()


def outcome_of(engine: Engine, command: c.Command, now_ms: int) -> Any:
    try:
        reply = engine.execute(command, now_ms).reply
        return list(reply.scheduled_ids) if isinstance(reply, ScheduleReply) else reply
    except StreamError as error:
        return str(error)


class ManyClaims(SmallReads):
    """A program that claims entries in no order of their ids, and removes many of them."""

    def claim_scattered(self) -> c.Command:
        group = self.engine.keyspace.group(KEYS[0], GROUPS[0])
        ids = [] if group is None else list(group.pending.ids())
        claimed = tuple(self.random.sample(ids, min(len(ids), self.random.choice([1, 2, 6])))) or (1,)
        return c.Claim(KEYS[0], GROUPS[0], self.consumer(), c.ClaimOptions(0, claimed))

    def trim_half(self) -> c.Command:
        stream = self.engine.keyspace.streams.get(KEYS[0])
        length = 0 if stream is None else stream.length // 2
        return c.TrimStream(KEYS[0], c.Trim(length, references=c.References.DELETE))

    def next(self) -> c.Command:
        if self.engine.keyspace.group(KEYS[0], GROUPS[0]) is None:
            return c.CreateGroup(KEYS[0], GROUPS[0], 0, create_stream=True)
        makers = (self.claim_scattered, self.remove_consumer, self.trim_half, super().next)
        return self.random.choices(makers, (40, 3, 2, 55))[0]()


@pytest.mark.parametrize("first_seed", some_each_day(range(0, 60, 12), 5))
@pytest.mark.parametrize("program", [SmallReads, SmallClaims, ManyClaims, Program])
def test_commands_have_the_same_results_whatever_the_limits_are(
    program: type[Program], first_seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(first_seed, first_seed + 12):
        compare_program(program(seed, Engine()), STEPS, monkeypatch)


def compare_program(program: Program, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare a program with small limits with the same program without them."""
    plain, now_ms = program.engine, 1000
    steps: list[tuple[c.Command, int, Any]] = []
    for _ in range(count):
        now_ms += program.random.choice([0, 0, 1, 5, 100, -3])
        command = program.next()
        steps.append((command, now_ms, outcome_of(plain, command, now_ms)))
    with monkeypatch.context() as patch:
        set_limits(patch, program.random)
        other = Engine()
        for command, at_ms, expected in steps:
            assert outcome_of(other, command, at_ms) == expected, command
            check(other.keyspace)
            for stream in other.keyspace.streams.values():
                for group in stream.groups.values():
                    assert encode_group(decode_group(encode_group(group))) == encode_group(group)
        assert picture(other.keyspace, now_ms) == picture(plain.keyspace, now_ms)


# --- entries that were delivered alone -----------------------------------------------------------------


def engine_of(entries: int, consumers: int = 3) -> Engine:
    """The entries 1-0, 2-0 and so on, delivered to some consumers in turn at the times 1, 2 ..."""
    engine = Engine()
    engine.execute(c.CreateGroup(b"s", b"g", 0, create_stream=True), 1)
    engine.execute(c.Append(b"s", [FRAGMENT] * entries, [n << 64 for n in range(1, entries + 1)]), 1)
    for number in range(entries):
        engine.execute(read_one(b"c%d" % (number % consumers)), number + 1)
    check(engine.keyspace)
    return engine


def read_one(consumer: bytes) -> c.Command:
    source = c.ReadFrom(b"s", c.Special.NEW)
    return c.ReadGroup(b"g", consumer, (source,), c.ReadLimits(count=1))


def pending_of(engine: Engine) -> PendingEntriesList:
    return engine.keyspace.streams[b"s"].groups[b"g"].pending


def segments_of(engine: Engine) -> list[Segment]:
    return pending_of(engine).table.segments.segments


def order_of(engine: Engine) -> list[int]:
    """The entries' numbers in order of delivery."""
    return [value >> 64 for value in ids_in_order(pending_of(engine))]


def claim(engine: Engine, number: int, at_ms: int) -> None:
    options = c.ClaimOptions(0, (number << 64,), delivered_at_ms=at_ms)
    engine.execute(c.Claim(b"s", b"g", b"z", options), 1_000)
    check(engine.keyspace)


def claim_alone(engine: Engine, numbers: range) -> None:
    for number in numbers:
        claim(engine, number, 900)


def test_an_entry_is_idle_enough_from_the_very_millisecond() -> None:
    engine = engine_of(10)
    reply = engine.execute(c.AutoClaim(b"s", b"g", b"z", min_idle_ms=5, start=0), 11).reply
    assert isinstance(reply, ClaimReply)
    assert [value >> 64 for value in reply.entries.ids] == [*range(1, 7)]


@pytest.mark.parametrize("kept", [9, 6, 1])
@pytest.mark.parametrize("is_sorted", [True, False])
def test_a_trim_removes_entries_that_were_claimed_alone_in_no_order(kept: int, *, is_sorted: bool) -> None:
    engine = engine_of(10)
    for number in (7, 2, 9, 4, 1, 10, 3, 8, 6, 5):
        claim(engine, number, 900)
    if is_sorted:
        engine.execute(c.PendingRange(b"s", b"g"), 1_000)
    trim = c.Trim(max_length=kept, references=c.References.DELETE)
    engine.execute(c.TrimStream(b"s", trim), 1_000)
    check(engine.keyspace)
    left = [number for number in (7, 2, 9, 4, 1, 10, 3, 8, 6, 5) if number > 10 - kept]
    assert order_of(engine) == left


def test_a_claim_with_an_earlier_time_goes_between_others() -> None:
    engine = engine_of(10)
    claim(engine, 9, 4)
    assert order_of(engine) == [1, 2, 3, 4, 9, 5, 6, 7, 8, 10]
    claim(engine, 8, 0)
    assert order_of(engine) == [8, 1, 2, 3, 4, 9, 5, 6, 7, 10]


def test_a_claim_goes_after_entries_of_which_later_ones_were_acknowledged() -> None:
    engine = engine_of(10)
    engine.execute(c.Acknowledge(b"s", b"g", (9 << 64, 10 << 64)), 1_000)
    claim(engine, 2, 8)
    claim(engine, 3, 9)
    assert order_of(engine) == [1, 4, 5, 6, 7, 8, 2, 3]


def test_the_oldest_time_is_that_of_the_first_entry() -> None:
    engine = engine_of(10)
    engine.execute(c.Acknowledge(b"s", b"g", (1 << 64,)), 1_000)
    assert pending_of(engine).oldest_owned_ms == 2


def test_a_copy_has_the_owners_and_no_removed_entries() -> None:
    engine = engine_of(10)
    for acknowledge in (c.Acknowledge(b"s", b"g", (4 << 64,)), None):
        if acknowledge is not None:
            engine.execute(acknowledge, 1_000)
        engine.execute(c.CopyKey(b"s", b"t", replace=True), 1_000)
        engine.execute(c.Acknowledge(b"t", b"g", (5 << 64,)), 1_000)
        check(engine.keyspace)
        assert order_of(engine) == [1, 2, 3, 5, 6, 7, 8, 9, 10]
        assert engine.keyspace.streams[b"t"].groups[b"g"].pending.count == 8


def test_a_deleted_consumer_leaves_the_entries_of_others() -> None:
    engine = engine_of(9)
    for name, left in ((b"c1", [1, 3, 4, 6, 7, 9]), (b"c0", [3, 6, 9]), (b"c2", [])):
        engine.execute(c.DeleteConsumer(b"s", b"g", name), 1_000)
        check(engine.keyspace)
        assert order_of(engine) == left


def test_entries_that_were_acknowledged_and_are_read_again_are_last() -> None:
    engine = engine_of(4)
    engine.execute(c.Acknowledge(b"s", b"g", (1 << 64, 2 << 64)), 1_000)
    engine.execute(c.SetGroupPosition(b"s", b"g", 0), 1_000)
    for _ in range(2):
        engine.execute(read_one(b"c0"), 1_001)
        check(engine.keyspace)
    assert order_of(engine) == [3, 4, 1, 2]


def test_entries_that_are_delivered_alone_share_segments() -> None:
    engine = engine_of(600)
    assert [len(segment.ids) for segment in segments_of(engine)] == [255, 255, 90]


def test_entries_that_are_claimed_alone_in_order_fill_segments() -> None:
    engine = Engine()
    engine.execute(c.CreateGroup(b"s", b"g", 0, create_stream=True), 1)
    engine.execute(c.Append(b"s", [FRAGMENT] * 1_000, [n << 64 for n in range(1, 1_001)]), 1)
    source = c.ReadFrom(b"s", c.Special.NEW)
    engine.execute(c.ReadGroup(b"g", b"c0", (source,), c.ReadLimits(count=1_000)), 1)
    for number in range(1, 1_001):
        options = c.ClaimOptions(0, (number << 64,))
        engine.execute(c.Claim(b"s", b"g", b"z", options), 10 + number)
    check(engine.keyspace)
    assert len(segments_of(engine)) <= 5
    assert order_of(engine) == [*range(1, 1_001)]


def test_a_deleted_group_is_freed_without_the_garbage_collector() -> None:
    engine = engine_of(100)
    ids = tuple(number << 64 for number in range(1, 101))
    engine.execute(c.Claim(b"s", b"g", b"z", c.ClaimOptions(0, ids[::-3])), 1_000)
    gc.collect()
    parts = segments_of(engine)
    mine = {id(each) for each in parts} | {id(batch) for each in parts for batch in each.batches}
    del parts
    gc.disable()
    try:
        engine.execute(c.DestroyGroup(b"s", b"g"), 1_000)
        found = [each for each in gc.get_objects() if isinstance(each, (Segment, Batch))]
        assert not [each for each in found if id(each) in mine]
    finally:
        gc.enable()


# --- batches -------------------------------------------------------------------------------------------


def claimed_together(numbers: list[int]) -> Engine:
    """Entries 1 to 400, some of which one claim took in the given order."""
    engine = engine_of(400)
    ids = tuple(number << 64 for number in numbers)
    engine.execute(c.Claim(b"s", b"g", b"z", c.ClaimOptions(0, ids)), 1_000)
    check(engine.keyspace)
    return engine


def batch_of(engine: Engine) -> Batch:
    [batch] = {batch for segment in segments_of(engine) for batch in segment.batches if batch.live}
    return batch


NUMBERS: Final = Random(3).sample(range(1, 401), 40)


def test_entries_of_different_counts_that_are_claimed_together_keep_their_counts() -> None:
    engine = claimed_together(NUMBERS[:20])
    engine.execute(c.Claim(b"s", b"g", b"z", c.ClaimOptions(0, tuple(n << 64 for n in NUMBERS))), 1_001)
    check(engine.keyspace)
    expected = {number << 64: 3 if at < 20 else 2 for at, number in enumerate(NUMBERS)}
    found = pending_of(engine).find_all(tuple(expected))
    assert {value: found[value].deliveries for value in expected} == expected
    assert {value: pending_of(engine).get(value).deliveries for value in expected} == expected  # type: ignore[union-attr]
    assert order_of(engine)[-40:] == NUMBERS


def test_a_batch_that_is_claimed_again_moves_as_a_whole() -> None:
    engine = claimed_together(NUMBERS)
    batch = batch_of(engine)
    read = c.ReadGroup(
        b"g", b"y", (c.ReadFrom(b"s", c.Special.NEW),), c.ReadLimits(count=40), claim_min_idle_ms=0
    )
    engine.execute(c.Claim(b"s", b"g", b"z", c.ClaimOptions(0, tuple(batch.ids), idle_ms=10_000)), 10_000)
    assert batch_of(engine) is batch
    reply: Any = engine.execute(read, 10_001).reply
    check(engine.keyspace)
    assert [value >> 64 for value in reply.streams[0].entries.ids] == NUMBERS
    assert batch_of(engine) is batch
    assert list(pending_of(engine).ids_of(batch.consumer)) == sorted(batch.ids)  # type: ignore[arg-type]


def test_a_batch_forgets_most_entries_that_left_it() -> None:
    engine = claimed_together(NUMBERS)
    for number in NUMBERS[:38]:
        engine.execute(c.Acknowledge(b"s", b"g", (number << 64,)), 1_001)
        check(engine.keyspace)
        assert len(batch_of(engine).ids) < 5 * max(batch_of(engine).live, 8)
    assert order_of(engine)[-2:] == NUMBERS[38:]
