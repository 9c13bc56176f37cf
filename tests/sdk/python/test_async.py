"""The asyncio client has the same methods as the blocking one, with the same results."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from tailrace_client import (
    AsyncConsumer,
    AsyncGroup,
    AsyncItem,
    AsyncStream,
    AsyncTailrace,
    Consumer,
    CountingHooks,
    Group,
    Item,
    RetryPolicy,
    Stream,
    Tailrace,
    TailraceError,
)
from tests.support.cutting_proxy import CuttingProxy

Program = Callable[[AsyncTailrace], Awaitable[None]]


def run(url: str, program: Program) -> None:
    async def main() -> None:
        async with AsyncTailrace(url, retry=RetryPolicy(deadline_s=30)) as client:
            await asyncio.wait_for(program(client), 60)

    asyncio.run(main())


async def first(entries: AsyncIterator[tuple[str, dict[str, str]]], count: int) -> list[str]:
    """The field `n` of so many entries."""
    texts: list[str] = []
    async for _, fields in entries:
        texts.append(fields["n"])
        if len(texts) == count:
            break
    return texts


@pytest.mark.parametrize(
    ("blocking", "awaiting"),
    [
        (Tailrace, AsyncTailrace),
        (Stream, AsyncStream),
        (Group, AsyncGroup),
        (Consumer, AsyncConsumer),
        (Item, AsyncItem),
    ],
)
def test_both_clients_have_the_same_methods_with_the_same_parameters(
    blocking: type[object], awaiting: type[object]
) -> None:
    def methods(owner: type[object]) -> dict[str, list[str]]:
        return {
            name.removeprefix("a") if name == "aclose" else name: list(inspect.signature(member).parameters)
            for name, member in inspect.getmembers(owner, inspect.isfunction)
            if not name.startswith("_") or name == "__init__"
        }

    assert methods(blocking) == methods(awaiting)


def test_entries_are_appended_read_and_followed(base_url: str, key: str) -> None:
    async def program(client: AsyncTailrace) -> None:
        stream = client.stream(key)
        assert [entry async for entry in stream.read()] == []
        entry_id = await stream.append({"n": "first"}, idempotency_key="1")
        assert await stream.append({"n": "first"}, idempotency_key="1") == entry_id
        assert await stream.append_many(({"n": str(n)} for n in range(2_500)), chunk=1_000) == 2_500
        everything = ["first", *map(str, range(2_500))]
        assert await first(stream.read(), 2_501) == everything
        assert [fields["n"] async for _, fields in stream.read(count=3)] == everything[:3]
        assert await first(stream.tail("0"), 2_501) == everything
        assert await stream.length() == 2_501
        assert sum([block.count(b"\n") async for block in stream.export_lines(shape="fields")]) == 2_501
        assert (await stream.split(2)).count == await stream.trim(max_length=1) + 1

    run(base_url, program)


def test_lost_answers_double_nothing_and_are_told_where_they_might(proxy: CuttingProxy, key: str) -> None:
    async def program(client: AsyncTailrace) -> None:
        stream = client.stream(key)
        proxy.cut_after(0)
        with pytest.raises(TailraceError) as lost:
            await stream.append({"n": "lost"})
        assert lost.value.side_effects == "unknown"
        proxy.cut_after(0, 300, 0)
        assert await stream.append_many(({"n": str(n)} for n in range(500)), chunk=100) == 500
        proxy.cut_after(0, 2_000, 500)
        expected = ["lost", *map(str, range(500))]
        assert await first(stream.read(), 501) == expected
        proxy.cut_after(1_000, 3_000)
        assert await first(stream.tail("0"), 501) == expected

    run(proxy.url, program)
    assert proxy.cuts == 9


def test_a_group_is_read_acknowledged_and_looked_into(base_url: str, key: str) -> None:
    async def program(client: AsyncTailrace) -> None:
        group = client.stream(key).group("g")
        await group.create("0", create_stream=True)
        await group.create(exist_ok=True)
        with pytest.raises(TailraceError, match="BUSYGROUP"):
            await group.create()
        await client.stream(key).append_many({"n": str(n)} for n in range(4))
        [one, two, three] = await group.read("alice", 3)
        assert await group.ack(one.id) == 1
        assert await group.nack(two.id, mode="silent") == 1
        assert await group.claim("bob", three.id, min_idle_ms=0) == [(three.id, {"n": "2"})]
        assert (await group.pending_summary()).count == 2
        assert [each.consumer for each in await group.pending()] == [None, "bob"]
        assert (await group.autoclaim("carol", min_idle_ms=0)).cursor == "0-0"
        assert {each.name for each in await group.consumers()} == {"alice", "bob", "carol"}
        assert await group.delete_consumer("carol", force=True) == 2
        await group.set_position("0")
        assert (await group.info()).lag == 4
        await group.destroy()

    run(base_url, program)


def test_a_consumer_hands_out_settles_and_gives_back(base_url: str, key: str) -> None:
    async def program(client: AsyncTailrace) -> None:
        stream = client.stream(key)
        await stream.append_many({"n": str(n)} for n in range(10))
        consumer = AsyncConsumer(client, key, "g", "alice", wait_ms=100)
        async for item in consumer:
            await item.ack()
            if item.fields["n"] == "3":
                consumer.stop()
        left = await stream.group("g").pending()
        assert [(each.consumer, each.deliveries) for each in left] == [(None, 0)] * 6

    run(base_url, program)


def test_handlers_run_in_as_many_tasks_as_asked_and_poison_is_set_aside(base_url: str, key: str) -> None:
    async def program(client: AsyncTailrace) -> None:
        stream = client.stream(key)
        await stream.append_many({"n": str(n)} for n in range(8))
        consumer = AsyncConsumer(client, key, "g", "alice", wait_ms=100, max_deliveries=1)
        together = asyncio.Barrier(4)
        seen: list[str] = []

        @consumer.handler
        async def handle(item: AsyncItem) -> None:
            await together.wait()
            seen.append(item.fields["n"])
            if len(seen) == 8:
                consumer.stop()
            if item.fields["n"] == "5":
                raise ValueError("poison")

        await consumer.run(concurrency=4)
        assert sorted(seen) == [str(n) for n in range(8)]
        assert (await stream.group("g").pending_summary()).count == 0
        assert [fields["n"] async for _, fields in client.stream(f"{key}:dead").read()] == ["5"]

    run(base_url, program)


def test_leases_are_extended_while_a_task_works(base_url: str, key: str) -> None:
    async def program(client: AsyncTailrace) -> None:
        group = client.stream(key).group("g")
        await client.stream(key).append({"n": "1"})
        consumer = AsyncConsumer(client, key, "g", "alice", wait_ms=100, claim_min_idle_ms=1_200)
        async for item in consumer:
            assert await group.read("bob", claim_min_idle_ms=1_200, wait_ms=3_000) == []
            await item.ack()
            consumer.stop()

    run(base_url, program)


def test_a_task_is_cancelled_when_its_item_is_lost(base_url: str, key: str) -> None:
    async def program(client: AsyncTailrace) -> None:
        stream, counts = client.stream(key), CountingHooks()
        group = stream.group("g")
        entry_id = await stream.append({"n": "1"})
        consumer = AsyncConsumer(
            client, key, "g", "alice", wait_ms=100, claim_min_idle_ms=300, hooks=[counts]
        )

        async def handle(item: AsyncItem) -> None:
            assert not await item.wait_lost(timeout_s=0)
            work = asyncio.create_task(asyncio.Event().wait())
            await group.claim("bob", entry_id, min_idle_ms=0)
            if await item.wait_lost():
                work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work
            assert not await item.ack()
            consumer.stop()

        await consumer.run(handle)
        assert [(each.id, each.consumer) for each in await group.pending()] == [(entry_id, "bob")]
        assert (counts.lost_count, counts.outcomes) == (1, {})

    run(base_url, program)


def test_lost_reads_and_vanished_groups_are_survived(proxy: CuttingProxy, key: str) -> None:
    async def program(client: AsyncTailrace) -> None:
        stream = client.stream(key)
        await stream.append_many({"n": str(n)} for n in range(30))
        await stream.group("g").create("0")
        consumer = AsyncConsumer(client, key, "g", "alice", batch=10, wait_ms=100, claim_min_idle_ms=None)
        proxy.cut_after(0, 400)
        seen = set()
        async for item in consumer:
            await item.ack()
            seen.add(item.fields["n"])
            if len(seen) == 30:
                await stream.group("g").destroy()
                await stream.append({"n": "30"})
            if len(seen) == 31:
                consumer.stop()

    run(proxy.url, program)
    assert proxy.cuts == 2


def test_an_error_that_cannot_pass_ends_all_workers(base_url: str, key: str) -> None:
    async def program(client: AsyncTailrace) -> None:
        consumer = AsyncConsumer(client, key, "g", "alice", wait_ms=100, create_group=False)

        async def handle(_item: AsyncItem) -> None:
            raise AssertionError("there is nothing to handle")

        with pytest.raises(TailraceError, match="NOGROUP"):
            await consumer.run(handle, concurrency=3)
        with pytest.raises(ValueError, match="needs a handler"):
            await consumer.run()

    run(base_url, program)


def test_names_of_dots_are_names_and_no_way_to_another_resource(base_url: str, key: str) -> None:
    async def program(tailrace: AsyncTailrace) -> None:
        stream = tailrace.stream(key)
        await stream.append({"n": "1"})
        group = stream.group("..")
        await group.create("0")
        assert (await group.info()).name == ".."
        await group.destroy()
        assert await stream.length() == 1, "the group was deleted, and not its stream"

    run(base_url, program)


def test_every_read_takes_a_filter_with_asyncio(base_url: str, key: str) -> None:
    async def program(client: AsyncTailrace) -> None:
        stream = client.stream(key)
        await stream.append_many([{"n": str(number)} for number in range(30)])
        wanted = 'int(fields.n) >= 27 || fields.n == "3"'
        assert await first(stream.read(filter=wanted), 5) == ["3", "27", "28", "29"]
        assert await first(stream.read(filter=wanted, count=2), 5) == ["3", "27"]
        assert await first(stream.read_reverse(filter=wanted, count=2), 5) == ["29", "28"]
        assert len((await stream.read_after("0", filter=wanted)).entries) == 4
        assert await first(stream.tail("0", filter=wanted), 4) == ["3", "27", "28", "29"]
        entries = client.tail(key, "0", filter=wanted)
        assert [(await anext(entries)).fields["n"] for _ in range(4)] == ["3", "27", "28", "29"]

    run(base_url, program)
