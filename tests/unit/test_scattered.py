"""Scattered entries: the table in parts behaves as one table, and a removal of many is finished later."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

import pytest

from tailrace.core import commands as c
from tailrace.core import garbage as garbage_module
from tailrace.core.engine import Engine
from tailrace.core.group import Group
from tailrace.core.id_keys import id_key, id_keys
from tailrace.core.invariants import check
from tailrace.core.pending import bulk_removal, scattered
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.id_spans import IdSpans
from tailrace.core.pending.scattered import ScatteredTable
from tailrace.core.pending.units import Bunch, Single
from tailrace.core.pending_invariants import check_table
from tests.support.seeds import seeds, some_each_day
from tests.unit.test_large_removals import pending_of
from tests.unit.test_many_ids import calls_of, command
from tests.unit.test_replay import GROUPS, KEYS, Program, picture
from tests.unit.test_strips import SmallClaims, SmallReads, outcome_of
from tests.unit.test_trim_work import filled, stream_of

STEPS: Final = 300


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], None]:
    """Sets the greatest length of a part, and how many entries are unlinked at once."""

    def set_limits(part_length: int, unlinked_at_once: int) -> None:
        monkeypatch.setattr(scattered, "PART_LENGTH_MAX", part_length)
        monkeypatch.setattr(bulk_removal, "UNLINKED_AT_ONCE_MAX", unlinked_at_once)
        monkeypatch.setattr(garbage_module, "_STEP", 2)
        monkeypatch.setattr(garbage_module, "FREED_PARTS_PER_TURN", 3)

    return set_limits


# --- the table -----------------------------------------------------------------------------------------


class Table:
    """A table of scattered entries, and what it must have."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.table = ScatteredTable()
        self.units: dict[int, Single | Bunch] = {}
        self.owners = [None, *(Consumer(name, 0) for name in (b"a", b"b", b"c"))]

    def some(self, count: int) -> list[int]:
        return self.random.sample(list(self.units), min(count, len(self.units)))

    def add(self) -> None:
        new = [value for value in self.random.sample(range(200), 20) if value not in self.units]
        if new:
            unit = Bunch(new, self.random.choice(self.owners), 1, [1] * len(new))
            self.table.add(tuple(id_keys(new)), unit)
            self.units.update(dict.fromkeys(new, unit))

    def remove(self) -> None:
        for value in self.some(self.random.choice((1, 30))):
            self.table.remove((id_key(value),), self.units.pop(value).consumer)

    def replace(self) -> None:
        new = self.random.sample(range(200), self.random.choice((4, 30)))
        unit = Bunch(new, self.random.choice(self.owners), 1, [1] * len(new))
        before = self.table.get_all(new)
        self.table.replace(zip(id_keys(new), before, [unit] * len(new), strict=True))
        self.units.update(dict.fromkeys(new, unit))

    def take_spans(self) -> None:
        ends = sorted(self.random.sample(range(200), self.random.choice((2, 6, 50))))
        firsts, lasts = ends[::2], ends[1::2]
        taken = self.table.take_spans(IdSpans(firsts, lasts)) if self.units else []
        gone = {int.from_bytes(key): unit for part in taken for key, unit in part.units.items()}
        spans = list(zip(firsts, lasts, strict=True))
        inside = [value for value in self.units if any(a <= value <= b for a, b in spans)]
        assert gone == {value: self.units.pop(value) for value in inside}

    def remove_owner(self) -> None:
        owner = self.random.choice([owner for owner in self.owners if owner is not None])
        owned = [value for value, unit in self.units.items() if unit.consumer is owner]
        assert self.table.count_of(owner) == len(owned)
        if self.random.random() < 0.5:
            taken = self.table.take_consumer(owner)
        else:
            removed = self.table.let_go(owner)
            taken = [dict(each.units) for each in removed]
            for each in removed if self.random.random() < 0.5 else ():
                while each.pop(3):
                    pass
                each.end()
        assert {int.from_bytes(key): unit for units in taken for key, unit in units.items()} == {
            value: self.units.pop(value) for value in owned
        }

    def look(self) -> None:
        table, units, start = self.table, self.units, self.random.randrange(200)
        asked = self.random.sample(range(200), 30)
        rising = sorted(asked)[: self.random.choice((1, 5, 30))]
        looks: list[tuple[Any, Any]] = [
            (table.get_all(asked), [units.get(value) for value in asked]),
            (None not in table.get_all(asked), all(value in units for value in asked)),
            (None not in table.get_all(self.some(5)), True),
            (table.has_none(rising), not any(value in units for value in rising)),
            (list(table.from_(start)), sorted(value for value in units if value >= start)),
            (table.count_between(start, start + 40), sum(start <= value <= start + 40 for value in units)),
            (len(table), len(units)),
            (bool(table), bool(units)),
            (start in table, start in units),
        ]
        if units:
            looks += [(table.first_id, min(units)), (table.last_id, max(units))]
        for owner in self.owners[1:]:
            assert owner is not None
            owned = sorted(value for value, unit in units.items() if unit.consumer is owner)
            owned = [value for value in owned if value >= start]
            looks.append((list(table.owned_from(owner, start)), owned))
        found, expected = self.random.choice(looks)
        assert found == expected


