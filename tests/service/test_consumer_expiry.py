"""The expiry of consumers in a store: the test sets both clocks, and there is no socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from tailrace.app.store.service import EngineStore
from tailrace.core.commands import (
    Append,
    ConfigureGroup,
    CreateGroup,
    InfoConsumers,
    ReadFrom,
    ReadGroup,
    Special,
)
from tailrace.core.engine import Engine
from tailrace.core.handlers import expiry
from tailrace.core.keyspace import Keyspace

EXPIRY_MS = 10_000


class Clocks:
    """Both clocks, which change only when the test moves them."""

    def __init__(self) -> None:
        self.wall_ms = 1_700_000_000_000
        self.monotonic_ms = 5_000

    def move(self, elapsed_ms: int) -> None:
        self.wall_ms += elapsed_ms
        self.monotonic_ms += elapsed_ms


def reading(consumer: bytes, block_ms: int | None = None) -> ReadGroup:
    return ReadGroup(b"g", consumer, (ReadFrom(b"s", Special.NEW),), block_ms=block_ms)


async def consumers(store: EngineStore) -> list[bytes]:
    reply: Any = await store.execute(InfoConsumers(b"s", b"g"))
    return [each.name for each in reply]


def served(
    story: Callable[[EngineStore, Clocks], Coroutine[Any, Any, None]],
    clocks: Clocks | None = None,
    keyspace: Keyspace | None = None,
) -> Keyspace:
    """Run a story with a store of its own, in which alice and bob have read an entry each."""
    clocks = clocks or Clocks()
    engine = Engine(keyspace)

    async def run() -> None:
        store = EngineStore(engine, lambda: clocks.wall_ms, lambda: clocks.monotonic_ms)
        if keyspace is None:
            await store.execute(CreateGroup(b"s", b"g", 0, create_stream=True))
            await store.execute(ConfigureGroup(b"s", b"g", consumer_expiry_ms=EXPIRY_MS))
            for consumer in (b"alice", b"bob"):
                await store.execute(Append(b"s", [b'{"a":"1"}']))
                await store.execute(reading(consumer))
        store.tick()
        await asyncio.wait_for(story(store, clocks), 10)

    asyncio.run(run())
    return engine.keyspace


def pass_time(store: EngineStore, clocks: Clocks, elapsed_ms: int) -> None:
    """Let both clocks run, with a tick each second."""
    for _ in range(elapsed_ms // 1000):
        clocks.move(1000)
        store.tick()


def test_consumers_that_are_silent_are_deleted_and_the_one_that_reads_is_not() -> None:
    async def story(store: EngineStore, clocks: Clocks) -> None:
        pass_time(store, clocks, EXPIRY_MS - 1000)
        await store.execute(reading(b"bob"))
        pass_time(store, clocks, 1000)
        assert await consumers(store) == [b"bob"]
        assert store.figures.counters.consumers_expired == 1

    served(story)


def test_a_consumer_that_waits_stays_and_gets_what_the_other_gives_back() -> None:
    async def story(store: EngineStore, clocks: Clocks) -> None:
        await store.execute(ConfigureGroup(b"s", b"g", claim_min_idle_ms=1 << 40))
        waiting = asyncio.ensure_future(_awaited(store.execute(reading(b"bob", 0))))
        await asyncio.sleep(0)
        pass_time(store, clocks, EXPIRY_MS)
        assert await consumers(store) == [b"bob"]
        reply = await waiting
        assert [len(each.entries) for each in reply.streams] == [1]

    served(story)


async def _awaited(reply: Any) -> Any:
    return await reply


@pytest.mark.parametrize("step_ms", [3_600_000, -3_600_000])
def test_a_step_of_the_clock_expires_nobody_and_the_time_begins_again(step_ms: int) -> None:
    async def story(store: EngineStore, clocks: Clocks) -> None:
        clocks.wall_ms += step_ms
        pass_time(store, clocks, EXPIRY_MS)
        assert await consumers(store) == [b"alice", b"bob"]
        pass_time(store, clocks, 1000)
        assert await consumers(store) == []

    served(story)


def test_a_pause_of_the_server_expires_nobody() -> None:
    async def story(store: EngineStore, clocks: Clocks) -> None:
        clocks.move(3_600_000)
        store.tick()
        assert await consumers(store) == [b"alice", b"bob"]
        pass_time(store, clocks, EXPIRY_MS)
        assert await consumers(store) == []

    served(story)


def test_a_restart_expires_nobody() -> None:
    async def nothing(_: EngineStore, __: Clocks) -> None:
        return

    clocks = Clocks()
    keyspace = served(nothing, clocks)
    clocks.move(3_600_000)

    async def story(store: EngineStore, clocks: Clocks) -> None:
        pass_time(store, clocks, EXPIRY_MS - 1000)
        assert await consumers(store) == [b"alice", b"bob"]
        pass_time(store, clocks, 1000)
        assert await consumers(store) == []

    served(story, clocks, keyspace)


def test_time_that_a_test_moves_counts() -> None:
    async def story(store: EngineStore, clocks: Clocks) -> None:
        clocks.move(EXPIRY_MS)
        store.serve_due()
        assert await consumers(store) == []

    served(story)


def test_a_look_continues_between_other_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiry, "EXPIRED_ENTRIES_MAX", 1)

    async def story(store: EngineStore, clocks: Clocks) -> None:
        pass_time(store, clocks, EXPIRY_MS)
        assert await consumers(store) == [b"bob"], "one step has one entry"
        store.tick()
        while await consumers(store):  # noqa: ASYNC110 - the store has no event for it
            await asyncio.sleep(0)

    served(story)


def test_a_look_ends_when_the_store_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiry, "EXPIRED_ENTRIES_MAX", 1)

    async def story(store: EngineStore, clocks: Clocks) -> None:
        pass_time(store, clocks, EXPIRY_MS)
        store.drain()
        await asyncio.sleep(0.05)
        group = store.keyspace.group(b"s", b"g")
        assert group is not None
        assert list(group.consumers) == [b"bob"]

    served(story)
