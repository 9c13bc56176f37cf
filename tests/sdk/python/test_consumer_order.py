"""The order of a consumer with several workers, its limits, and its queue against a naive model."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import defaultdict

import pytest

from tailrace_client import AsyncConsumer, AsyncItem, AsyncTailrace, Batch, Consumer, Item, Stream, Tailrace
from tailrace_client.fields import Fields
from tailrace_client.work_queue import WorkQueue
from tests.support.seeds import seeds

RIDERS = ("Castilla", "Norem", "Prickett", "Jones")
COUNT = 120


def fill(stream: Stream) -> None:
    stream.append_many({"rider": RIDERS[n % 4], "n": str(n)} for n in range(COUNT))


def in_order(seen: dict[str, list[int]]) -> bool:
    return all(numbers == sorted(numbers) for numbers in seen.values())


def test_entries_of_one_key_are_handled_one_after_another_and_others_at_the_same_time(
    stream: Stream, tailrace: Tailrace
) -> None:
    fill(stream)
    consumer = Consumer(tailrace, stream.key, "g", "alice", order_by="rider", wait_ms=100, batch=10)
    together = threading.Barrier(4, timeout=30)
    seen: dict[str, list[int]] = defaultdict(list)
    busy: set[str] = set()

    def handle(item: Item) -> None:
        rider = item.fields["rider"]
        assert rider not in busy
        busy.add(rider)
        if len(seen[rider]) == 0:
            together.wait()  # passes only with one entry of each rider in a worker
        seen[rider].append(int(item.fields["n"]))
        busy.remove(rider)
        if sum(map(len, seen.values())) == COUNT:
            consumer.stop()

    consumer.run(handle, concurrency=6)
    assert in_order(seen)
    assert stream.group("g").pending() == []


def test_batches_keep_the_order_too(stream: Stream, tailrace: Tailrace) -> None:
    fill(stream)
    consumer = Consumer(
        tailrace, stream.key, "g", "alice", order_by=lambda fields: fields["rider"], wait_ms=100
    )
    seen: dict[str, list[int]] = defaultdict(list)

    def handle(batch: Batch) -> None:
        for item in batch:
            seen[item.fields["rider"]].append(int(item.fields["n"]))
        if sum(map(len, seen.values())) == COUNT:
            consumer.stop()

    consumer.run_batches(handle, 7, concurrency=3)
    assert in_order(seen)
    assert stream.group("g").pending() == []


def test_an_asyncio_consumer_keeps_the_order_too(base_url: str, stream: Stream) -> None:
    fill(stream)
    seen: dict[str, list[int]] = defaultdict(list)

    async def program() -> None:
        async with AsyncTailrace(base_url) as client:
            consumer = AsyncConsumer(
                client, stream.key, "g", "alice", order_by="rider", wait_ms=100, batch=10
            )
            chance = random.Random(18)
            busy: set[str] = set()

            async def handle(item: AsyncItem) -> None:
                rider = item.fields["rider"]
                assert rider not in busy
                busy.add(rider)
                for _ in range(chance.randrange(5)):
                    await asyncio.sleep(0)
                seen[rider].append(int(item.fields["n"]))
                busy.remove(rider)
                if sum(map(len, seen.values())) == COUNT:
                    consumer.stop()

            await consumer.run(handle, concurrency=8)

    asyncio.run(program())
    assert in_order(seen)
    assert stream.group("g").pending() == []


def test_at_most_a_batch_of_entries_waits_for_slow_workers(stream: Stream, tailrace: Tailrace) -> None:
    fill(stream)
    consumer = Consumer(tailrace, stream.key, "g", "alice", wait_ms=100, batch=5)
    most = 0

    def handle(item: Item) -> None:
        nonlocal most
        most = max(most, stream.group("g").pending_summary().count)
        if item.fields["n"] == "30":
            consumer.stop()

    consumer.run(handle, concurrency=2)
    # Five wait and two are in work; of as many more, the acknowledgments can share the next request.
    assert 0 < most <= 2 * (5 + 2)


def test_an_order_that_raises_fails_only_its_entry(stream: Stream, tailrace: Tailrace) -> None:
    stream.append({"n": "1"})
    bad = stream.append({"rider": "Norem"})
    stream.append({"n": "3"})
    consumer = Consumer(
        tailrace,
        stream.key,
        "g",
        "alice",
        order_by=lambda fields: int(fields["n"]),
        wait_ms=100,
        max_deliveries=1,
    )
    seen = []

    def handle(item: Item) -> None:
        seen.append(item.fields["n"])
        if len(seen) == 2:
            consumer.stop()

    consumer.run(handle)
    assert seen == ["1", "3"]
    [(_, letter)] = tailrace.stream(f"{stream.key}:dead").read()
    assert (letter["origin_id"], letter["last_error"]) == (bad, "KeyError: 'n'")


def test_an_order_of_another_type_is_refused(tailrace: Tailrace) -> None:
    with pytest.raises(TypeError, match="neither the name of a field nor a function"):
        Consumer(tailrace, "s", "g", "alice", order_by=7)  # type: ignore[arg-type]


class Job:
    """An item of the queue."""

    def __init__(self, number: int, lane: str) -> None:
        self.lane: object = None
        self.is_lost = False
        self.number = number
        self.fields: Fields = {"lane": lane}


@pytest.mark.parametrize("seed", seeds(20))
def test_the_queue_agrees_with_a_list(seed: int) -> None:
    chance = random.Random(seed)
    queue: WorkQueue[Job] = WorkQueue(20, "lane")
    waiting: list[Job] = []
    taken: list[list[Job]] = []
    handled: list[Job] = []
    for number in range(400):
        if queue.room > 0 and chance.random() < 0.5:
            waiting.append(Job(number, chance.choice("abc")))
            queue.put(waiting[-1])
        elif jobs := queue.take(chance.randrange(1, 4)):
            busy = {job.lane for each in taken for job in each}
            assert not busy & {job.lane for job in jobs}
            for job in jobs:
                assert job is next(each for each in waiting if each.lane == job.lane)
                waiting.remove(job)
            taken.append(jobs)
        elif taken:
            done = taken.pop(chance.randrange(len(taken)))
            handled += done
            queue.done(done)
        assert queue.room == 20 - len(waiting)
        busy = {job.lane for each in taken for job in each}
        assert queue.has_ready == bool({job.lane for job in waiting} - busy)
    assert {id(job) for job in queue.drain()} == {id(job) for job in waiting}
    assert len(handled) > 20