@pytest.mark.parametrize("seed", seeds(30))
def test_a_table_in_parts_has_what_one_table_would_have(seed: int, small: Callable[[int, int], None]) -> None:
    random = Random(seed)
    small(random.choice((5, 30)), 0)
    table = Table(random)
    for _ in range(200):
        random.choice(
            (table.add, table.add, table.remove, table.replace, table.take_spans, table.remove_owner)
        )()
        for _ in range(random.choice((0, 3))):
            table.look()
        if random.random() < 0.3:
            check_table(table.table)


# --- the commands --------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("first_seed", some_each_day(range(0, 40, 8), 5))
@pytest.mark.parametrize("program", [ManyClaims, SmallClaims, Program])
def test_commands_have_the_same_results_while_removals_are_unfinished(
    program: type[Program], first_seed: int, small: Callable[[int, int], None]
) -> None:
    unfinished = sum(_run_twice(program, seed, small) for seed in range(first_seed, first_seed + 8))
    assert unfinished or program is not ManyClaims


def _run_twice(kind: type[Program], seed: int, small: Callable[[int, int], None]) -> int:
    """Compare a program with and without parts. Return after how many steps removals were unfinished."""
    small(10**9, 10**9)
    plain = Engine()
    program = kind(seed, plain)
    steps: list[tuple[c.Command, int, Any]] = []
    now_ms = 1000
    for _ in range(STEPS):
        now_ms += program.random.choice([0, 0, 1, 5, 100, -3])
        following = program.next()
        steps.append((following, now_ms, outcome_of(plain, following, now_ms)))
    small(program.random.choice([2, 10]), program.random.choice([0, 3]))
    parted, unfinished = Engine(), 0
    for following, at_ms, expected in steps:
        assert outcome_of(parted, following, at_ms) == expected, following
        groups = [group for stream in parted.keyspace.streams.values() for group in stream.groups.values()]
        unfinished += any(group.pending.order.is_gone is not None for group in groups)
        if program.random.random() < 0.2:
            parted.keyspace.garbage.free_some()
        if program.random.random() < 0.1:
            check(parted.keyspace)
    parted.keyspace.garbage.free_all()
    check(parted.keyspace)
    assert picture(parted.keyspace, now_ms) == picture(plain.keyspace, now_ms)
    return unfinished


# --- many entries --------------------------------------------------------------------------------------


def claimed_alone(entries: int, portion: int = 1) -> Engine:
    """Entries that the consumers `a` and `b` claimed in turn, in no order of their ids."""
    engine = filled([number << 64 for number in range(1, entries + 1)], 100, b"g")
    engine.execute(command("XREADGROUP", "GROUP", "g", "a", "STREAMS", "s", ">"), 2)
    ids = [f"{number}-0" for number in range(1, entries + 1)]
    Random(5).shuffle(ids)
    for start in range(0, entries, portion):
        owner = "ab"[start // portion % 2]
        engine.execute(command("XCLAIM", "s", "g", owner, 0, *ids[start : start + portion]), 3 + start)
    return engine


def group_of(engine: Engine) -> Group:
    group: Group = stream_of(engine).groups[b"g"]
    return group


HALF: Final[dict[str, Callable[[int], c.Command]]] = {
    "DELCONSUMER": lambda _: c.DeleteConsumer(b"s", b"g", b"a"),
    "DELREF": lambda entries: command("XTRIM", "s", "MAXLEN", "=", entries // 2, "DELREF"),
}


@pytest.mark.parametrize("portion", [1, 7])
@pytest.mark.parametrize("half", HALF)
def test_a_removal_of_half_of_the_entries_does_little_at_once_and_the_rest_later(
    half: str, portion: int, small: Callable[[int, int], None]
) -> None:
    entries = 1_400
    small(400, 50)
    engine = claimed_alone(entries, portion)
    [rows] = pending_of(engine)
    gone = (entries // 2) << 64
    kept = [row for row in rows if (row[0] > gone if half == "DELREF" else row[1] != "a")]
    assert calls_of(lambda: engine.execute(HALF[half](entries), 10_000)) < entries // 2
    assert group_of(engine).pending.order.is_gone is not None
    assert pending_of(engine) == [kept]
    assert group_of(engine).pending.count == len(kept)
    while engine.keyspace.garbage.free_some():
        assert pending_of(engine) == [kept]
    assert group_of(engine).pending.order.is_gone is None
    check(engine.keyspace)


def test_reading_the_first_pending_entries_sorts_one_part(small: Callable[[int, int], None]) -> None:
    small(100, 50)
    engine = claimed_alone(1_000)
    for words in (
        ("XPENDING", "s", "g", "-", "+", 5),
        ("XPENDING", "s", "g", "-", "+", 5, "a"),
        ("XAUTOCLAIM", "s", "g", "b", 10**9, 0, "COUNT", 1),
        ("XPENDING", "s", "g"),
    ):
        engine.execute(command(*words), 10_000)
    parts = group_of(engine).pending.scattered.parts
    assert sum(part.keys.is_sorted for part in parts[1:-1]) <= len(parts) // 2


def test_units_of_removed_entries_refer_to_no_other_unit(
    small: Callable[[int, int], None],
) -> None:
    small(100, 50)
    engine = claimed_alone(1_000)
    units = [unit for unit in group_of(engine).pending.order if unit.consumer is not None][::2]
    engine.execute(c.DeleteConsumer(b"s", b"g", b"a"), 10_000)
    engine.execute(command("XTRIM", "s", "MAXLEN", "=", 500, "DELREF"), 10_000)
    engine.keyspace.garbage.free_all()
    left = list(group_of(engine).pending.order)
    assert all(unit in left or unit.prev is unit.next is None for unit in units)
