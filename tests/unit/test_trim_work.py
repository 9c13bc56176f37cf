"""Trims that examine references: the same results as entry by entry, and work that grows with runs, not with
entries."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from tailrace.core import commands as c
from tailrace.core.effects import EntriesRemoved, EntriesTrimmed, ReferencesTrimmed
from tailrace.core.engine import Engine
from tailrace.core.invariants import check
from tailrace.core.limits import ACKED_TRIM_LOOKS_MAX, READ_ENTRIES_MAX
from tailrace.core.stream import Stream
from tests.support.engine_calls import FRAGMENT
from tests.support.seeds import seeds
from tests.unit.test_many_ids import GROUPS, calls_of, command, scattered


def filled(ids: Sequence[int], node: int, *groups: bytes) -> Engine:
    engine = Engine()
    engine.execute(command("CONFIG", "SET", "stream-node-max-entries", node), 1)
    engine.execute(c.Append(b"s", [FRAGMENT] * len(ids), list(ids)), 1)
    for group in groups:
        engine.execute(command("XGROUP", "CREATE", "s", group, "0"), 1)
    return engine


def stream_of(engine: Engine) -> Stream:
    stream: Stream = engine.keyspace.streams[b"s"]
    return stream


def disturb(engine: Engine, random: Random) -> None:
    """Read, acknowledge, claim and delete here and there."""
    some = [f"{value >> 64}-{value & (1 << 64) - 1}" for value in stream_of(engine).log.range()[0]]
    for group in GROUPS:
        engine.execute(
            command(
                "XREADGROUP", "GROUP", group, "a", "COUNT", random.choice((5, 40, 200)), "STREAMS", "s", ">"
            ),
            2,
        )
        start = random.randrange(len(some))
        engine.execute(command("XACK", "s", group, *some[start : start + random.choice((1, 30))]), 3)
        engine.execute(command("XACK", "s", group, *random.sample(some, len(some) // 5)), 3)
        engine.execute(command("XCLAIM", "s", group, "b", 0, *random.sample(some, len(some) // 5)), 4)
    if random.random() < 0.7:
        engine.execute(command("XDEL", "s", *random.sample(some, len(some) // 8)), 5)
        start = random.randrange(len(some))
        engine.execute(command("XDEL", "s", *some[start : start + 12]), 5)


def is_acknowledged(stream: Stream, value: int) -> bool:
    """Rule 15, for one entry."""
    return all(
        group.last_delivered_id >= value and value not in group.pending for group in stream.groups.values()
    )


def expected_after(engine: Engine, policy: str, most: int) -> tuple[list[int], list[list[int]]]:
    stream = stream_of(engine)
    ids = stream.log.range()[0]
    excess = max(len(ids) - most, 0)
    going = set(ids[:excess])
    if policy == "ACKED":
        going = set([value for value in ids if is_acknowledged(stream, value)][:excess])
    pending = [
        [value for value in group.pending.ids() if policy != "DELREF" or value not in going]
        for group in stream.groups.values()
    ]
    return [value for value in ids if value not in going], pending


@pytest.mark.parametrize("seed", seeds(60))
def test_a_trim_by_references_leaves_what_a_look_at_each_entry_leaves(seed: int) -> None:
    random = Random(seed)
    step = random.choice((1, 3, 1 << 64))
    ids = [(5 << 64) + step * number for number in range(1, 150)]
    engine = filled(ids, random.choice((1, 7, 100)), *GROUPS[: random.choice((0, 1, 2, 2))])
    for _ in range(6):
        if len(stream_of(engine).groups) == len(GROUPS):
            disturb(engine, random)
        policy = random.choice(("DELREF", "ACKED"))
        # Under ACKED every block may go whole then, so that the walk ends at the last one.
        most = 0 if policy == "ACKED" else random.choice((0, 20, 90))
        expected = expected_after(engine, policy, most)
        engine.execute(command("XTRIM", "s", "MAXLEN", most, policy), 6)
        stream = stream_of(engine)
        assert (stream.log.range()[0], [list(g.pending.ids()) for g in stream.groups.values()]) == expected
        check(engine.keyspace)
        below = [value for value in expected[0] if value < stream.referenced_below]
        assert not any(is_acknowledged(stream, value) for value in below)
        if len(expected[0]) < 20:
            break


def pending_stream(entries: int) -> Engine:
    engine = filled(range(1, entries + 1), 100, b"g")
    for _ in range(0, entries, READ_ENTRIES_MAX):
        engine.execute(command("XREADGROUP", "GROUP", "g", "a", "STREAMS", "s", ">"), 2)
    return engine


def test_delref_names_the_ids_of_consecutive_entries_as_one_span() -> None:
    engine = pending_stream(1_000)
    effects = engine.execute(command("XTRIM", "s", "MAXLEN", 100, "DELREF"), 3).effects
    assert effects == [ReferencesTrimmed(b"s", [1], [900]), EntriesTrimmed(b"s", 900)]


def test_delref_names_no_references_where_no_group_has_any() -> None:
    engine = pending_stream(1_000)
    engine.execute(c.Acknowledge(b"s", b"g", tuple(range(1, 901))), 3)
    effects = engine.execute(command("XTRIM", "s", "MAXLEN", 100, "DELREF"), 3).effects
    assert effects == [EntriesTrimmed(b"s", 900)]


def test_the_work_of_delref_grows_with_blocks_and_not_with_entries() -> None:
    def calls(node: int) -> int:
        engine = filled(range(1, 10_001), node, b"g")
        engine.execute(command("XREADGROUP", "GROUP", "g", "a", "STREAMS", "s", ">"), 2)
        return calls_of(lambda: engine.execute(command("XTRIM", "s", "MAXLEN", 0, "DELREF"), 3))

    assert calls(1_000) < 1_000


@pytest.mark.parametrize("step", [1, 1 << 64])
def test_the_work_of_delref_grows_with_groups_and_with_deleted_entries_and_not_with_both(step: int) -> None:
    ids = [step * number for number in range(1, 4_001)]

    def calls(groups: int) -> int:
        engine = filled(ids, 100, *[b"%d" % number for number in range(groups)])
        for number in range(groups):
            for _ in range(4):
                engine.execute(
                    command("XREADGROUP", "GROUP", number, "a", "COUNT", 1_000, "STREAMS", "s", ">"), 2
                )
        engine.execute(c.DeleteEntries(b"s", tuple(ids[::2])), 3)
        trim = command("XTRIM", "s", "MAXLEN", 0, "DELREF")
        work = calls_of(lambda: engine.execute(trim, 4))
        pending = [group.pending.count for group in stream_of(engine).groups.values()]
        assert pending == [len(ids) // 2] * groups
        return work

    assert calls(21) < calls(1) + 20 * 4 * 50


def test_an_append_under_acked_does_not_walk_again_over_what_is_pending() -> None:
    engine = pending_stream(20_000)
    words = command("XADD", "s", "MAXLEN", 10, "ACKED", "*", "f", "v")
    first = calls_of(lambda: engine.execute(words, 3))
    assert calls_of(lambda: engine.execute(words, 4)) < first / 5
    engine.execute(command("XACK", "s", "g", "0-7", "0-8"), 5)
    assert engine.execute(words, 6).effects[-1] == EntriesRemoved(b"s", [7, 8], tombstone=False)


def test_a_trim_under_acked_ends_after_so_many_looks_and_the_next_goes_on() -> None:
    entries = 2 * ACKED_TRIM_LOOKS_MAX + 500
    engine = pending_stream(entries)
    engine.execute(c.Acknowledge(b"s", b"g", tuple(range(1, entries, 2))), 3)
    trim = command("XTRIM", "s", "MAXLEN", 0, "ACKED")
    removed = [engine.execute(trim, 4).reply for _ in range(4)]
    assert 0 < removed[0] < entries // 2  # type: ignore[operator] # a number of entries
    assert sum(removed) == entries // 2  # type: ignore[arg-type] # numbers of entries
    assert removed[3] == 0


def test_a_limit_that_a_passed_block_exceeds_is_seen_from_the_start() -> None:
    engine = pending_stream(500)
    engine.execute(command("XTRIM", "s", "MAXLEN", 0, "ACKED"), 3)
    engine.execute(command("XACK", "s", "g", "0-450"), 4)
    assert engine.execute(command("XTRIM", "s", "MAXLEN", "~", 0, "LIMIT", 50, "ACKED"), 5).reply == 0
    assert engine.execute(command("XTRIM", "s", "MAXLEN", 490, "ACKED"), 6).reply == 0
    assert engine.execute(command("XTRIM", "s", "MAXLEN", "~", 0, "LIMIT", 100, "ACKED"), 7).reply == 1


def test_delref_stops_at_the_block_that_the_limit_does_not_allow() -> None:
    engine = pending_stream(500)
    assert engine.execute(command("XTRIM", "s", "MAXLEN", "~", 0, "LIMIT", 250, "DELREF"), 3).reply == 200
    assert next(stream_of(engine).groups[b"g"].pending.ids()) == 201


def test_references_of_scattered_entries_are_seen_and_dropped() -> None:
    engine = filled([number << 64 for number in range(1, 200)], 100, b"g")
    engine.execute(command("XREADGROUP", "GROUP", "g", "a", "STREAMS", "s", ">"), 2)
    engine.execute(command("XCLAIM", "s", "g", "b", 0, *scattered(199)), 3)
    assert engine.execute(command("XTRIM", "s", "MAXLEN", 0, "ACKED"), 4).reply == 0
    assert engine.execute(command("XTRIM", "s", "MAXLEN", 50, "DELREF"), 4).reply == 149
    assert stream_of(engine).groups[b"g"].pending.count == 50
    check(engine.keyspace)
