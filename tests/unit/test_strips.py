"""Strips: single deliveries that are packed together behave as the singles did, and cost less."""

from __future__ import annotations

import gc
from collections.abc import Callable
from itertools import islice
from typing import Any, Final

import pytest

from tailrace.core import commands as c
from tailrace.core.engine import Engine
from tailrace.core.errors import StreamError
from tailrace.core.handlers import idle_ranges
from tailrace.core.invariants import check
from tailrace.core.keyspace import Keyspace
from tailrace.core.pending import packing as packing_module
from tailrace.core.pending.pending_list import PendingEntriesList
from tailrace.core.pending.strip import DELIVERIES_MAX, OWNERS_MAX, Share, Strip
from tailrace.core.replies import ClaimReply, ScheduleReply
from tailrace.core.storage.state import decode_group, encode_group
from tests.support.engine_calls import FRAGMENT
from tests.support.seeds import some_each_day
from tests.unit.test_replay import GROUPS, KEYS, Program, picture

STEPS: Final = 250
UNPACKED: Final = 10**9


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


def strips_of(keyspace: Keyspace) -> list[Strip]:
    groups = [group for stream in keyspace.streams.values() for group in stream.groups.values()]
    return [run for group in groups for run in group.pending.runs.values() if isinstance(run, Strip)]


@pytest.fixture
def packing(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], None]:
    def set_lengths(length: int, least: int) -> None:
        monkeypatch.setattr(packing_module, "PACK_LENGTH", length)
        monkeypatch.setattr(packing_module, "PACK_LENGTH_MIN", least)

    return set_lengths


@pytest.mark.parametrize("first_seed", some_each_day(range(0, 60, 12), 5))
@pytest.mark.parametrize("program", [SmallReads, SmallClaims])
def test_commands_have_the_same_results_as_without_strips(
    program: type[SmallReads], first_seed: int, packing: Callable[[int, int], None]
) -> None:
    assert sum(strips_in_program(program, seed, packing) for seed in range(first_seed, first_seed + 12))


def strips_in_program(kind: type[SmallReads], seed: int, packing: Callable[[int, int], None]) -> int:
    """Compare a program with and without strips. Return how many strips there were, after all steps."""
    packing(UNPACKED, UNPACKED)
    plain = Engine()
    program = kind(seed, plain)
    steps: list[tuple[c.Command, int, Any]] = []
    now_ms = 1000
    for _ in range(STEPS):
        now_ms += program.random.choice([0, 0, 1, 5, 100, -3])
        command = program.next()
        steps.append((command, now_ms, outcome_of(plain, command, now_ms)))
    packing(program.random.choice([2, 3, 8]), program.random.choice([1, 2]))
    packed, strips = Engine(), 0
    for command, at_ms, expected in steps:
        assert outcome_of(packed, command, at_ms) == expected, command
        check(packed.keyspace)
        strips += len(strips_of(packed.keyspace))
        for stream in packed.keyspace.streams.values():
            for group in stream.groups.values():
                assert encode_group(decode_group(encode_group(group))) == encode_group(group)
    assert picture(packed.keyspace, now_ms) == picture(plain.keyspace, now_ms)
    return strips


# --- one strip -----------------------------------------------------------------------------------------


def packed_engine(packing: Callable[[int, int], None], entries: int, consumers: int = 3) -> Engine:
    """The entries 1-0, 2-0 and so on, delivered to some consumers in turn at the times 1, 2 ..., in one
    strip."""
    packing(entries, 2)
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


def order_of(engine: Engine) -> list[int]:
    """The entries' numbers in order of delivery."""
    return [value >> 64 for unit in pending_of(engine).order for value in unit.live_ids()]


def claim(engine: Engine, number: int, at_ms: int) -> None:
    options = c.ClaimOptions(0, (number << 64,), delivered_at_ms=at_ms)
    engine.execute(c.Claim(b"s", b"g", b"z", options), 1_000)
    check(engine.keyspace)


