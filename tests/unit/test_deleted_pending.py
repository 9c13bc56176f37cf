"""Entries that are deleted while they are pending: a claim skips them once, and finds all others."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tailrace.core.commands import SetStreamPosition
from tailrace.core.deliveries import idle_since
from tailrace.core.engine import Engine
from tailrace.core.group import Group
from tailrace.core.invariants import check
from tailrace.core.stream_id import format_id
from tests.support.engine_calls import at
from tests.support.pending_order import entries_in_order
from tests.support.seeds import seeds
from tests.unit.test_many_ids import calls_of, command
from tests.unit.test_trim_work import filled, stream_of

NOW_MS = 10_000


def group_of(engine: Engine) -> Group:
    group: Group = stream_of(engine).groups[b"g"]
    return group


def delivered(count: int, at_once: int) -> Engine:
    """A stream of entries that one consumer received so many at a time."""
    engine = filled([number << 64 for number in range(1, count + 1)], 100, b"g")
    for number in range(0, count, at_once):
        read = command("XREADGROUP", "GROUP", "g", "a", "COUNT", at_once, "STREAMS", "s", ">")
        engine.execute(read, number // 10)
    return engine


def delete(engine: Engine, first: int, last: int) -> None:
    engine.execute(command("XDEL", "s", *(f"{number}-0" for number in range(first, last + 1))), NOW_MS)


def claim(count: int, *options: object) -> Any:
    return command("XREADGROUP", "GROUP", "g", "b", "COUNT", count, "CLAIM", 0, *options, "STREAMS", "s", ">")


def claimed(engine: Engine, count: int = 1, now_ms: int = NOW_MS) -> list[str]:
    reply: Any = engine.execute(claim(count), now_ms).reply
    return list(map(format_id, reply.streams[0].entries.ids))


@pytest.mark.parametrize("at_once", [1, 10])
def test_a_claim_looks_at_deleted_entries_once(at_once: int) -> None:
    engine = delivered(2_010, at_once)
    engine.execute(command("XACK", "s", "g", "1-0"), NOW_MS)
    delete(engine, 2, 2_000)
    first = calls_of(lambda: claimed(engine))
    assert calls_of(lambda: claimed(engine)) + 200 < first
    assert claimed(engine, 3) == ["2003-0", "2004-0", "2005-0"]


def test_a_wait_for_a_claim_looks_at_deleted_entries_once() -> None:
    engine = delivered(2_000, 1)
    delete(engine, 1, 2_000)
    reader = claim(1, "BLOCK", 1000)
    first = calls_of(lambda: engine.execute(reader, NOW_MS))
    assert calls_of(lambda: engine.execute(reader, NOW_MS)) * 5 < first


def test_a_claim_looks_at_so_many_deleted_entries_and_the_next_one_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tailrace.core.handlers.idle_entries.PENDING_LOOKS_MAX", 1_500)
    engine = delivered(5_001, 1)
    engine.execute(command("XACK", "s", "g", "1-0"), NOW_MS)
    delete(engine, 2, 5_000)
    replies = [claimed(engine) for _ in range(4)]
    assert replies == [[], [], ["5001-0"], ["5001-0"]]


def test_a_reader_that_has_to_look_further_waits_for_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tailrace.core.handlers.idle_entries.PENDING_LOOKS_MAX", 1_000)
    engine = delivered(5_001, 1)
    engine.execute(command("XACK", "s", "g", "1-0"), NOW_MS)
    delete(engine, 2, 5_000)
    reader = claim(1, "BLOCK", 1000)
    tries = 0
    while (wait := engine.execute(reader, NOW_MS).wait) is not None:
        assert wait.claim_at_ms is not None
        assert wait.claim_at_ms <= NOW_MS
        tries += 1
    assert tries == 2


def test_the_oldest_pending_time_leaves_out_entries_that_a_claim_found_deleted() -> None:
    engine = delivered(3, 1)
    pending = group_of(engine).pending
    oldest_ms = pending.oldest_owned_ms
    engine.execute(command("XTRIM", "s", "MAXLEN", 1), NOW_MS)
    assert pending.oldest_owned_ms == oldest_ms
    assert claimed(engine) == ["3-0"]
    assert pending.oldest_owned_ms == NOW_MS
    engine.execute(command("XTRIM", "s", "MAXLEN", 0), NOW_MS)
    assert claimed(engine) == []
    assert pending.oldest_owned_ms is None


def test_an_id_that_is_used_again_is_found_again() -> None:
    engine = delivered(20, 1)
    engine.execute(command("XTRIM", "s", "MAXLEN", 0), NOW_MS)
    assert claimed(engine) == []
    assert group_of(engine).pending.oldest_owned_ms is None
    engine.execute(SetStreamPosition(b"s", at("0-1")), NOW_MS)
    engine.execute(command("XADD", "s", "7-0", "f", "v"), NOW_MS)
    assert claimed(engine) == ["7-0"]


def expected(engine: Engine, count: int, min_idle_ms: int, now_ms: int) -> list[str]:
    """The live idle entries, longest idle first, examined one by one."""
    stream, group = stream_of(engine), group_of(engine)
    found = [
        value
        for value, _, at_ms in entries_in_order(group.pending)
        if value in stream.log and idle_since(max(at_ms, 0), now_ms) >= min_idle_ms
    ]
    return list(map(format_id, found[:count]))


@pytest.mark.parametrize("seed", seeds(60))
def test_claims_find_the_live_entries_that_are_idle_longest(seed: int) -> None:
    random = Random(seed)
    engine = delivered(300, random.choice((1, 3, 20)))
    now_ms = 100
    for _ in range(40):
        now_ms += random.choice((0, 1, 7, -3))
        low = random.randrange(1, 300)
        some = [f"{number}-0" for number in range(low, min(low + random.choice((1, 5, 60)), 301))]
        random.shuffle(some)
        change = random.choice(
            (
                ("XDEL", "s", *some),
                ("XTRIM", "s", "MAXLEN", random.choice((300, 250, 100, 50))),
                ("XTRIM", "s", "MAXLEN", random.choice((250, 150, 50)), "DELREF"),
                ("XGROUP", "DELCONSUMER", "s", "g", random.choice("abc")),
                ("XACK", "s", "g", *some),
                ("XNACK", "s", "g", random.choice(("SILENT", "FAIL")), "IDS", len(some), *some),
                ("XCLAIM", "s", "g", "c", 0, *some, "IDLE", random.randrange(200)),
                ("XCLAIM", "s", "g", "a", 0, *some),
            )
        )
        engine.execute(command(*change), now_ms)
        count, min_idle_ms = random.choice((1, 4, 50)), random.choice((0, 5, 30, 100))
        wanted = expected(engine, count, min_idle_ms, now_ms)
        read = command(
            "XREADGROUP", "GROUP", "g", "b", "COUNT", count, "CLAIM", min_idle_ms, "STREAMS", "s", ">"
        )
        reply: Any = engine.execute(read, now_ms).reply
        assert list(map(format_id, reply.streams[0].entries.ids)) == wanted
        check(engine.keyspace)
