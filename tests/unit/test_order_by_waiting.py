"""Waiting reads of a group with an order by key at the store: who is woken when a key becomes free."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

from tailrace.api.ports import Answer
from tailrace.app.store.service import EngineStore
from tailrace.core import commands as c
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.engine import Engine
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.replies import ReadReply
from tailrace.core.retention import RetentionRules
from tailrace.core.stream_id import id_ms


def run(scene: Coroutine[Any, Any, None]) -> None:
    async def within_time() -> None:
        async with asyncio.timeout(60):
            await scene

    asyncio.run(within_time())


async def store_with(keys: str) -> EngineStore:
    """Return a store with an entry for each letter, and a group that delivers in order of the letters."""
    store = EngineStore(Engine())
    await store.execute(c.CreateGroup(b"s", b"g", 0, create_stream=True))
    await store.execute(c.ConfigureGroup(b"s", b"g", order_by="k"))
    await append(store, keys)
    return store


async def append(store: EngineStore, keys: str) -> None:
    first = store.keyspace.streams[b"s"].entries_added + 1
    fragments = [fragment_from_flat([b"k", key.encode()]) for key in keys]
    await store.execute(
        c.Append(b"s", fragments, [number << 64 for number in range(first, first + len(keys))])
    )


def read(consumer: bytes, *, keys: tuple[bytes, ...] = (b"s",), **more: Any) -> c.ReadGroup:
    sources = tuple(c.ReadFrom(key, c.Special.NEW) for key in keys)
    return c.ReadGroup(b"g", consumer, sources, c.ReadLimits(max_count=1), **more)


def ids(answer: Answer) -> list[int]:
    assert isinstance(answer, ReadReply)
    return [id_ms(value) for stream in answer.streams for value in stream.entries.ids]


async def waiting(store: EngineStore, *commands: c.ReadGroup) -> Sequence[asyncio.Task[Any]]:
    """Begin the reads in this order, and return when all of them wait."""
    before = store.waiting_count
    tasks = [asyncio.create_task(store.execute(command)) for command in commands]
    while store.waiting_count < before + len(commands):  # noqa: ASYNC110 - the store has no event for it
        await asyncio.sleep(0)
    return tasks


async def ack(store: EngineStore, *numbers: int) -> None:
    await store.execute(c.Acknowledge(b"s", b"g", tuple(number << 64 for number in numbers)))


def test_an_acknowledgment_serves_one_waiting_reader_after_another() -> None:
    async def scene() -> None:
        store = await store_with("aaaa")
        assert ids(await store.execute(read(b"alice"))) == [1]
        tasks = await waiting(store, *(read(b"w%d" % number, block_ms=0) for number in range(3)))
        for number, task in enumerate(tasks, 1):
            await ack(store, number)
            assert ids(await task) == [number + 1]
            assert store.waiting_count == 3 - number

    run(scene())


def test_an_acknowledgment_in_a_pipeline_wakes_a_reader() -> None:
    async def scene() -> None:
        store = await store_with("aa")
        assert ids(await store.execute(read(b"alice"))) == [1]
        assert ids(await store.execute(read(b"bob"))) == []
        acknowledge = c.Acknowledge(b"s", b"g", (1 << 64,))
        _, outcome = Engine(store.keyspace).execute_some([[acknowledge]], [ReplyRoom()], 1)
        assert [(each.key, each.group) for each in outcome.wake_ups] == [(b"s", b"g")]

    run(scene())


def test_few_readers_run_again_if_there_are_few_entries_for_them() -> None:
    async def scene() -> None:
        store = await store_with("aabb")
        assert ids(await store.execute(c.ReadGroup(b"g", b"x", (c.ReadFrom(b"s", c.Special.NEW),)))) == [1, 3]
        tasks = await waiting(store, *(read(b"w%d" % number, block_ms=0) for number in range(6)))
        retries: list[bytes] = []
        run_command = store._readers._run

        def counted(command: Any) -> Any:
            retries.append(command.consumer)
            return run_command(command)

        store._readers._run = counted
        await ack(store, 1, 3)
        assert [ids(await task) for task in tasks[:2]] == [[2], [4]]
        # The read of the first one also wakes a reader for the entry that it has left.
        assert retries == [b"w0", b"w1", b"w2"]
        assert store.waiting_count == 4
        for task in tasks[2:]:
            task.cancel()

    run(scene())


def test_a_reader_that_gathers_does_not_keep_an_entry_from_others() -> None:
    async def scene() -> None:
        store = await store_with("aa")
        assert ids(await store.execute(read(b"alice"))) == [1]
        batch = c.Batch(2, None)
        gathering = c.ReadGroup(b"g", b"w0", (c.ReadFrom(b"s", c.Special.NEW),), block_ms=0, batch=batch)
        first, second = await waiting(store, gathering, read(b"w1", block_ms=0))
        await ack(store, 1)
        assert ids(await second) == [2]
        assert store.waiting_count == 1
        first.cancel()

    run(scene())


def test_a_reader_that_is_served_by_another_stream_wakes_the_next_one() -> None:
    async def scene() -> None:
        store = await store_with("aa")
        await store.execute(c.CreateGroup(b"r", b"g", 0, create_stream=True))
        assert ids(await store.execute(read(b"alice"))) == [1]
        both, alone = await waiting(
            store, read(b"w0", keys=(b"r", b"s"), block_ms=0), read(b"w1", block_ms=0)
        )
        await store.execute_all(
            [
                c.Append(b"r", [fragment_from_flat([b"k", b"z"])], [9 << 64]),
                c.Acknowledge(b"s", b"g", (1 << 64,)),
            ]
        )
        assert ids(await both) == [9]
        assert ids(await alone) == [2]

    run(scene())


def test_a_group_that_is_not_full_any_more_serves_readers_one_after_another(monkeypatch: Any) -> None:
    async def scene() -> None:
        store = await store_with("aabc")
        assert ids(await store.execute(read(b"alice"))) == [1]
        tasks = await waiting(store, *(read(b"w%d" % number, block_ms=0) for number in range(3)))
        assert store.keyspace.streams[b"s"].groups[b"g"].held_count == 1
        await ack(store, 1)
        assert sorted([ids(await task) for task in tasks]) == [[2], [3], [4]]

    for module in ("key_order", "handlers.ordered_delivery"):
        monkeypatch.setattr(f"tailrace.core.{module}.HELD_ENTRIES_MAX", 1)
    run(scene())


def test_a_read_that_does_not_wait_finds_an_entry_far_ahead() -> None:
    async def scene() -> None:
        store = await store_with("a" * 3_500 + "b")
        assert ids(await store.execute(read(b"alice"))) == [1]
        assert ids(await store.execute(read(b"bob"))) == [3_501]

    run(scene())


def test_a_reader_wakes_up_when_the_sweep_of_retention_removes_the_entry_in_flight() -> None:
    async def scene() -> None:
        store = await store_with("aa")
        assert ids(await store.execute(read(b"alice"))) == [1]
        [task] = await waiting(store, read(b"bob", block_ms=0))
        await store.execute(c.ConfigureStream(b"s", retention=RetentionRules(max_length=1)))
        store.tick()
        assert ids(await task) == [2]

    run(scene())