def test_entries_that_are_delivered_alone_become_one_unit(packing: Callable[[int, int], None]) -> None:
    engine = packed_engine(packing, 40)
    [strip] = strips_of(engine.keyspace)
    assert strip.live == 40
    assert list(pending_of(engine).order.units()) == [strip]
    assert not pending_of(engine).scattered


def claim_alone(engine: Engine, numbers: range) -> None:
    for number in numbers:
        claim(engine, number, 900)


def test_an_entry_of_a_strip_is_idle_enough_from_the_very_millisecond(
    packing: Callable[[int, int], None],
) -> None:
    engine = packed_engine(packing, 10)
    assert len(strips_of(engine.keyspace)) == 1
    reply = engine.execute(c.AutoClaim(b"s", b"g", b"z", min_idle_ms=5, start=0), 11).reply
    assert isinstance(reply, ClaimReply)
    assert [value >> 64 for value in reply.entries.ids] == [*range(1, 7)]


def shapes_of(engine: Engine) -> list[tuple[list[int], list[int]]]:
    """The numbers of the entries of each strip, and how often each of them was delivered."""
    ids_of_strips = [(strip, list(strip.live_ids())) for strip in strips_of(engine.keyspace)]
    return [([value >> 64 for value in ids], strip.counts_of(ids)) for strip, ids in ids_of_strips]


def test_entries_that_are_claimed_alone_become_one_unit_again(packing: Callable[[int, int], None]) -> None:
    engine = packed_engine(packing, 10)
    claim_alone(engine, range(1, 11))
    assert shapes_of(engine) == [([*range(1, 11)], [2] * 10)]
    assert not pending_of(engine).scattered
    rows: Any = engine.execute(c.PendingRange(b"s", b"g"), 1_000).reply
    assert {(row.delivered_at_ms, row.deliveries) for row in rows} == {(900, 2)}


@pytest.mark.parametrize("first", [1, 4])
def test_claims_take_a_part_of_a_strip_out_of_it(packing: Callable[[int, int], None], first: int) -> None:
    engine = packed_engine(packing, 10)
    packing(4, 2)
    claim_alone(engine, range(first, first + 4))
    before, after = [*range(1, first)], [*range(first + 4, 11)]
    claimed = [*range(first, first + 4)]
    shapes = [(before, [1] * len(before)), (claimed, [2] * 4), (after, [1] * len(after))]
    assert shapes_of(engine) == [shape for shape in shapes if shape[0]]
    assert order_of(engine) == [*before, *after, *claimed]
    claim_alone(engine, range(10, 11))
    engine.execute(c.Acknowledge(b"s", b"g", tuple(value << 64 for value in range(1, 11))), 1_000)
    check(engine.keyspace)


def test_claims_take_a_part_of_what_was_delivered_together(packing: Callable[[int, int], None]) -> None:
    packing(4, 2)
    engine = Engine()
    engine.execute(c.CreateGroup(b"s", b"g", 0, create_stream=True), 1)
    engine.execute(c.Append(b"s", [FRAGMENT] * 20, [n << 64 for n in range(1, 21)]), 1)
    source = c.ReadFrom(b"s", c.Special.NEW)
    engine.execute(c.ReadGroup(b"g", b"c0", (source,), c.ReadLimits(count=20)), 1)
    claim_alone(engine, range(1, 5))
    claim_alone(engine, range(11, 15))
    assert [run.live for run in pending_of(engine).runs.values()] == [4, 6, 4, 6]
    assert not pending_of(engine).scattered


def test_claims_of_every_other_entry_stay_alone(packing: Callable[[int, int], None]) -> None:
    engine = packed_engine(packing, 10)
    packing(4, 2)
    claim_alone(engine, range(2, 11, 2))
    assert len(pending_of(engine).scattered) == 5
    assert shapes_of(engine) == [([1, 3, 5, 7, 9], [1] * 5)]


