"""Removing much of a pending entries list at once: results as entry by entry, and few steps of work."""

from __future__ import annotations

import sys
from collections.abc import Callable
from random import Random
from types import FrameType
from typing import Any, Final

import pytest

from tailrace.core import commands as c
from tailrace.core.engine import Engine
from tailrace.core.invariants import check
from tailrace.core.pending.segment import SEGMENT_MAX
from tests.support.pending_order import entries_in_order
from tests.support.seeds import seeds
from tests.unit.test_many_ids import calls_of, command
from tests.unit.test_trim_work import filled, stream_of

ENTRIES: Final = 600


def claimed(random: Random, entries: int, portion: int) -> Engine:
    """A stream whose entries are pending, most in batches of entries in no order, some without an owner."""
    engine = filled([number << 64 for number in range(1, entries + 1)], 100, b"g", b"h")
    for group in (b"g", b"h"):
        engine.execute(command("XREADGROUP", "GROUP", group, "a", "STREAMS", "s", ">"), 2)
        # A stretch stays as it was delivered, and a few entries are claimed alone.
        numbers = [number for number in range(1, entries + 1) if not 30 <= number < 60]
        random.shuffle(numbers)
        for number in (numbers.pop(), numbers.pop()):
            engine.execute(command("XCLAIM", "s", group, "c", 0, f"{number}-0"), 2)
        for start in range(0, len(numbers), portion):
            some = [f"{number}-0" for number in numbers[start : start + portion]]
            if random.random() < 0.2:
                engine.execute(command("XNACK", "s", group, "FAIL", "IDS", len(some), *some), 3 + start)
            else:
                engine.execute(command("XCLAIM", "s", group, random.choice("abc"), 0, *some), 3 + start)
    return engine


def pending_of(engine: Engine) -> list[list[tuple[int, str, int]]]:
    """Id, owner and deliveries of each entry of each group, in order of delivery."""
    return [
        [
            (value, "" if owner is None else owner.name.decode(), group.pending.counts_of([value])[0])
            for value, owner, _ in entries_in_order(group.pending)
        ]
        for group in stream_of(engine).groups.values()
    ]


@pytest.mark.parametrize("seed", seeds(4))
@pytest.mark.parametrize("is_sorted", [False, True])
@pytest.mark.parametrize("left", [0, 20, 300, 580])
def test_a_trim_takes_batches_apart_as_entry_by_entry(seed: int, left: int, *, is_sorted: bool) -> None:
    random = Random(seed)
    engine = claimed(random, ENTRIES, random.choice((5, 100, 300)))
    if is_sorted:
        for group in (b"g", b"h"):
            engine.execute(command("XPENDING", "s", group, "-", "+", 10, "a"), 9)
            engine.execute(command("XPENDING", "s", group, "-", "+", 10), 9)
    kept = (ENTRIES - left) << 64
    expected = [[row for row in rows if row[0] > kept] for rows in pending_of(engine)]
    engine.execute(command("XTRIM", "s", "MAXLEN", "=", left, "DELREF"), 10_000)
    check(engine.keyspace)
    assert pending_of(engine) == expected


def test_batches_are_trimmed_with_less_work_than_one_step_for_each_entry() -> None:
    entries = 4_000
    engine = claimed(Random(1), entries, 1_000)
    work = calls_of(
        lambda: engine.execute(command("XTRIM", "s", "MAXLEN", "=", entries // 2, "DELREF"), 10_000)
    )
    assert work < entries // 2
    assert [len(rows) for rows in pending_of(engine)] == [entries // 2] * 2


def test_entries_beside_a_trim_are_found_without_sorting_all() -> None:
    """The pending entries are far from the beginning of the stream."""
    engine = filled([number << 64 for number in range(1, 201)], 10, b"g")
    engine.execute(command("XGROUP", "SETID", "s", "g", "100-0"), 2)
    for _ in range(100):
        engine.execute(command("XREADGROUP", "GROUP", "g", "a", "COUNT", 1, "STREAMS", "s", ">"), 3)
    pending = stream_of(engine).groups[b"g"].pending
    assert not pending.has_between(1 << 64, 100 << 64)
    assert pending.has_between(200 << 64, 201 << 64)
    assert not pending.has_between(201 << 64, 202 << 64)


# --- all entries of a consumer -------------------------------------------------------------------------


def alone(entries: int, consumers: int = 2) -> Engine:
    """Entries that some consumers got in turn, one at a time."""
    engine = filled([number << 64 for number in range(1, entries + 1)], 100, b"g")
    for number in range(entries):
        name = "abcd"[number % consumers]
        engine.execute(command("XREADGROUP", "GROUP", "g", name, "COUNT", 1, "STREAMS", "s", ">"), 2)
    return engine


def lines_of(work: Callable[[], object]) -> int:
    """How many lines of Python `work` runs."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("delete", [True, False])
def test_a_removal_of_half_of_the_entries_runs_no_line_for_each_of_them(*, delete: bool) -> None:
    entries = 8 * SEGMENT_MAX
    engine = alone(entries)
    half: c.Command = c.DeleteConsumer(b"s", b"g", b"a")
    if not delete:
        half = command("XTRIM", "s", "MAXLEN", "=", entries // 2, "DELREF")
    assert lines_of(lambda: engine.execute(half, 3)) < entries // 2
    assert stream_of(engine).groups[b"g"].pending.count == entries // 2
    check(engine.keyspace)


def test_a_transfer_runs_no_line_for_each_entry() -> None:
    entries = 4_000
    engine = alone(entries)
    transfer = c.DeleteConsumer(b"s", b"g", b"a", transfer_to=b"b")
    assert lines_of(lambda: engine.execute(transfer, 3)) < entries // 8
    assert stream_of(engine).groups[b"g"].consumers[b"b"].pending_count == entries
    check(engine.keyspace)


def test_the_deletion_of_a_consumer_runs_no_line_for_entries_of_others() -> None:
    def lines(share: int) -> int:
        engine = alone(1_000 * share, share)
        return lines_of(lambda: engine.execute(c.DeleteConsumer(b"s", b"g", b"a"), 3))

    assert lines(3) < lines(2) + 300


@pytest.mark.parametrize("seed", seeds(4))
@pytest.mark.parametrize("new_owner", [None, b"b", b"new"])
def test_a_consumer_goes_as_entry_by_entry(seed: int, new_owner: bytes | None) -> None:
    engine = claimed(Random(seed), 150, 7)
    name = "" if new_owner is None else new_owner.decode()
    [rows, others] = pending_of(engine)
    expected = [(value, name if owner == "a" else owner, count) for value, owner, count in rows]
    if new_owner is None:
        expected = [row for row, before in zip(expected, rows, strict=True) if before[1] != "a"]
    engine.execute(c.DeleteConsumer(b"s", b"g", b"a", transfer_to=new_owner), 10_000)
    check(engine.keyspace)
    assert pending_of(engine) == [expected, others]
