"""Claims of many scattered entries: the results of a plain list, and work that depends on the claim alone."""

from __future__ import annotations

from random import Random
from typing import Final

import pytest

from tailrace.core.engine import Engine
from tailrace.core.invariants import check
from tests.support.pending_limits import set_limits
from tests.support.seeds import seeds
from tests.unit.test_large_removals import pending_of
from tests.unit.test_many_ids import calls_of, command
from tests.unit.test_trim_work import filled, stream_of

ENTRIES: Final = 300


def words_of(numbers: list[int]) -> list[str]:
    return [f"{number}-0" for number in numbers]


@pytest.mark.parametrize("seed", seeds(12))
def test_claims_of_scattered_entries_leave_them_in_the_order_of_the_claims(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    if seed % 3:
        set_limits(monkeypatch, random)
    engine = filled([number << 64 for number in range(1, ENTRIES + 1)], 100, b"g")
    engine.execute(command("XREADGROUP", "GROUP", "g", "reader", "STREAMS", "s", ">"), 2)
    rows = [(number, "reader") for number in range(1, ENTRIES + 1)]
    for step in range(60):
        count = random.choice((1, 3, 5, 40, 200))
        taken = [number for number, _ in rows]
        start = random.randrange(len(taken) - count) if random.random() < 0.6 else 0
        taken = taken[start : start + count]
        if random.random() < 0.4:
            random.shuffle(taken)
        owner = random.choice(("alice", "bob", ""))
        left = [row for row in rows if row[0] not in taken]
        unowned = [row for row in left if not row[1]]
        if owner:
            engine.execute(command("XCLAIM", "s", "g", owner, 0, *words_of(taken), "JUSTID"), 3 + step)
            rows = [*left, *((number, owner) for number in taken)]
        else:
            engine.execute(command("XNACK", "s", "g", "FAIL", "IDS", len(taken), *words_of(taken)), 3 + step)
            new = [(number, "") for number in taken]
            rows = [*unowned, *new, *(row for row in left if row[1])]
        check(engine.keyspace)
        [found] = pending_of(engine)
        assert [(value >> 64, name) for value, name, _ in found] == rows


def claimed_a_few_at_a_time(entries: int, together: int, node: int = 100) -> tuple[Engine, list[int]]:
    """A stream whose entries were claimed in no order, and their numbers in this order."""
    engine = filled([number << 64 for number in range(1, entries + 1)], node, b"g")
    engine.execute(command("XREADGROUP", "GROUP", "g", "reader", "STREAMS", "s", ">"), 2)
    numbers = list(range(1, entries + 1))
    Random(7).shuffle(numbers)
    for at in range(0, entries, together):
        some = words_of(numbers[at : at + together])
        engine.execute(command("XCLAIM", "s", "g", "alice", 0, *some, "JUSTID"), 3 + at)
    return engine, numbers


@pytest.mark.parametrize("together", [3, 4])
def test_a_claim_of_many_takes_few_calls_for_each_entry_that_was_claimed_in_no_order(
    together: int,
) -> None:
    engine, numbers = claimed_a_few_at_a_time(4_000, together)
    group = stream_of(engine).groups[b"g"]
    ids = [number << 64 for number in numbers[:3_000]]
    work = calls_of(lambda: group.pending.claim(ids, group.consumers[b"alice"], 10_000, [2] * len(ids)))
    check(engine.keyspace)
    assert [value >> 64 for value, _, _ in pending_of(engine)[0]] == [*numbers[3_000:], *numbers[:3_000]]
    assert work < 9 * 3_000