@pytest.mark.parametrize("kept", [9, 6, 1])
@pytest.mark.parametrize("is_sorted", [True, False])
def test_a_trim_removes_entries_that_were_claimed_alone_in_no_order(
    packing: Callable[[int, int], None], kept: int, *, is_sorted: bool
) -> None:
    engine = packed_engine(packing, 10)
    for number in (7, 2, 9, 4, 1, 10, 3, 8, 6, 5):
        claim(engine, number, 900)
    if is_sorted:
        engine.execute(c.PendingRange(b"s", b"g"), 1_000)
    trim = c.Trim(max_length=kept, references=c.References.DELETE)
    engine.execute(c.TrimStream(b"s", trim), 1_000)
    check(engine.keyspace)
    left = [number for number in (7, 2, 9, 4, 1, 10, 3, 8, 6, 5) if number > 10 - kept]
    assert order_of(engine) == left


def test_a_strip_has_entries_of_several_delivery_counts(packing: Callable[[int, int], None]) -> None:
    engine = packed_engine(packing, 8)
    packing(UNPACKED, 2)
    claim_alone(engine, range(3, 5))
    packing(8, 2)
    claim_alone(engine, range(1, 7))
    assert shapes_of(engine) == [([1, 2, 3, 4, 5, 6], [2, 2, 3, 3, 2, 2]), ([7, 8], [1, 1])]
    assert strips_of(engine.keyspace)[0].deliveries_of(4 << 64) == 3


def test_an_entry_that_was_delivered_more_often_than_a_byte_counts_stays_alone(
    packing: Callable[[int, int], None],
) -> None:
    engine = packed_engine(packing, 6)
    for number in range(1, 7):
        options = c.ClaimOptions(0, (number << 64,), retry_count=DELIVERIES_MAX + (number == 3))
        engine.execute(c.Claim(b"s", b"g", b"z", options), 1_000)
    check(engine.keyspace)
    assert shapes_of(engine) == [([1, 2], [255, 255]), ([4, 5, 6], [255, 255, 255])]
    assert list(pending_of(engine).scattered.from_(0)) == [3 << 64]


def test_a_claim_with_an_earlier_time_divides_a_strip(packing: Callable[[int, int], None]) -> None:
    engine = packed_engine(packing, 10)
    claim(engine, 9, 4)
    assert order_of(engine) == [1, 2, 3, 4, 9, 5, 6, 7, 8, 10]
    assert [strip.live for strip in strips_of(engine.keyspace)] == [4, 5]
    claim(engine, 8, 0)
    assert order_of(engine) == [8, 1, 2, 3, 4, 9, 5, 6, 7, 10]


def test_a_claim_goes_after_a_strip_whose_later_entries_were_acknowledged(
    packing: Callable[[int, int], None],
) -> None:
    engine = packed_engine(packing, 10)
    engine.execute(c.Acknowledge(b"s", b"g", (9 << 64, 10 << 64)), 1_000)
    claim(engine, 2, 8)
    claim(engine, 3, 9)
    assert order_of(engine) == [1, 4, 5, 6, 7, 8, 2, 3]
    assert len(strips_of(engine.keyspace)) == 1


def test_the_oldest_time_of_a_strip_is_that_of_its_first_entry(packing: Callable[[int, int], None]) -> None:
    engine = packed_engine(packing, 10)
    engine.execute(c.Acknowledge(b"s", b"g", (1 << 64,)), 1_000)
    assert pending_of(engine).order.oldest_owned_ms() == 2


def test_a_strip_is_copied_with_its_owners_and_without_removed_entries(
    packing: Callable[[int, int], None],
) -> None:
    engine = packed_engine(packing, 10)
    for acknowledge in (c.Acknowledge(b"s", b"g", (4 << 64,)), None):
        if acknowledge is not None:
            engine.execute(acknowledge, 1_000)
        engine.execute(c.CopyKey(b"s", b"t", replace=True), 1_000)
        engine.execute(c.Acknowledge(b"t", b"g", (5 << 64,)), 1_000)
        check(engine.keyspace)
        assert order_of(engine) == [1, 2, 3, 5, 6, 7, 8, 9, 10]
        assert engine.keyspace.streams[b"t"].groups[b"g"].pending.count == 8


