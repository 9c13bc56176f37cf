"""The counters of commands, over every transport."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from tailrace.api.ports import Answer, StoreUnavailable
from tailrace.app.observability.counters import MEANINGS
from tailrace.app.store.service import EngineStore
from tailrace.core import commands as c
from tailrace.core.engine import Engine
from tailrace.core.errors import StreamError

FRAGMENT = b'{"rider":"Castilla"}'
NOW_MS = 1_692_632_086_370


def append(count: int = 1, key: bytes = b"s", **options: Any) -> c.Append:
    return c.Append(key, [FRAGMENT] * count, **options)


def group_read(consumer: bytes = b"alice", **options: Any) -> c.ReadGroup:
    return c.ReadGroup(b"g", consumer, (c.ReadFrom(b"s", c.Special.NEW),), **options)


@pytest.fixture
def store() -> EngineStore:
    return EngineStore(Engine(), lambda: NOW_MS)


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def carry_out(store: EngineStore, *commands: c.Command) -> list[Any]:
    return [run(store.execute(command)) for command in commands]


def moved(store: EngineStore) -> dict[str, int]:
    """Return the counters that are not zero."""
    found = {name: getattr(store.figures.counters, name) for name in MEANINGS}
    return {name: count for name, count in found.items() if count}


def counts(store: EngineStore) -> dict[str, int]:
    return {kind.name: kind.count for kind in store.figures.kinds if kind.count}


def test_appends_and_their_entries_are_counted(store: EngineStore) -> None:
    carry_out(store, append(), append(3))
    assert moved(store) == {"appends": 2, "entries_appended": 4}
    assert counts(store) == {"xadd": 2}


def test_an_append_that_is_replayed_adds_nothing(store: EngineStore) -> None:
    key = c.Idempotency(b"producer", b"key")
    carry_out(store, append(2, idempotency=key), append(2, idempotency=key))
    assert moved(store) == {"appends": 1, "entries_appended": 2, "append_replays": 1}


def test_an_append_that_was_not_to_make_its_stream_adds_nothing(store: EngineStore) -> None:
    carry_out(store, append(create=False))
    assert moved(store) == {}


def test_entries_trimmed_with_an_append_and_alone_and_entries_deleted_are_told_apart(
    store: EngineStore,
) -> None:
    (first,) = carry_out(store, append(10))
    carry_out(store, append(trim=c.Trim(max_length=8)), c.TrimStream(b"s", c.Trim(max_length=5)))
    carry_out(store, c.DeleteEntries(b"s", (first.ids[-1],)))
    assert moved(store) == {
        "appends": 2,
        "entries_appended": 11,
        "entries_trimmed": 6,
        "entries_deleted": 1,
    }


def test_entries_read_are_those_of_readers_without_a_group(store: EngineStore) -> None:
    carry_out(store, append(5), c.Range(b"s", count=2), c.Read((c.ReadFrom(b"s", 0),)))
    assert moved(store) == {"appends": 1, "entries_appended": 5, "reads": 2, "entries_read": 7}


def test_deliveries_are_new_and_claimed_entries_and_not_a_consumer_s_own_history(store: EngineStore) -> None:
    carry_out(store, append(5), c.CreateGroup(b"s", b"g", 0), group_read(limits=c.ReadLimits(count=3)))
    carry_out(store, group_read(b"bob", claim_min_idle_ms=0))
    history = c.ReadGroup(b"g", b"bob", (c.ReadFrom(b"s", 0),))
    carry_out(store, history)
    assert moved(store)["deliveries"] == 3 + (3 + 2)
    assert (moved(store)["claims"], moved(store)["reads"]) == (3, 3)


def test_entries_delivered_without_a_need_for_acknowledgment_are_deliveries(store: EngineStore) -> None:
    carry_out(store, append(5), c.CreateGroup(b"s", b"g", 0), group_read(noack=True))
    assert moved(store)["deliveries"] == 5


def test_acks_nacks_and_claims_count_the_entries_that_they_changed(store: EngineStore) -> None:
    (added,) = carry_out(store, append(6))
    ids = tuple(added.ids)
    carry_out(store, c.CreateGroup(b"s", b"g", 0), group_read())
    carry_out(store, c.Acknowledge(b"s", b"g", (*ids[:2], 1)), c.Acknowledge(b"s", b"g", ids[:2]))
    carry_out(store, c.AcknowledgeAndDelete(b"s", b"g", (ids[2], 1), 2))
    carry_out(store, c.NegativeAcknowledge(b"s", b"g", c.NackMode.FAIL, ids[3:4]))
    carry_out(store, c.Claim(b"s", b"g", b"bob", c.ClaimOptions(0, ids[3:5])))
    found = moved(store)
    assert (found["acks"], found["nacks"], found["claims"], found["entries_deleted"]) == (3, 1, 2, 1)


def test_commands_that_come_together_move_what_they_would_alone() -> None:
    commands = [
        append(6),
        c.CreateGroup(b"s", b"g", 0),
        group_read(limits=c.ReadLimits(count=4)),
        group_read(b"bob", claim_min_idle_ms=0),
        c.Range(b"s"),
        c.TrimStream(b"s", c.Trim(max_length=2)),
        append(idempotency=c.Idempotency(b"p", b"k")),
        append(idempotency=c.Idempotency(b"p", b"k")),
    ]
    alone, together = (EngineStore(Engine(), lambda: NOW_MS) for _ in range(2))
    carry_out(alone, *commands)
    run(together.execute_all(commands))
    assert moved(alone) == moved(together)
    assert {**counts(alone), "several": 1} == counts(together)


def test_refused_commands_are_counted_by_their_code_and_not_as_carried_out(store: EngineStore) -> None:
    refused = c.DeleteConsumer(b"none", b"g", b"c")
    with pytest.raises(StreamError):
        run(store.execute(refused))
    run(store.execute_all([refused, c.KeyspaceSize()]))
    store.drain()
    with pytest.raises(StoreUnavailable):
        run(store.execute(append()))
    assert counts(store) == {"dbsize": 1, "several": 1}
    assert sorted(store.figures.refusals.items()) == [
        (("xadd", "NOT_ACCEPTING"), 1),
        (("xgroup_delconsumer", "NO_SUCH_STREAM"), 2),
    ]


def test_a_read_that_waits_is_one_command_and_its_entries_count_when_they_come(store: EngineStore) -> None:
    async def story() -> None:
        answers: list[Answer] = []
        store.submit(
            c.Read((c.ReadFrom(b"s", c.Special.LAST_ID),), block_ms=0), answers.append, lambda _: None
        )
        assert "reads" not in moved(store)
        await store.execute(append(2))
        assert len(answers) == 1

    run(story())
    assert counts(store) == {"xread": 1, "xadd": 1}
    assert moved(store) == {"appends": 1, "entries_appended": 2, "reads": 1, "entries_read": 2}
