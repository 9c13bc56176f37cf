"""Reads of a group with a filter at the store: how they catch up, and what others do in the meantime."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from tailrace.api.ports import Answer
from tailrace.app.store.service import EngineStore
from tailrace.core import commands as c
from tailrace.core.engine import Engine
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.limits import FILTER_STEP_ENTRIES
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.replies import ReadReply
from tailrace.core.stream_id import id_ms

STEPS = 5
MANY = STEPS * FILTER_STEP_ENTRIES


def run(scene: Coroutine[Any, Any, None]) -> None:
    async def within_time() -> None:
        async with asyncio.timeout(60):
            await scene

    asyncio.run(within_time())


async def store_with(*filters: str) -> EngineStore:
    """Return a store with a stream of MANY entries and a group for each filter, named g0, g1 and so on."""
    store = EngineStore(Engine())
    fragments = [fragment_from_flat([b"n", b"%d" % number]) for number in range(1, MANY + 1)]
    await store.execute(c.Append(b"s", fragments, [number << 64 for number in range(1, MANY + 1)]))
    for number, text in enumerate(filters):
        group = b"g%d" % number
        await store.execute(c.CreateGroup(b"s", group, 0))
        await store.execute(c.ConfigureGroup(b"s", group, filter=text))
    return store


def read(group: bytes = b"g0", block_ms: int | None = None) -> c.ReadGroup:
    return c.ReadGroup(group, b"alice", (c.ReadFrom(b"s", c.Special.NEW),), block_ms=block_ms)


def ids(answer: Answer) -> list[int]:
    assert isinstance(answer, ReadReply)
    return [id_ms(value) for value in answer.streams[0].entries.ids]


def position(store: EngineStore, group: bytes = b"g0") -> int:
    return id_ms(store.keyspace.streams[b"s"].groups[group].last_delivered_id)


def test_a_read_that_does_not_wait_finds_a_match_far_ahead() -> None:
    async def scene() -> None:
        store = await store_with(f"fields.n == '{MANY - 1}'", "false")
        assert ids(await store.execute(read())) == [MANY - 1]
        assert ids(await store.execute(read(b"g1"))) == []
        assert position(store, b"g1") == MANY
        assert store.waiting_count == 0

    run(scene())


def test_a_request_on_the_hot_way_finds_a_match_far_ahead() -> None:
    async def scene() -> None:
        store = await store_with(f"fields.n == '{MANY - 1}'")
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        assert store.submit(read(), answered.set_result) is None
        assert ids(await answered) == [MANY - 1]

    run(scene())


def test_a_waiting_read_catches_up_and_waits_on_for_a_match() -> None:
    async def scene() -> None:
        store = await store_with("fields.n == 'late'")
        reading = asyncio.create_task(store.execute(read(block_ms=0)))
        for _ in range(2 * STEPS):
            await asyncio.sleep(0)
        assert position(store) == MANY
        await store.execute(c.Append(b"s", [b'{"n":"other"}'], [(MANY + 1) << 64]))
        await store.execute(c.Append(b"s", [b'{"n":"late"}'], [(MANY + 2) << 64]))
        assert ids(await reading) == [MANY + 2]

    run(scene())


def test_only_one_read_examines_entries_in_each_turn_of_the_event_loop() -> None:
    async def scene() -> None:
        count = 8
        store = await store_with(*["false"] * count)
        reads = [asyncio.create_task(store.execute(read(b"g%d" % number, 0))) for number in range(count)]
        await asyncio.sleep(0)

        def examined() -> int:
            return sum(position(store, b"g%d" % number) for number in range(count))

        before = examined()
        assert before == count * FILTER_STEP_ENTRIES
        while before < count * MANY:
            await asyncio.sleep(0)
            after = examined()
            assert after - before <= FILTER_STEP_ENTRIES
            before = after
        for reading in reads:
            reading.cancel()
        await asyncio.gather(*reads, return_exceptions=True)
        assert store.waiting_count == 0

    run(scene())


def test_an_append_does_not_run_a_read_that_is_behind() -> None:
    async def scene() -> None:
        store = await store_with("false")
        reading = asyncio.create_task(store.execute(read(block_ms=0)))
        await asyncio.sleep(0)
        before = position(store)
        store.submit(c.Append(b"s", [b'{"n":"x"}'], None), lambda _: None)
        assert position(store) == before
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)

    run(scene())


def test_a_cancelled_read_examines_no_more_and_the_others_go_on() -> None:
    async def scene() -> None:
        store = await store_with("false", f"fields.n == '{MANY}'")
        first, second = (asyncio.create_task(store.execute(read(b"g%d" % number, 0))) for number in (0, 1))
        await asyncio.sleep(0)
        before = position(store)
        first.cancel()
        assert ids(await second) == [MANY]
        assert position(store) <= before + FILTER_STEP_ENTRIES

    run(scene())


def test_a_read_that_is_behind_gets_nogroup_when_its_group_is_deleted() -> None:
    async def scene() -> None:
        store = await store_with("false")
        reading = asyncio.create_task(store.execute(read(block_ms=0)))
        await asyncio.sleep(0)
        await store.execute(c.DestroyGroup(b"s", b"g0"))
        [error] = await asyncio.gather(reading, return_exceptions=True)
        assert isinstance(error, StreamError)
        assert error.code is ErrorCode.NOGROUP

    run(scene())