def test_entries_of_more_owners_than_a_byte_counts_stay_alone(packing: Callable[[int, int], None]) -> None:
    engine = packed_engine(packing, OWNERS_MAX + 1, OWNERS_MAX + 1)
    assert not strips_of(engine.keyspace)
    engine = packed_engine(packing, OWNERS_MAX, OWNERS_MAX)
    assert len(strips_of(engine.keyspace)) == 1


def test_a_deleted_consumer_leaves_strips_to_the_others(packing: Callable[[int, int], None]) -> None:
    engine = packed_engine(packing, 9)
    for name, left in ((b"c1", [1, 3, 4, 6, 7, 9]), (b"c0", [3, 6, 9]), (b"c2", [])):
        engine.execute(c.DeleteConsumer(b"s", b"g", name), 1_000)
        check(engine.keyspace)
        assert order_of(engine) == left


def test_a_strip_whose_last_entries_were_those_of_a_deleted_consumer_is_dropped(
    packing: Callable[[int, int], None],
) -> None:
    engine = packed_engine(packing, 8, 2)
    engine.execute(c.Acknowledge(b"s", b"g", tuple(number << 64 for number in (1, 3, 5, 7))), 1_000)
    engine.execute(c.Append(b"s", [FRAGMENT]), 1_000)
    engine.execute(read_one(b"c0"), 1_000)
    engine.execute(c.DeleteConsumer(b"s", b"g", b"c1"), 1_000)
    check(engine.keyspace)
    assert not strips_of(engine.keyspace)
    assert pending_of(engine).count == 1


def test_a_deleted_group_with_strips_is_freed_without_the_garbage_collector(
    packing: Callable[[int, int], None],
) -> None:
    engine = packed_engine(packing, 100)
    gc.collect()
    gc.disable()
    try:
        engine.execute(c.DestroyGroup(b"s", b"g"), 1_000)
        engine.keyspace.garbage.free_all()
        assert not [each for each in gc.get_objects() if isinstance(each, (Strip, Share))]
    finally:
        gc.enable()


def test_idle_entries_of_strips_are_found_in_the_order_of_ids_where_many_are_idle(
    packing: Callable[[int, int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = packed_engine(packing, 40)
    for consumer in (None, b"c1"):
        look = c.PendingRange(b"s", b"g", 5 << 64, min_idle_ms=1, consumer=consumer)
        found = engine.execute(look, 1_000).reply
        monkeypatch.setattr(idle_ranges, "PENDING_LOOKS_MAX", 0)
        assert engine.execute(look, 1_000).reply == found
        monkeypatch.undo()


def test_entries_that_were_acknowledged_and_are_read_again_get_no_place_in_the_same_strip(
    packing: Callable[[int, int], None],
) -> None:
    engine = packed_engine(packing, 4)
    engine.execute(c.Acknowledge(b"s", b"g", (1 << 64, 2 << 64)), 1_000)
    engine.execute(c.SetGroupPosition(b"s", b"g", 0), 1_000)
    packing(2, 2)
    for _ in range(2):
        engine.execute(read_one(b"c0"), 1_001)
        check(engine.keyspace)
    assert order_of(engine) == [3, 4, 1, 2]


def test_deleted_entries_of_a_strip_are_passed_over_as_a_whole(packing: Callable[[int, int], None]) -> None:
    engine = packed_engine(packing, 40)
    engine.execute(c.Append(b"s", [FRAGMENT]), 1_000)
    engine.execute(read_one(b"c0"), 1_000)
    engine.execute(c.DeleteEntries(b"s", tuple(number << 64 for number in range(1, 41))), 1_000)
    read = c.ReadGroup(
        b"g", b"z", (c.ReadFrom(b"s", c.Special.NEW),), c.ReadLimits(count=1), claim_min_idle_ms=0
    )
    engine.execute(read, 1_001)
    check(engine.keyspace)
    [strip] = strips_of(engine.keyspace)
    assert pending_of(engine).order.passed is strip
