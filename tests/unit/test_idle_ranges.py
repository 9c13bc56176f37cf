"""XPENDING with IDLE finds what a look at each entry finds, and its work grows with the idle ones alone."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tailrace.core.engine import Engine
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.stream_id import format_id
from tests.support.seeds import seeds
from tests.unit.test_deleted_pending import delivered, group_of
from tests.unit.test_many_ids import calls_of, command

LOOKS_MAX = "tailrace.core.handlers.pending_views.PENDING_LOOKS_MAX"


def pending(engine: Engine, now_ms: int, idle_ms: int, count: int = 1000, *options: object) -> Any:
    options = options or ("-", "+", count)
    return engine.execute(command("XPENDING", "s", "g", "IDLE", idle_ms, *options), now_ms).reply


def nack(engine: Engine, *numbers: int) -> None:
    ids = [f"{number}-0" for number in numbers]
    engine.execute(command("XNACK", "s", "g", "SILENT", "IDS", len(ids), *ids), 1_000)


def found_or_refused(engine: Engine, now_ms: int, idle_ms: int, *options: object) -> Any:
    """Return the idle entries, None if there are too many others."""
    try:
        return pending(engine, now_ms, idle_ms, 0, *options)
    except StreamError as error:
        if error.code is ErrorCode.LIMIT_EXCEEDED:
            return None
        raise


@pytest.mark.parametrize("seed", seeds(60))
@pytest.mark.parametrize("looks_max", [5, 1_000])
def test_idle_entries_are_those_that_a_look_at_each_entry_finds(
    seed: int, looks_max: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LOOKS_MAX, looks_max)
    random = Random(seed)
    engine = delivered(200, random.choice((1, 3, 20)))
    now_ms = 100
    for _ in range(30):
        now_ms += random.choice((0, 1, 7, -3))
        low = random.randrange(1, 200)
        some = [f"{number}-0" for number in range(low, min(low + random.choice((1, 5, 60)), 201))]
        random.shuffle(some)
        change = random.choice(
            (
                ("XACK", "s", "g", *some[:4]),
                ("XNACK", "s", "g", "SILENT", "IDS", len(some), *some),
                ("XCLAIM", "s", "g", "c", 0, *some, "TIME", random.randrange(200)),
                ("XCLAIM", "s", "g", "a", 0, *some),
            )
        )
        engine.execute(command(*change), now_ms)
        first, last = sorted((random.randrange(201), random.randrange(201)))
        options = (
            f"{first}-0",
            f"{last}-0",
            random.choice((1, 10, 1000)),
            *random.choice(((), ("a",), ("x",))),
        )
        idle_ms = random.choice((1, 5, 30, 100, 10**15))
        every: Any = engine.execute(
            command("XPENDING", "s", "g", *options[:2], 1000, *options[3:]), now_ms
        ).reply
        wanted = [row for row in every if row.consumer is None or row.idle_ms >= idle_ms]
        found = found_or_refused(engine, now_ms, idle_ms, *options)
        assert found == wanted[: options[2]] or (found is None and looks_max == 5)


def test_one_idle_entry_among_many_is_found_without_a_look_at_the_others() -> None:
    engine = delivered(5_000, 1)
    engine.execute(command("XCLAIM", "s", "g", "c", 0, "5000-0", "TIME", 0), 1_000)
    rows: list[Any] = []
    calls = calls_of(lambda: rows.extend(pending(engine, 1_000, 1_000)))
    assert [format_id(row.id) for row in rows][-1] == "5000-0"
    assert calls < 500


def test_the_first_of_many_idle_runs_are_read_alone() -> None:
    engine = delivered(20_000, 100)
    rows: list[Any] = []
    calls = calls_of(lambda: rows.extend(pending(engine, 100_000, 50, 10)))
    assert [format_id(row.id) for row in rows] == [f"{number}-0" for number in range(1, 11)]
    assert calls < 3_000


def test_the_first_of_many_idle_entries_in_no_order_are_found_without_a_look_at_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(LOOKS_MAX, 1_000)
    engine = delivered(900, 1)
    numbers = list(range(1, 901))
    Random(1).shuffle(numbers)
    for number in numbers:
        engine.execute(command("XCLAIM", "s", "g", "c", 0, f"{number}-0"), 100)
    rows: list[Any] = []
    calls = calls_of(lambda: rows.extend(pending(engine, 100_000, 50, 10)))
    assert [format_id(row.id) for row in rows] == [f"{number}-0" for number in range(1, 11)]
    # A quarter of the limit in the order of delivery, then in the order of ids.
    assert calls < 5_000


def test_a_search_among_too_many_entries_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LOOKS_MAX, 1_000)
    engine = delivered(5_000, 1)
    young = [f"{number}-0" for number in range(1, 3_001, 2)]
    engine.execute(command("XCLAIM", "s", "g", "c", 0, *young), 100_000)
    with pytest.raises(StreamError, match="more than 1000 are not idle for 50 ms; name a narrower range"):
        pending(engine, 100_000, 50)
    rows = pending(engine, 100_000, 50, 0, "2500-0", "+", 2)
    assert [format_id(row.id) for row in rows] == ["2500-0", "2502-0"]


def test_entries_without_an_owner_are_idle_at_any_threshold() -> None:
    engine = delivered(10, 1)
    nack(engine, 7, 3)
    rows = pending(engine, 1_000, 10**15)
    assert [(format_id(row.id), row.consumer, row.idle_ms) for row in rows] == [
        ("3-0", None, -1),
        ("7-0", None, -1),
    ]
    assert group_of(engine).pending.nacked_count == 2
